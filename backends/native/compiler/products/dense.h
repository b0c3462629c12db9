// Products with constant weights: convolutions over up to three spatial axes, and matrix products as 1x1 convolutions
// over rows.
// In:  a Dense. Out: Halide code that computes tiles in registers: `tile_x` neighbouring positions by `tile_c` vectors
//       of outputs.
// How: weights are packed in blocks of outputs, the innermost contiguous. One input value is broadcast and multiplied
//       with all outputs of a tile; the accumulators stay in registers during the whole reduction.
// Example: tile_x = 6, tile_c = 2 with 16 lanes: 12 accumulators hold 6 positions x 32 outputs. Each step of the
// reduction loads 2 vectors of weights, broadcasts 6 inputs and does 12 multiply-adds.
// Cost: tile_x * tile_c multiply-adds for tile_c + tile_x loads.
// Source: blocked direct convolution (Georganas et al., SC 2018); Halide's convolution example.
#pragma once

#include <array>
#include <functional>

#include "compiler/selection/strategy.h"

namespace collage::native {

/// Spatial axes are depth, height, width; missing ones have extent 1.
struct Dense {
  ValueId source;
  View view;                    ///< of the source: batch, depth, height, width, channels
  Space source_space;           ///< its axes over those of the source
  Space space;                  ///< of the result: batch, depth, height, width, outputs
  ValueId weights;              ///< constant, or computed: then of a convolution
  std::int64_t out_stride = 1;  ///< in the weights, elements
  std::int64_t tap_stride = 1;
  std::int64_t in_stride = 1;
  ValueId bias = {};    ///< may be absent
  View bias_view = {};  ///< along the loop axes
  float alpha = 1.F;    ///< times the product
  float beta = 1.F;     ///< times the bias
  std::int64_t groups = 1;
  std::array<std::int64_t, 3> kernel = {1, 1, 1};
  std::array<std::int64_t, 3> strides = {1, 1, 1};
  std::array<std::int64_t, 3> dilations = {1, 1, 1};
  std::array<std::int64_t, 3> begin = {0, 0, 0};  ///< padding before
  std::array<bool, 3> may_reach_out = {};         ///< at other extents than these
  /// Constant weights are packed in it; in 16 bits they are read in half the time.
  ElementType weight_type = ElementType::kFloat32;

  [[nodiscard]] std::int64_t channels() const { return view.extents[4]; }
  [[nodiscard]] std::int64_t outputs() const { return space.extent(4); }
  [[nodiscard]] std::int64_t in(std::size_t axis) const { return view.extents[axis + 1]; }
  [[nodiscard]] std::int64_t out(std::size_t axis) const { return space.extent(axis + 1); }
  [[nodiscard]] std::int64_t group_channels() const { return channels() / groups; }
  [[nodiscard]] std::int64_t group_outputs() const { return outputs() / groups; }
  [[nodiscard]] std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  /// Some window reaches past the source along this axis.
  [[nodiscard]] bool is_padded(std::size_t axis) const {
    return begin[axis] > 0 || may_reach_out[axis] ||
           (out(axis) - 1) * strides[axis] + (kernel[axis] - 1) * dilations[axis] - begin[axis] >= in(axis);
  }
  [[nodiscard]] bool is_padded() const { return is_padded(0) || is_padded(1) || is_padded(2); }
  /// Windows of one place without gaps: every axis but channels may be one loop.
  [[nodiscard]] bool is_pointwise() const {
    for (std::size_t i = 0; i < 3; ++i)
      if (kernel[i] != 1 || strides[i] != 1 || is_padded(i)) return false;
    return true;
  }
};

/// Facts for conditions: batch, channels, outputs, groups, group_channels/outputs/vectors, out_d/h/w, kernel_d/h/w,
/// stride_*, dilation_*, channel_stride (in the source), channel_pairs, taps, lanes, bf16 (values may be stored in
/// bfloat16 here), f16 (in float16). Vectors are counted as build_dense uses them, with narrower ones at
/// the end of a group.
[[nodiscard]] Facts facts_of(const Dense& dense, const Site& site);

/// All tiles that build_dense takes: accumulators, the weights of one step and a broadcast stay in registers.
inline constexpr std::string_view kDenseChoices = "rows: 0|1, tile_c: 1..6, tile_x: 1..28, unroll: 1|2|3|4|8";
inline constexpr std::string_view kDenseLegal =
    "tile_x * tile_c + tile_c + 1 <= registers and tile_x <= out_w and tile_c <= group_vectors and "
    "group_channels % unroll == 0 and groups == 1 or "
    "tile_x * tile_c + tile_c + 1 <= registers and tile_x <= out_w and group_vectors % tile_c == 0 and "
    "group_channels % unroll == 0";

/// Numbers in one step along the channels, so that steps are whole: at most `most`, a power of two.
[[nodiscard]] std::int64_t channel_lanes(const Dense& dense, std::int64_t most);

/// Where a tap of the window at a place of the result lies in the source, along one axis.
[[nodiscard]] Halide::Expr source_place(const Dense& dense, const Halide::Expr& at, const Halide::Expr& tap,
                                        std::size_t axis);

/// A place along depth, height and width that may lie in the padding: clamped into the source, and whether it is
/// inside.
struct InsideSource {
  std::array<Halide::Expr, 3> at;
  Halide::Expr is_inside;
};
[[nodiscard]] InsideSource inside_source(const Dense& dense, const std::array<Halide::Expr, 3>& place);

/// Register tiles, best first.
[[nodiscard]] std::vector<Schedule> dense_space(const Dense& dense, const Site& site);

/// The anchor's value at a place from the sum of products there.
using ResultOf = std::function<Halide::Expr(const Indices& at, const Halide::Expr& sum)>;

/// Register tiles of `tile_x` of `places` by `tile_c` of `outputs`, a divisor of it, best first, each with two orders
/// of loops (`rows` as in build_dense).
[[nodiscard]] std::vector<Schedule> register_tiles(std::int64_t places, std::int64_t most_x, std::int64_t outputs,
                                                   const Site& site);

/// The whole region: product, bias, epilogue, output. Schedule: tile_x, tile_c, unroll, rows (0: outputs are the
/// outermost loop; 1: rows are). Weights are f32 or bytes; without `result` it is with_bias().
void build_dense(const Dense& dense, const Site& site, const Schedule& schedule, Lowering& lowering,
                 const ResultOf& result = {});

/// Register tiles of an output over named_loops<5>() from sums by (ci, x, y, d, n, co), the output within its block and
/// the block: `taps` runs over the inputs that one lane takes at a time, groups of them, width, height, depth. Schedule
/// as in build_dense; `unroll` counts groups.
void schedule_grouped_sums(const Dense& dense, const Site& site, const Schedule& schedule, const Halide::Func& out,
                           const Halide::Func& sum, const Halide::RDom& taps);
/// Its two halves: the tiles of the output with sums that begin in registers, and what is added to sums in each step.
/// With `places`, a multiple of tile_x that is not above the width, all outputs of so many neighbouring places are made
/// before those of the next ones, by one thread; the loop over such blocks is returned.
Halide::Var schedule_sum_tiles(const Dense& dense, const Site& site, const Schedule& schedule, Halide::Func out,
                               Halide::Func sum, std::int64_t places = 0);
void schedule_group_updates(const Site& site, const Schedule& schedule, Halide::Func sum, const Halide::RDom& taps);

/// Weights as [outputs / per / block][depth][height][width][per * inputs][block], zeros or repeats past the end: a lane
/// stands for `per` neighbouring outputs. Packed once when they are constant, in each run when they are computed.
[[nodiscard]] Halide::Func panels_of(const Dense& dense, const Site& site, Lowering& lowering, std::int64_t block,
                                     std::int64_t per = 1);

/// The weights as they lie: outputs, inputs, depth, height, width.
[[nodiscard]] Readable weights_of(const Dense& dense, const Site& site, Lowering& lowering);

/// The reduction over a window: inputs of a group, width, height, depth, and where its taps lie in the source for the
/// place (x, y, d). Taps above, below, before and behind the source are left out of it; those beside it are not.
struct Taps {
  Halide::RDom r;
  Halide::Expr column, row, plane;
};
/// Extents of the source as the code knows them: depth, height, width; undefined ones are the constants of the Dense.
using Inside = std::array<Halide::Expr, 3>;
[[nodiscard]] Taps taps_of(const Dense& dense, const Halide::Var& x, const Halide::Var& y, const Halide::Var& d,
                           const Inside& inside = {});

/// The source along its axes.
[[nodiscard]] Readable source_of(const Dense& dense, Lowering& lowering);

/// The anchor's value at a place from the sum of products there: scale and bias.
[[nodiscard]] Halide::Expr with_bias(const Dense& dense, const Site& site, Lowering& lowering, const Indices& at,
                                     const Halide::Expr& sum);

/// The source with zeros around it along these axes (0 depth, 1 height, 2 width), by (c, w, h, d, n); with `always`
/// also where no window reaches out, for tiles that go past the result.
[[nodiscard]] Halide::Func padded_source(const Dense& dense, const Halide::Func& source,
                                         const std::vector<std::size_t>& axes, bool always = false,
                                         const Inside& inside = {});

}  // namespace collage::native
