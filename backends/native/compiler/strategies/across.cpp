// Grouped convolution in channels_last with vectors over neighbouring groups.
// How: each lane computes another group. Inputs of neighbouring lanes are `group_channels` elements apart, outputs
//       `group_outputs`. One vector of inputs is used for all outputs of its groups; their stores are interleaved to
//       whole vectors.
// Source: a generalisation of depthwise convolution, which has one input and one output in each group.
#include <algorithm>
#include <bit>

#include "compiler/codegen/loops.h"
#include "compiler/strategies/convolution.h"

namespace collage::native {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

namespace {

/// Outputs of a group that are written out: more would be much code.
constexpr std::int64_t kMostTogether = 16;

}  // namespace

std::vector<Schedule> across_space(const Site& site, const Facts& facts) {
  const std::int64_t width = facts.find("out_w")->second;
  return register_tiles(width, std::min<std::int64_t>(width, 14), facts.find("group_outputs")->second, site);
}

void build_across(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  const Dense dense = *convolution_of(site);
  const std::int64_t in = dense.group_channels();
  const std::int64_t per_group = dense.group_outputs();
  const auto lanes =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::min(site.lanes(), dense.groups))));
  const Func source = padded_source(dense, lowering.read(dense.source, dense.view).func, {2});
  const Func weights = panels_of(dense, site, lowering, dense.groups, per_group);
  const auto [n, d, y, x, c] = named_loops<5>();
  const std::vector<Var> loops = {n, d, y, x, c};
  const Var g("g");
  const Var j("j");
  const auto [r, column, row, plane] = taps_of(dense, x, y, d);
  Func sum("sum");
  sum(g, j, x, y, d, n) = 0.0F;
  sum(g, j, x, y, d, n) +=
      weights(g, j * to_int(in) + r.x, r.y, r.z, r.w, 0) * source(g * to_int(in) + r.x, column, row, plane, n);
  const auto total = sum(c / to_int(per_group), c % to_int(per_group), x, y, d, n);
  Func out =
      define_output(site, lowering, dense.space, loops, with_bias(dense, site, lowering, as_indices(loops), total));

  const Var go("go");
  const Var gi("gi");
  const Var xo("xo");
  const Var xi("xi");
  const std::int64_t tile_x = schedule["tile_x"];
  const std::int64_t tile_c = schedule["tile_c"];
  out.split(c, g, j, to_int(per_group), TailStrategy::RoundUp)
      .split(g, go, gi, to_int(lanes), TailStrategy::ShiftInwards)
      .split(x, xo, xi, to_int(tile_x), TailStrategy::ShiftInwards)
      .vectorize(gi)
      .unroll(xi);
  if (per_group <= kMostTogether) out.unroll(j);
  const Extents extents = dense.space.extents();
  const std::int64_t blocks = ceil_div(dense.groups, lanes);
  if (schedule["rows"] != 0) {
    out.reorder(gi, j, xi, xo, go, y, d, n);
    parallelise(out, {n, d, y, go}, {extents[0], extents[1], extents[2], blocks}, site);
  } else {
    out.reorder(gi, j, xi, xo, y, d, n, go);
    parallelise(out, {go, n, d, y}, {blocks, extents[0], extents[1], extents[2]}, site);
  }
  sum.compute_at(out, xo)
      .bound_extent(g, to_int(lanes))
      .bound_extent(j, to_int(per_group))
      .bound_extent(x, to_int(tile_x));
  for (const Var& one : {y, d, n}) sum.bound_extent(one, 1);
  const Var jo("jo");
  const Var ji("ji");
  sum.vectorize(g).unroll(x);
  sum.update()
      .split(j, jo, ji, to_int(tile_c))
      .reorder(g, ji, x, r.x, r.y, r.z, r.w, jo, y, d, n)
      .vectorize(g)
      .unroll(ji)
      .unroll(x);
  // Accumulators whose places are known lie in registers.
  if (per_group <= kMostTogether) {
    sum.unroll(j);
    sum.update().unroll(jo);
  }
  // Neighbouring inputs of one group come out of the same vectors.
  if (const std::int64_t together = largest_divisor(in, 4); together > 1) sum.update().unroll(r.x, to_int(together));
}

}  // namespace collage::native
