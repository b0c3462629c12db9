// Operators that repeat elements: Expand, Tile, Resize to a whole multiple by nearest neighbour.
#include "movement/move.h"

#include <cmath>

namespace collage::host {
namespace {

/// The source pixel that nearest-neighbour Resize takes for output pixel `x`, in ONNX's formulas; nothing for a mode
/// that is not handled here.
std::optional<std::int64_t> nearest_source(std::int64_t x, std::int64_t scale, std::int64_t in_extent,
                                           const std::string& coordinates, const std::string& rounding) {
  const auto factor = static_cast<double>(scale);
  const auto position = static_cast<double>(x);
  double source = 0;
  if (coordinates == "asymmetric") {
    source = position / factor;
  } else if (coordinates == "half_pixel" || coordinates == "half_pixel_symmetric" ||
             (coordinates == "pytorch_half_pixel" && in_extent * scale > 1)) {
    source = (position + 0.5) / factor - 0.5;
  } else {
    return std::nullopt;
  }
  double rounded = 0;
  if (rounding == "floor") {
    rounded = std::floor(source);
  } else if (rounding == "ceil") {
    rounded = std::ceil(source);
  } else if (rounding == "round_prefer_floor") {
    rounded = std::ceil(source - 0.5);
  } else if (rounding == "round_prefer_ceil") {
    rounded = std::floor(source + 0.5);
  } else {
    return std::nullopt;
  }
  return std::min(std::max(static_cast<std::int64_t>(rounded), std::int64_t{0}), in_extent - 1);
}

/// Every output pixel x shows source pixel x / scale.
bool repeats_pixels(const Node& node, std::int64_t in_extent, std::int64_t scale) {
  const auto coordinates = attribute_or<std::string>(node, "coordinate_transformation_mode", "half_pixel");
  const auto rounding = attribute_or<std::string>(node, "nearest_mode", "round_prefer_floor");
  for (std::int64_t x = 0; x < in_extent * scale; ++x)
    if (nearest_source(x, scale, in_extent, coordinates, rounding) != x / scale) return false;
  return true;
}

}  // namespace

Programmed move_expand(const MoveSite& at) {
  const Extents in_extents = at.in_extents(0);
  const Extents out_extents = at.out_extents(0);
  const Strides in = at.in_strides(0);
  const Strides out = at.out_strides(0);
  const std::size_t missing = out_extents.size() - in_extents.size();
  Block block{.input = at.in_port(0), .output = at.out_port(0)};
  for (std::size_t i = 0; i < out_extents.size(); ++i) {
    const bool repeats = i < missing || in_extents[i - missing] == 1;
    block.axes.push_back({out_extents[i], repeats ? 0 : in[i - missing], out[i]});
  }
  return CopyProgram{.element_bytes = 0, .blocks = {std::move(block)}};
}

Programmed move_tile(const MoveSite& at) {
  const Extents in_extents = at.in_extents(0);
  const Extents out_extents = at.out_extents(0);
  const Strides in = at.in_strides(0);
  const Strides out = at.out_strides(0);
  Block block{.input = at.in_port(0), .output = at.out_port(0)};
  for (std::size_t i = 0; i < in_extents.size(); ++i) {
    if (in_extents[i] == 0) return refuse(RefusalReason::kShape, "an empty axis");
    block.axes.push_back({out_extents[i] / in_extents[i], 0, out[i] * in_extents[i]});
    block.axes.push_back({in_extents[i], in[i], out[i]});
  }
  return CopyProgram{.element_bytes = 0, .blocks = {std::move(block)}};
}

Programmed move_resize(const MoveSite& at) {
  if (attribute_or<std::string>(at.node(), "mode", "nearest") != "nearest")
    return refuse(RefusalReason::kAttribute, "a mode other than nearest");
  if (attribute_or<std::string>(at.node(), "keep_aspect_ratio_policy", "stretch") != "stretch")
    return refuse(RefusalReason::kAttribute, "a kept aspect ratio");
  const Extents in_extents = at.in_extents(0);
  const Extents out_extents = at.out_extents(0);
  // Scales may differ a little from the ratio of extents; only the exact ratio repeats pixels.
  const Tensor* scales = constant_of(at.site.graph, input_of(at.node(), 2));
  const std::vector<double> factors =
      scales != nullptr ? floats_of(*scales).value_or(std::vector<double>{}) : std::vector<double>{};
  if (input_of(at.node(), 2).valid() && scales == nullptr) return refuse(RefusalReason::kStructure, "computed scales");
  const Strides in = at.in_strides(0);
  const Strides out = at.out_strides(0);
  Block block{.input = at.in_port(0), .output = at.out_port(0)};
  for (std::size_t i = 0; i < in_extents.size(); ++i) {
    const std::int64_t scale = in_extents[i] == 0 ? 0 : out_extents[i] / in_extents[i];
    const bool is_exact = factors.size() != in_extents.size() || factors[i] == static_cast<double>(scale);
    if (scale < 1 || scale * in_extents[i] != out_extents[i] || !is_exact)
      return refuse(RefusalReason::kShape, "no whole multiple");
    if (scale > 1 && !repeats_pixels(at.node(), in_extents[i], scale))
      return refuse(RefusalReason::kAttribute, "pixels that are not simply repeated");
    block.axes.push_back({in_extents[i], in[i], out[i] * scale});
    block.axes.push_back({scale, 0, out[i]});
  }
  return CopyProgram{.element_bytes = 0, .blocks = {std::move(block)}};
}

}  // namespace collage::host
