#include "api/tune/shape_choice.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/tune/gather_inputs.h"
#include "base/suggest.h"

namespace collage {
namespace {

/// What a name in --shape may stand for.
std::vector<std::string> known_names(const PlanCases& cases) {
  std::vector<std::string> names;
  for (const DimensionRange& dimension : cases.domain.dimensions) names.push_back(dimension.name);
  for (const CaseInput& input : cases.inputs) names.push_back(input.name);
  for (const auto& [name, text] : any_plan(cases).plan.shapes)
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

/// "batch=1..8, x=f32[batch,4]": what the plan was made for.
std::string served(const PlanCases& cases) {
  std::string text = to_string(cases.domain);
  const auto add = [&](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  for (const auto& [name, extents] : any_plan(cases).plan.shapes)
    if (!is_range(extents) && std::ranges::find(cases.inputs, name, &CaseInput::name) == cases.inputs.end() &&
        std::ranges::find(cases.domain.dimensions, name, &DimensionRange::name) == cases.domain.dimensions.end())
      add(name + "=" + extents);
  for (const CaseInput& input : cases.inputs) add(input.name + "=" + to_string(input.type));
  return text;
}

/// A dimension that the plan has fixed must be asked for as it is.
Result<void> check_fixed(const PlanCases& cases, const std::string& name, const std::vector<std::int64_t>& extents) {
  const auto& fixed = any_plan(cases).plan.shapes;
  const auto found = fixed.find(name);
  if (found == fixed.end())
    return fail(ExitCode::kUsage, "shape/unknown-dimension", "--shape " + name,
                "neither an input nor a dimension of the plan" + did_you_mean(name, known_names(cases)),
                "the plan's shapes: " + served(cases));
  COLLAGE_TRY(const auto wanted, parse_extents(name, found->second));
  if (wanted == extents) return {};
  return fail(ExitCode::kBadInput, "shape/outside", "--shape " + name, fmt::format("{}", fmt::join(extents, "x")),
              found->second + ", which the plan was made for; collage tune makes one for other shapes");
}

/// What the bindings say about the domain's dimensions. What they say about fixed ones must be so.
Result<std::map<std::string, std::int64_t>> bound_extents(const PlanCases& cases, const ShapeBindings& bindings) {
  std::map<std::string, std::int64_t> named;
  for (const auto& [name, text] : bindings.entries) {
    COLLAGE_TRY(const auto extents, parse_extents(name, text));
    const auto input = std::ranges::find(cases.inputs, name, &CaseInput::name);
    const auto& dimensions = cases.domain.dimensions;
    if (input != cases.inputs.end()) {
      auto fits = read_extents(cases.domain, name, input->type, extents, named);
      if (!fits) fits.error().where = "--shape " + name;
      COLLAGE_TRY_VOID(std::move(fits));
    } else if (std::ranges::find(dimensions, name, &DimensionRange::name) == dimensions.end()) {
      COLLAGE_TRY_VOID(check_fixed(cases, name, extents));
    } else if (extents.size() != 1) {
      return fail(ExitCode::kUsage, "shape/malformed", "--shape " + name, "'" + text + "'", "one extent");
    } else if (const auto [entry, is_new] = named.emplace(name, extents.front());
               !is_new && entry->second != extents.front()) {
      return fail(ExitCode::kUsage, "shape/twice", "--shape " + name,
                  fmt::format("{}, and {} of an input", extents.front(), entry->second), "one extent");
    }
  }
  return named;
}

}  // namespace

Result<ShapePoint> choose_point(const PlanCases& cases, const ShapeBindings& bindings,
                                const std::map<std::string, std::string>& input_files) {
  COLLAGE_TRY(auto extents, bound_extents(cases, bindings));
  if (cases.domain.dimensions.empty()) return ShapePoint{};
  for (const auto& [name, path] : input_files) {
    const auto input = std::ranges::find(cases.inputs, name, &CaseInput::name);
    if (input == cases.inputs.end()) continue;  // said with the inputs' names when they are gathered
    COLLAGE_TRY(const Tensor tensor, read_array(path));
    COLLAGE_TRY_VOID(read_extents(cases.domain, name, input->type, tensor.extents, extents));
  }
  return point_of(cases.domain, extents);
}

Result<std::vector<ShapePoint>> choose_points(const PlanCases& cases, const ShapeBindings& bindings) {
  std::vector<ShapePoint> points;
  if (bindings.entries.empty()) {
    for (const PlanCase& one : cases.cases) points.push_back(one.point);
    return points;
  }
  COLLAGE_TRY(points.emplace_back(), choose_point(cases, bindings, {}));
  return points;
}

std::vector<ShapePoint> points_between(const PlanCases& cases) {
  std::vector<ShapePoint> points;
  if (!cases.generic) return points;
  for (const std::int64_t eighths : {3, 5, 7, 1, 2, 4, 6}) {
    ShapePoint point;
    for (const DimensionRange& range : cases.domain.dimensions)
      point.push_back(range.low + (range.high - range.low) / 8 * eighths + (range.high - range.low) % 8 * eighths / 8);
    if (points.size() < 2 && !find_case(cases, point) && std::ranges::find(points, point) == points.end())
      points.push_back(std::move(point));
  }
  return points;
}

void bind_inputs(const ShapeDomain& domain, const ShapePoint& point, Graph& graph) {
  for (const ValueId input : graph.inputs) graph.value(input).type = type_at(domain, point, graph.value(input).type);
}

}  // namespace collage
