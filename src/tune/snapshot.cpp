#include "tune/snapshot.h"

#include <filesystem>
#include <fstream>
#include <map>

#include "onnx/export.h"
#include "onnx/import.h"

namespace collage {
namespace {

constexpr std::size_t kInlineLimit = 1024;
constexpr std::size_t kAlignment = 64;

}  // namespace

Result<void> write_snapshot(const Graph& graph, const std::string& path) {
  const std::string weights_path = path + ".weights";
  const std::string weights_name = std::filesystem::path(weights_path).filename().string();
  std::ofstream weights(weights_path, std::ios::binary);
  std::map<std::uint32_t, std::size_t> offsets;
  std::size_t end = 0;
  for (std::uint32_t v = 0; v < graph.values.size(); ++v) {
    const auto& constant = graph.values[v].constant;
    if (!constant || constant->data.size() <= kInlineLimit) continue;
    offsets[v] = end;
    weights.seekp(static_cast<std::streamoff>(end));
    weights.write(reinterpret_cast<const char*>(constant->data.data()),
                  static_cast<std::streamsize>(constant->data.size()));
    end += (constant->data.size() + kAlignment - 1) / kAlignment * kAlignment;
  }
  ExportOptions options;
  options.inline_limit = kInlineLimit;
  options.external = [&](ValueId id) -> std::optional<ExternalLocation> {
    const auto found = offsets.find(id.index);
    if (found == offsets.end()) return std::nullopt;
    return ExternalLocation{.file = weights_name, .offset = found->second};
  };
  std::ofstream model(path, std::ios::binary);
  const std::string bytes = export_graph(graph, options);
  model.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!weights.flush() || !model.flush())
    return fail(ExitCode::kIo, "io/cannot-write", path, "a failed write", "room for the graph and its weights");
  return {};
}

Result<Graph> read_snapshot(const std::string& path) {
  COLLAGE_TRY(const Buffer bytes, Buffer::map_file(path));
  return read_graph(std::string(bytes.text()), std::filesystem::path(path).parent_path().string());
}

}  // namespace collage
