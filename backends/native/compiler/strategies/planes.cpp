// Convolution of plain tensors with vectors over neighbouring positions, for any number of groups and outputs.
// How: `tile_x` vectors of a row by `tile_c` outputs of one group stay in registers; weights are broadcast. If windows
//       reach outside of the source, or a row is shorter than a vector, the planes of a group are first copied into a
//       buffer with zeros around them.
// Source: direct convolution in NCHW (Georganas et al., SC 2018), without blocked channels.
#include <algorithm>

#include "compiler/codegen/loops.h"
#include "compiler/strategies/convolution.h"

namespace collage::native {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

namespace {

/// The source as (width, height, depth, channels, batch), `begin` zeros before each row and as many after it as are
/// asked for.
Func with_borders(const Dense& dense, const Func& source, std::int64_t lanes) {
  const auto [n, c, d, y, x] = named_loops<5>();
  const std::vector<Var> loops = {n, c, d, y, x};
  const RDom inside(0, to_int(dense.in(2)), "inside");
  Func wide("wide");
  wide(innermost_first(loops)) = 0.0F;
  wide(inside + to_int(dense.begin[2]), y, d, c, n) = source(c, inside, y, d, n);
  wide.vectorize(x, to_int(lanes));
  wide.update().vectorize(inside.x, to_int(std::min(lanes, dense.in(2))), TailStrategy::Predicate);
  return wide;
}

}  // namespace

std::vector<Schedule> planes_space(const Site& site, const Facts&) {
  const Dense dense = *convolution_of(site, plain());
  const std::int64_t width = dense.out(2);
  const std::int64_t most = std::clamp<std::int64_t>(width / site.lanes(), 1, 6);
  return register_tiles(ceil_div(width, site.lanes()), most, dense.group_outputs(), site);
}

void build_planes(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  const Dense dense = *convolution_of(site, plain());
  const std::int64_t lanes = site.lanes();
  const std::int64_t tile_c = schedule["tile_c"];
  const std::int64_t tile_x = schedule["tile_x"] * lanes;
  const std::int64_t width = dense.out(2);
  const std::int64_t blocks = dense.group_outputs() / tile_c;
  const Func source = lowering.read(dense.source, dense.view).func;
  const Readable weights = weights_of(dense, site, lowering);
  const bool is_copied = dense.is_padded(2) || width < tile_x;
  Func wide = is_copied ? with_borders(dense, source, lanes) : Func();

  const auto [n, d, y, x, c] = named_loops<5>();
  const std::vector<Var> loops = {n, d, y, x, c};
  const Var ci("ci");
  const Var block("block");
  const auto [r, column, row, plane] = taps_of(dense, x, y, d);
  const Expr channel = block / to_int(blocks) * to_int(dense.group_channels()) + r.x;
  const Expr value = is_copied ? wide(column + to_int(dense.begin[2]), row, plane, channel, n)
                               : source(channel, column, row, plane, n);
  Func sum("sum");
  sum(x, ci, y, d, n, block) = 0.0F;
  sum(x, ci, y, d, n, block) += weights({block * to_int(tile_c) + ci, r.x, r.w, r.z, r.y}) * value;
  const Expr total = sum(x, c % to_int(tile_c), y, d, n, c / to_int(tile_c));
  Func out =
      define_output(site, lowering, dense.space, loops, with_bias(dense, site, lowering, as_indices(loops), total));

  const Var g("g");
  const Var within("within");
  const Var xo("xo");
  const Var xi("xi");
  const Var xu("xu");
  const Var xv("xv");
  out.split(c, block, ci, to_int(tile_c), TailStrategy::RoundUp)
      .split(block, g, within, to_int(blocks), TailStrategy::RoundUp)
      .split(x, xo, xi, to_int(tile_x), width < tile_x ? TailStrategy::Predicate : TailStrategy::ShiftInwards)
      .split(xi, xu, xv, to_int(lanes))
      .vectorize(xv)
      .unroll(xu)
      .unroll(ci);
  const Extents extents = dense.space.extents();
  if (schedule["rows"] != 0) {
    out.reorder(xv, xu, ci, within, xo, y, d, g, n);
    parallelise(out, {n, g, d, y}, {extents[0], dense.groups, extents[1], extents[2]}, site);
  } else {
    out.reorder(xv, xu, ci, xo, y, d, within, g, n);
    parallelise(out, {n, g, within, d, y}, {extents[0], dense.groups, blocks, extents[1], extents[2]}, site);
  }
  if (is_copied && site.options.threads < 2) wide.compute_at(out, g);
  if (is_copied && site.options.threads >= 2) wide.compute_root();
  sum.compute_at(out, schedule["rows"] != 0 ? within : xo)
      .bound_extent(x, to_int(tile_x))
      .bound_extent(ci, to_int(tile_c));
  for (const Var& one : {y, d, n, block}) sum.bound_extent(one, 1);
  const Var su("su");
  const Var sv("sv");
  sum.split(x, su, sv, to_int(lanes)).vectorize(sv).unroll(su).unroll(ci);
  sum.update()
      .split(x, su, sv, to_int(lanes))
      .reorder(sv, su, ci, r.y, r.x, r.z, r.w, y, d, n, block)
      .vectorize(sv)
      .unroll(su)
      .unroll(ci);
  if (dense.kernel[2] <= 5) sum.update().unroll(r.y);
}

}  // namespace collage::native
