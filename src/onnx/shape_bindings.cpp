#include "onnx/shape_bindings.h"

#include <charconv>
#include <string_view>

namespace collage {
namespace {

constexpr const char* kAllowed = "NAME=1x3x224x224, DIMENSION=8, or NAME= for a scalar";

}  // namespace

Result<std::vector<std::int64_t>> parse_extents(const std::string& name, const std::string& text) {
  std::vector<std::int64_t> extents;
  if (text.empty()) return extents;
  if (text.find("..") != std::string::npos)
    return fail(ExitCode::kUnsupported, "shape/range", "--shape " + name, "the range '" + text + "'",
                "one extent each; ranges are for a later version");
  for (std::string_view rest = text;;) {
    const std::size_t cross = rest.find('x');
    const std::string_view part = rest.substr(0, cross);
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), extent);
    if (error != std::errc{} || end != part.data() + part.size() || extent < 0)
      return fail(ExitCode::kUsage, "shape/malformed", "--shape " + name, "'" + text + "'", kAllowed);
    extents.push_back(extent);
    if (cross == std::string_view::npos) return extents;
    rest.remove_prefix(cross + 1);
  }
}

Result<ShapeBindings> parse_shape_bindings(std::span<const std::string> arguments) {
  ShapeBindings bindings;
  for (const std::string& argument : arguments) {
    const std::size_t split = argument.rfind('=');
    if (split == std::string::npos || split == 0)
      return fail(ExitCode::kUsage, "shape/malformed", "--shape", "'" + argument + "'", kAllowed);
    const std::string name = argument.substr(0, split);
    const std::string text = argument.substr(split + 1);
    COLLAGE_TRY_VOID(parse_extents(name, text));
    const auto [entry, is_new] = bindings.entries.emplace(name, text);
    if (!is_new && entry->second != text)
      return fail(ExitCode::kUsage, "shape/twice", "--shape " + name, "'" + entry->second + "' and '" + text + "'",
                  "one shape");
  }
  return bindings;
}

}  // namespace collage
