#include "ir/shape_bindings.h"

#include <string_view>

#include "base/number_text.h"
#include "ir/shape_domain.h"

namespace collage {
namespace {

constexpr const char* kAllowed = "NAME=1x3x224x224, DIMENSION=8, NAME= for a scalar, or DIMENSION=1..8";

}  // namespace

bool is_range(const std::string& text) { return text.find("..") != std::string::npos; }

Result<std::int64_t> parse_extent(const std::string& name, const std::string& text) {
  if (const auto extent = number_in<std::int64_t>(text); extent && *extent >= 0) return *extent;
  return fail(ExitCode::kUsage, "shape/malformed", "--shape " + name, "'" + text + "'", kAllowed);
}

Result<std::vector<std::int64_t>> parse_extents(const std::string& name, const std::string& text) {
  std::vector<std::int64_t> extents;
  if (text.empty()) return extents;
  if (is_range(text))
    return fail(ExitCode::kUsage, "shape/range", "--shape " + name, "the range '" + text + "'",
                "one extent here; a range is for a dimension of a model that is tuned");
  for (std::string_view rest = text;;) {
    const std::size_t cross = rest.find('x');
    auto extent = parse_extent(name, std::string(rest.substr(0, cross)));
    if (!extent) extent.error().saw = "'" + text + "'";
    COLLAGE_TRY(extents.emplace_back(), std::move(extent));
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
    if (is_range(text))
      COLLAGE_TRY_VOID(parse_range(name, text));
    else
      COLLAGE_TRY_VOID(parse_extents(name, text));
    const auto [entry, is_new] = bindings.entries.emplace(name, text);
    if (!is_new && entry->second != text)
      return fail(ExitCode::kUsage, "shape/twice", "--shape " + name, "'" + entry->second + "' and '" + text + "'",
                  "one shape");
  }
  return bindings;
}

}  // namespace collage
