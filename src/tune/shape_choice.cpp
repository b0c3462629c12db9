#include "tune/shape_choice.h"

#include <algorithm>

#include "onnx/tensor_file.h"

namespace collage {
namespace {

/// What is written about single dimensions.
Result<std::map<std::string, std::int64_t>> named_extents(const ShapeBindings& bindings) {
  std::map<std::string, std::int64_t> named;
  for (const auto& [name, text] : bindings.entries) {
    COLLAGE_TRY(const auto extents, parse_extents(name, text));
    if (extents.size() != 1)
      return fail(ExitCode::kUsage, "shape/malformed", "--shape " + name, "'" + text + "'", "one extent");
    named.emplace(name, extents.front());
  }
  return named;
}

}  // namespace

Result<ShapePoint> choose_point(const PlanCases& cases, const ShapeBindings& bindings,
                                const std::map<std::string, std::string>& input_files) {
  if (cases.domain.dimensions.empty()) return ShapePoint{};
  COLLAGE_TRY(auto extents, named_extents(bindings));
  for (const auto& [name, path] : input_files) {
    const auto input = std::ranges::find(cases.inputs, name, &CaseInput::name);
    if (input == cases.inputs.end()) continue;  // said with the inputs' names when they are gathered
    COLLAGE_TRY(const Tensor tensor, path.ends_with(".pb") ? read_tensor_pb(path) : read_npy(path));
    COLLAGE_TRY_VOID(read_extents(cases.domain, name, input->type, tensor.extents, extents));
  }
  return point_of(cases.domain, extents);
}

Result<std::vector<ShapePoint>> choose_points(const PlanCases& cases, const ShapeBindings& bindings) {
  std::vector<ShapePoint> points;
  if (cases.domain.dimensions.empty() || bindings.entries.empty()) {
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
