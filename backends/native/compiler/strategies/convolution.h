// Shared by the implementations of convolution.
// In:  a region with a Conv. Out: its Dense, or why it has none; spaces and builders for the table in convolution.cpp.
#pragma once

#include "compiler/products/dense.h"

namespace collage::native {

[[nodiscard]] std::expected<Dense, Refusal> convolution_of(const Site& site, const Format& format = channels_last());
/// The same over these tensors in place of the anchor's operands, of any element type and without a bias. Weights may
/// be computed.
[[nodiscard]] std::expected<Dense, Refusal> convolution_of(const Site& site, ValueId source, ValueId weights,
                                                           const Format& format = channels_last());

/// Vectors of neighbouring groups, in channels_last: for groups of few outputs.
[[nodiscard]] std::vector<Schedule> across_space(const Site& site, const Facts& facts);
void build_across(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering);

/// Vectors of neighbouring places, in plain tensors: for any number of outputs.
[[nodiscard]] std::vector<Schedule> planes_space(const Site& site, const Facts& facts);
void build_planes(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering);

[[nodiscard]] std::vector<Schedule> depthwise_space(const Site& site, const Facts& facts);
inline constexpr std::string_view kDepthwiseChoices = "blocks: 0|1, tile_x: 1..28, tile_y: 1..4";
/// Outputs are written out: more of them at once are long code for no gain.
inline constexpr std::string_view kDepthwiseLegal = "tile_x <= out_w and tile_y <= out_h and tile_x * tile_y <= 28";
void build_depthwise(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering);

/// A depthwise kernel by its parts.
struct Depthwise {
  Halide::Func source;   ///< f32 with zeros around it, by (c, w, h, d, n)
  Halide::Func weights;  ///< f32, by (c, w, h, d)
  ResultOf result;
};
/// Weights by (c, w, h, d); bytes become f32.
[[nodiscard]] Halide::Func depthwise_weights(const Dense& dense, Lowering& lowering);
void build_depthwise(const Dense& dense, const Depthwise& parts, const Site& site, const Schedule& schedule,
                     Lowering& lowering);

/// F(2x2, 3x3) and F(4x4, 3x3).
[[nodiscard]] std::vector<Schedule> winograd_2_space(const Site& site, const Facts& facts);
[[nodiscard]] std::vector<Schedule> winograd_4_space(const Site& site, const Facts& facts);
void build_winograd_2(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering);
void build_winograd_4(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering);
void build_winograd_2_fixed(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering);
void build_winograd_4_fixed(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering);

/// The same along height and depth of plain tensors, for any number of channels and outputs, dilated or not.
/// Facts planes2_saving and planes4_saving: products saved of those of a direct convolution of plain tensors, in
/// percent.
void add_winograd_planes_facts(const Dense& dense, Facts& facts);
[[nodiscard]] std::vector<Schedule> winograd_planes_space(const Site& site, const Facts& facts);
void build_winograd_planes_2(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering);
void build_winograd_planes_4(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering);

}  // namespace collage::native
