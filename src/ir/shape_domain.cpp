#include "ir/shape_domain.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"

namespace collage {
namespace {

const DimensionRange* find(const ShapeDomain& domain, const std::string& name) {
  const auto found = std::ranges::find(domain.dimensions, name, &DimensionRange::name);
  return found == domain.dimensions.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const ShapeDomain& domain) {
  std::vector<std::string> names;
  for (const DimensionRange& dimension : domain.dimensions) names.push_back(dimension.name);
  return names;
}

std::vector<std::string> open_dimensions(std::span<const ValueType> inputs) {
  std::set<std::string> names;
  for (const ValueType& type : inputs)
    for (const Dim& dim : type.shape.value_or(Shape{}))
      if (!dim.is_static() && !dim.symbol.empty()) names.insert(dim.symbol);
  return {names.begin(), names.end()};
}

}  // namespace

Result<DimensionRange> parse_range(const std::string& name, const std::string& text) {
  const std::size_t dots = text.find("..");
  DimensionRange range{.name = name};
  const auto malformed = [&] {
    return fail(ExitCode::kUsage, "shape/malformed", "--shape " + name, "'" + text + "'", "a range such as 1..8");
  };
  if (dots == std::string::npos) return malformed();
  const auto low = parse_extent(name, text.substr(0, dots));
  const auto high = parse_extent(name, text.substr(dots + 2));
  if (!low || !high) return malformed();
  if (*high < *low)
    return fail(ExitCode::kUsage, "shape/empty-range", "--shape " + name, "'" + text + "'",
                fmt::format("a range that ends at {} or later", *low));
  range.low = *low;
  range.high = *high;
  return range;
}

Result<ShapeDomain> domain_of(const ShapeBindings& bindings) {
  ShapeDomain domain;
  for (const auto& [name, text] : bindings.entries) {
    if (!is_range(text)) continue;
    COLLAGE_TRY(DimensionRange range, parse_range(name, text));
    domain.dimensions.push_back(std::move(range));
  }
  return domain;
}

ShapeBindings bindings_at(const ShapeBindings& bindings, const ShapeDomain& domain, const ShapePoint& point) {
  ShapeBindings bound = bindings;
  for (std::size_t d = 0; d < domain.dimensions.size(); ++d)
    bound.entries[domain.dimensions[d].name] = std::to_string(point[d]);
  return bound;
}

ShapeBindings without_ranges(const ShapeBindings& bindings) {
  ShapeBindings fixed = bindings;
  std::erase_if(fixed.entries, [](const auto& entry) { return is_range(entry.second); });
  return fixed;
}

bool contains(const ShapeDomain& domain, const ShapePoint& point) {
  if (point.size() != domain.dimensions.size()) return false;
  for (std::size_t d = 0; d < point.size(); ++d)
    if (point[d] < domain.dimensions[d].low || point[d] > domain.dimensions[d].high) return false;
  return true;
}

std::string to_string(const ShapeDomain& domain) {
  std::string text;
  for (const DimensionRange& dimension : domain.dimensions)
    text += fmt::format("{}{}={}..{}", text.empty() ? "" : ", ", dimension.name, dimension.low, dimension.high);
  return text;
}

std::string to_string(const ShapeDomain& domain, const ShapePoint& point) {
  std::string text;
  for (std::size_t d = 0; d < std::min(point.size(), domain.dimensions.size()); ++d)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", domain.dimensions[d].name, point[d]);
  return text;
}

Result<ShapePoint> point_of(const ShapeDomain& domain, const std::map<std::string, std::int64_t>& extents) {
  for (const auto& [name, extent] : extents)
    if (find(domain, name) == nullptr)
      return fail(ExitCode::kUsage, "shape/unknown-dimension", fmt::format("{}={}", name, extent),
                  "dimension " + name + did_you_mean(name, names_of(domain)),
                  domain.dimensions.empty() ? "none: every shape is fixed"
                                            : fmt::format("one of {}", fmt::join(names_of(domain), ", ")));
  ShapePoint point;
  for (const DimensionRange& dimension : domain.dimensions) {
    const auto found = extents.find(dimension.name);
    if (found == extents.end())
      return fail(
          ExitCode::kBadInput, "shape/unbound", "dimension " + dimension.name, "no extent",
          fmt::format("an input that has it, or --shape {}={} to {}", dimension.name, dimension.low, dimension.high));
    point.push_back(found->second);
  }
  if (contains(domain, point)) return point;
  return fail(ExitCode::kBadInput, "shape/outside", "the shape asked for", to_string(domain, point), to_string(domain));
}

Result<void> check_inputs_tell(const ShapeDomain& domain, std::span<const ValueType> inputs) {
  for (const DimensionRange& dimension : domain.dimensions) {
    const bool is_told = std::ranges::any_of(inputs, [&](const ValueType& type) {
      return type.shape && std::ranges::any_of(*type.shape, [&](const Dim& dim) {
               return !dim.is_static() && dim.symbol == dimension.name;
             });
    });
    if (is_told) continue;
    const std::vector<std::string> open = open_dimensions(inputs);
    return fail(ExitCode::kUsage, "shape/no-input", "--shape " + dimension.name,
                "a dimension that no input has open" + did_you_mean(dimension.name, open),
                open.empty() ? "no range: the inputs have no open dimension with a name"
                             : fmt::format("a range for one of {}", fmt::join(open, ", ")));
  }
  return {};
}

Result<void> read_extents(const ShapeDomain& domain, const std::string& name, const ValueType& type,
                          const Extents& seen, std::map<std::string, std::int64_t>& extents) {
  const auto wrong = [&](std::string allowed) {
    return fail(ExitCode::kBadInput, "input/wrong-shape", "input " + name,
                to_string(ValueType::tensor(type.element, seen)), std::move(allowed));
  };
  if (!type.shape || type.shape->size() != seen.size()) return wrong(to_string(type));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const Dim& dim = (*type.shape)[i];
    if (dim.is_static() && dim.extent != seen[i]) return wrong(to_string(type));
    if (dim.is_static() || find(domain, dim.symbol) == nullptr) continue;
    const auto [entry, is_new] = extents.emplace(dim.symbol, seen[i]);
    if (!is_new && entry->second != seen[i])
      return wrong(fmt::format("{} with {}={} as before", to_string(type), dim.symbol, entry->second));
  }
  return {};
}

ValueType type_at(const ShapeDomain& domain, const ShapePoint& point, ValueType type) {
  if (!type.shape) return type;
  for (Dim& dim : *type.shape) {
    if (dim.is_static()) continue;
    const auto found = std::ranges::find(domain.dimensions, dim.symbol, &DimensionRange::name);
    if (found == domain.dimensions.end()) continue;
    dim = {.extent = point[static_cast<std::size_t>(found - domain.dimensions.begin())], .symbol = {}};
  }
  return type;
}

}  // namespace collage
