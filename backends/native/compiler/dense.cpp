#include "compiler/dense.h"

#include <algorithm>

#include "compiler/loops.h"

namespace collage::native {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

namespace {

/// What a tile costs for each step of the reduction, in half cycles: two multiply-adds and two loads a cycle. A load
/// partly hides behind arithmetic; one that misses the first cache costs four times as much.
double tile_cost(std::int64_t tile_x, std::int64_t tile_c, bool weights_miss) {
  const auto broadcasts = static_cast<double>(tile_x);
  const auto weights = static_cast<double>(tile_c);
  // Fewer accumulators than multiply-adds in flight leave the units waiting.
  return std::max(broadcasts * weights, 8.0) + 0.5 * broadcasts + (weights_miss ? 2.0 : 0.5) * weights;
}

std::int64_t largest_divisor(std::int64_t n, std::int64_t most) {
  for (std::int64_t d = std::min(n, most); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

/// Weights that do not stay in the second cache should be read once for many places.
constexpr std::int64_t kWeightsInCache = std::int64_t{1} << 20;
/// Tiles worth a look by anybody.
constexpr std::size_t kMostTiles = 16;
constexpr std::int64_t kFirstCache = std::int64_t{32} << 10;

}  // namespace

Facts facts_of(const Dense& dense, const Site& site) {
  Facts facts = {{"batch", dense.space.extent(0)},
                 {"channels", dense.channels()},
                 {"outputs", dense.outputs()},
                 {"groups", dense.groups},
                 {"group_channels", dense.channels() / dense.groups},
                 {"group_outputs", dense.outputs() / dense.groups},
                 {"group_vectors", ceil_div(dense.outputs() / dense.groups, site.lanes())},
                 {"taps", dense.taps()},
                 {"lanes", site.lanes()}};
  constexpr std::array<const char*, 3> kAxes = {"_d", "_h", "_w"};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string axis = kAxes.at(i);
    facts["out" + axis] = dense.out(i);
    facts["in" + axis] = dense.in(i);
    facts["kernel" + axis] = dense.kernel[i];
    facts["stride" + axis] = dense.strides[i];
    facts["dilation" + axis] = dense.dilations[i];
  }
  return facts;
}

std::vector<Schedule> dense_space(const Dense& dense, const Site& site) {
  struct Rated {
    double cost;
    std::int64_t tile_x, tile_c;
  };
  std::vector<Rated> rated;
  const std::int64_t lanes = site.lanes();
  const std::int64_t width = dense.out(2);
  const std::int64_t vectors = ceil_div(dense.outputs() / dense.groups, lanes);
  const std::int64_t in = dense.channels() / dense.groups;

  const std::int64_t weight_bytes = 4 * dense.taps() * in * dense.outputs();
  for (std::int64_t tile_c = 1; tile_c <= std::min<std::int64_t>(vectors, 6); ++tile_c) {
    if (dense.groups > 1 && (dense.outputs() / dense.groups) % (tile_c * lanes) != 0) continue;
    const std::int64_t panel_bytes = 4 * dense.taps() * in * tile_c * lanes;
    for (std::int64_t tile_x = 1; tile_x <= std::min<std::int64_t>(width, 28); ++tile_x) {
      // Accumulators, the weights of one step and a broadcast.
      if (tile_x * tile_c + tile_c + 1 > site.set.registers) continue;
      const double tiles = static_cast<double>(ceil_div(width, tile_x) * ceil_div(vectors, tile_c));
      // Starting and ending a tile costs about as much as a few steps.
      const double steps = static_cast<double>(in * dense.taps()) + 4;
      rated.push_back({tiles * tile_cost(tile_x, tile_c, panel_bytes > kFirstCache) * steps, tile_x, tile_c});
    }
  }
  std::ranges::stable_sort(rated, {}, &Rated::cost);
  if (rated.size() > kMostTiles) rated.resize(kMostTiles);
  const std::int64_t rows = weight_bytes > kWeightsInCache || dense.taps() > 1 ? 0 : 1;
  std::vector<Schedule> schedules;
  for (const Rated& one : rated)
    schedules.push_back(
        {{"tile_x", one.tile_x}, {"tile_c", one.tile_c}, {"unroll", largest_divisor(in, 4)}, {"rows", rows}});
  return schedules;
}

Func padded_source(const Dense& dense, const Func& source, const std::vector<std::size_t>& axes, bool always) {
  Halide::Region bounds(5, Halide::Range(Expr(), Expr()));
  bool is_padded = false;
  for (const std::size_t axis : axes) {
    if (!always && !dense.is_padded(axis)) continue;
    bounds[3 - axis] = Halide::Range(0, to_int(dense.in(axis)));
    is_padded = true;
  }
  if (!is_padded) return source;
  return Halide::BoundaryConditions::constant_exterior(source, Halide::Internal::make_zero(source.type()), bounds);
}

Expr with_bias(const Dense& dense, const Site& site, Lowering& lowering, const Indices& at, const Expr& sum) {
  Expr value = dense.alpha == 1.F ? sum : sum * dense.alpha;
  if (dense.bias.valid() && dense.beta != 0.F) {
    const Tensor* constant = constant_of(site.graph, dense.bias);
    const auto literal = constant != nullptr ? literal_of(*constant) : std::nullopt;
    const Expr bias = literal ? *literal : lowering.read(dense.bias, dense.bias_view)(at);
    value = value + (dense.beta == 1.F ? bias : bias * dense.beta);
  }
  return value;
}

void build_dense(const Dense& dense, const Site& site, const Schedule& schedule, Lowering& lowering,
                 const ResultOf& result) {
  const std::int64_t lanes = site.lanes();
  const std::int64_t tile_x = schedule["tile_x"];
  const std::int64_t block = schedule["tile_c"] * lanes;
  const std::int64_t in = dense.channels() / dense.groups;
  const std::int64_t per_group = dense.outputs() / dense.groups;
  const auto& kernel = dense.kernel;

  const Func source = padded_source(dense, lowering.read(dense.source, dense.view).func, {2});
  const Func weights = lowering.packed(
      dense.weights,
      {.kind = PackingKind::kPanels,
       .numbers = {dense.outputs(), dense.taps(), in, dense.out_stride, dense.tap_stride, dense.in_stride, block}},
      ElementType::kFloat32, {ceil_div(dense.outputs(), block), kernel[0], kernel[1], kernel[2], in, block});

  const std::vector<Var> loops = loop_variables(5);
  const Var n = loops[0];
  const Var d = loops[1];
  const Var y = loops[2];
  const Var x = loops[3];
  const Var c = loops[4];
  const Var ci("ci");
  const Var co("co");
  RDom r(0, to_int(in), 0, to_int(kernel[2]), 0, to_int(kernel[1]), 0, to_int(kernel[0]), "r");

  const auto along = [&](const Var& at, const RVar& tap, std::size_t axis) {
    return at * to_int(dense.strides[axis]) + tap * to_int(dense.dilations[axis]) - to_int(dense.begin[axis]);
  };
  const Expr column = along(x, r.y, 2);
  Expr row = along(y, r.z, 1);
  Expr plane = along(d, r.w, 0);
  // Taps outside the source are left out of the loop; the clamp is for Halide's eyes.
  if (dense.is_padded(1)) {
    r.where(row >= 0 && row < to_int(dense.in(1)));
    row = clamped(row, dense.in(1));
  }
  if (dense.is_padded(0)) {
    r.where(plane >= 0 && plane < to_int(dense.in(0)));
    plane = clamped(plane, dense.in(0));
  }
  Expr channel = r.x;
  if (dense.groups > 1) channel = co * to_int(block) / to_int(per_group) * to_int(in) + r.x;

  Func sum("sum");
  sum(ci, x, y, d, n, co) = 0.0F;
  sum(ci, x, y, d, n, co) += weights(ci, r.x, r.y, r.z, r.w, co) * source(channel, column, row, plane, n);

  const Expr total = sum(c % to_int(block), x, y, d, n, c / to_int(block));
  const Indices at = as_indices(loops);
  Func out = define_output(site, lowering, dense.space, loops,
                           result ? result(at, total) : with_bias(dense, site, lowering, at, total));
  const Extents extents = dense.space.extents();

  const Var xo("xo");
  const Var xi("xi");
  const Var cv("cv");
  const Var cu("cu");
  const bool has_tail = dense.outputs() % block != 0;
  out.split(c, co, ci, to_int(block), has_tail ? TailStrategy::Predicate : TailStrategy::RoundUp)
      .split(x, xo, xi, to_int(tile_x), TailStrategy::ShiftInwards)
      .split(ci, cu, cv, to_int(lanes))
      .vectorize(cv)
      .unroll(cu)
      .unroll(xi);
  const bool rows_outermost = schedule["rows"] != 0;
  if (rows_outermost) {
    out.reorder(cv, cu, xi, xo, co, y, d, n);
    parallelise(out, {n, d, y, co}, {extents[0], extents[1], extents[2], ceil_div(extents[4], block)}, site);
  } else {
    out.reorder(cv, cu, xi, xo, y, d, n, co);
    parallelise(out, {co, n, d, y}, {ceil_div(extents[4], block), extents[0], extents[1], extents[2]}, site);
  }
  const Var su("su");
  const Var sv("sv");
  sum.compute_at(out, xo).bound_extent(ci, to_int(block)).bound_extent(x, to_int(tile_x));
  for (const Var& one : {y, d, n, co}) sum.bound_extent(one, 1);
  sum.split(ci, su, sv, to_int(lanes)).vectorize(sv).unroll(su).unroll(x);
  sum.update()
      .split(ci, su, sv, to_int(lanes))
      .reorder(sv, su, x, r.x, r.y, r.z, r.w, y, d, n, co)
      .vectorize(sv)
      .unroll(su)
      .unroll(x);
  if (schedule["unroll"] > 1) sum.update().unroll(r.x, to_int(schedule["unroll"]));
}

}  // namespace collage::native
