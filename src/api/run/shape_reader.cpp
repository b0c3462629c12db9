#include "api/run/shape_reader.h"

#include <algorithm>
#include <map>
#include <string>

namespace collage {
namespace {

constexpr std::int64_t kNotRead = -1;

}  // namespace

ShapeReader::ShapeReader(const PlanCases& cases) : dimensions_(cases.domain.dimensions.size()) {
  const auto& dimensions = cases.domain.dimensions;
  for (const CaseInput& input : cases.inputs) {
    std::vector<Axis>& axes = inputs_.emplace_back();
    for (const Dim& dim : input.type.shape.value_or(Shape{})) {
      const auto found = std::ranges::find(dimensions, dim.symbol, &DimensionRange::name);
      if (dim.is_static())
        axes.push_back({.kind = Axis::Kind::kFixed, .extent = dim.extent});
      else if (found != dimensions.end())
        axes.push_back(
            {.kind = Axis::Kind::kDimension, .dimension = static_cast<std::size_t>(found - dimensions.begin())});
      else
        axes.push_back({});
    }
  }
}

bool ShapeReader::read_axis(const Axis& axis, std::int64_t extent, ShapePoint& point) const {
  switch (axis.kind) {
    case Axis::Kind::kFixed:
      return axis.extent == extent;
    case Axis::Kind::kFree:
      return extent >= 0;
    case Axis::Kind::kDimension:
      break;
  }
  std::int64_t& known = point[axis.dimension];
  if (known == kNotRead) known = extent;
  return extent >= 0 && known == extent;
}

bool ShapeReader::read(std::span<const Extents> inputs, ShapePoint& point) const {
  if (inputs.size() != inputs_.size()) return false;
  point.assign(dimensions_, kNotRead);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size() != inputs_[i].size()) return false;
    for (std::size_t a = 0; a < inputs[i].size(); ++a)
      if (!read_axis(inputs_[i][a], inputs[i][a], point)) return false;
  }
  if (dimensions_ > 0) return std::ranges::find(point, kNotRead) == point.end();
  for (const Extents& input : inputs) point.insert(point.end(), input.begin(), input.end());
  return true;
}

Result<ShapePoint> point_of_inputs(const PlanCases& cases, std::span<const Extents> inputs) {
  if (inputs.size() != cases.inputs.size())
    return fail(ExitCode::kBadInput, "input/wrong-count", "inputs", std::to_string(inputs.size()),
                std::to_string(cases.inputs.size()));
  std::map<std::string, std::int64_t> extents;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const CaseInput& input = cases.inputs[i];
    COLLAGE_TRY_VOID(read_extents(cases.domain, input.name, input.type, inputs[i], extents));
  }
  return point_of(cases.domain, extents);
}

}  // namespace collage
