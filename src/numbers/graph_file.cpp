#include "numbers/graph_file.h"

#include <array>
#include <filesystem>
#include <map>
#include <vector>

#include "base/file.h"
#include "onnx/export.h"
#include "onnx/import.h"

namespace collage {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kInlineLimit = 1024;

}  // namespace

Result<void> write_graph_file(const std::string& path, const Graph& graph) {
  static constexpr std::array<char, kAlignment> kPadding{};
  const std::string weights = path + ".weights";
  const std::string weights_name = std::filesystem::path(weights).filename().string();
  std::map<ValueId, std::size_t> offsets;
  std::vector<std::string_view> pieces;
  std::size_t size = 0;
  for (std::uint32_t i = 0; i < graph.values.size(); ++i) {
    const auto& constant = graph.values[i].constant;
    if (!constant || constant->data.size() <= kInlineLimit) continue;
    offsets[ValueId{i}] = size;
    pieces.push_back(constant->data.text());
    const std::size_t padding = (kAlignment - constant->data.size() % kAlignment) % kAlignment;
    pieces.emplace_back(kPadding.data(), padding);
    size += constant->data.size() + padding;
  }
  COLLAGE_TRY_VOID(write_file(weights, pieces));
  ExportOptions options;
  options.inline_limit = kInlineLimit;
  options.external = [&](ValueId id) -> std::optional<ExternalLocation> {
    const auto found = offsets.find(id);
    if (found == offsets.end()) return std::nullopt;
    return ExternalLocation{.file = weights_name, .offset = found->second};
  };
  return write_file(path, std::array<std::string_view, 1>{export_graph(graph, options)});
}

Result<Graph> read_graph_file(const std::string& path) {
  const auto bytes = Buffer::map_file(path);
  if (!bytes) return fail(ExitCode::kIo, "file/cannot-read", path, bytes.error().saw, "a graph file");
  return read_graph(std::string(bytes->text()), std::filesystem::path(path).parent_path().string());
}

}  // namespace collage
