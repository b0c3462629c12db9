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

constexpr std::size_t kBodyAlignment = 64;
constexpr std::size_t kInlineLimit = 1024;

/// The bytes of one file of constants, each at a multiple of 64.
class ConstantsFile {
 public:
  explicit ConstantsFile(std::string path)
      : path_(std::move(path)), name_(std::filesystem::path(path_).filename().string()) {}

  ConstantPlaces::Place add(const Buffer& bytes) {
    static constexpr std::array<char, kBodyAlignment> kPadding{};
    ConstantPlaces::Place place{.bytes = bytes, .file = name_, .offset = size_};
    const std::size_t padding = (kBodyAlignment - bytes.size() % kBodyAlignment) % kBodyAlignment;
    pieces_.push_back(bytes.text());
    pieces_.emplace_back(kPadding.data(), padding);
    size_ += bytes.size() + padding;
    return place;
  }
  [[nodiscard]] Result<void> write() const { return write_file(path_, pieces_); }

 private:
  std::string path_;
  std::string name_;
  std::vector<std::string_view> pieces_;
  std::size_t size_ = 0;
};

/// The place of these bytes, all of them; null when they have none.
const ConstantPlaces::Place* place_of(const ConstantPlaces& places, const Buffer& bytes) {
  const auto found = places.by_address.find(bytes.data());
  return found == places.by_address.end() || found->second.bytes.size() != bytes.size() ? nullptr : &found->second;
}

}  // namespace

Result<ConstantPlaces> write_graph_file(const std::string& path, const Graph& graph, const ConstantPlaces& earlier) {
  ConstantsFile file(path + ".weights");
  ConstantPlaces places;
  std::map<ValueId, ExternalLocation> locations;
  for (std::uint32_t i = 0; i < graph.values.size(); ++i) {
    const auto& constant = graph.values[i].constant;
    if (!constant || constant->data.size() <= kInlineLimit) continue;
    const ConstantPlaces::Place* known = place_of(earlier, constant->data);
    if (known == nullptr) known = place_of(places, constant->data);
    const ConstantPlaces::Place place = known != nullptr ? *known : file.add(constant->data);
    locations[ValueId{i}] = {.file = place.file, .offset = place.offset};
    places.by_address.insert_or_assign(constant->data.data(), place);
  }
  COLLAGE_TRY_VOID(file.write());
  ExportOptions options;
  options.inline_limit = kInlineLimit;
  options.external = [&](ValueId id) -> std::optional<ExternalLocation> {
    const auto found = locations.find(id);
    return found == locations.end() ? std::nullopt : std::optional(found->second);
  };
  COLLAGE_TRY_VOID(write_file(path, export_graph(graph, options)));
  return places;
}

Result<Graph> read_graph_file(const std::string& path) {
  const auto bytes = Buffer::map_file(path);
  if (!bytes) return fail(ExitCode::kIo, "file/cannot-read", path, bytes.error().saw, "a graph file");
  return read_graph(std::string(bytes->text()), std::filesystem::path(path).parent_path().string());
}

}  // namespace collage
