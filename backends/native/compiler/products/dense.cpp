#include "compiler/products/dense.h"

#include <algorithm>
#include <numeric>

#include "compiler/codegen/loops.h"

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

/// Lanes of one vector of outputs: as many as the register has, fewer where a group ends before.
std::int64_t lanes_of(const Dense& dense, const Site& site) {
  std::int64_t lanes = site.lanes();
  while (dense.groups > 1 && dense.group_outputs() % lanes != 0) lanes /= 2;
  return lanes;
}

Expr extent_along(const Dense& dense, const Inside& inside, std::size_t axis) {
  return inside.at(axis).defined() ? inside.at(axis) : Expr(to_int(dense.in(axis)));
}

/// Weights that do not stay in the second cache should be read once for many places.
constexpr std::int64_t kWeightsInCache = std::int64_t{1} << 20;
/// At most so many tiles are offered.
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
                 {"group_vectors", ceil_div(dense.group_outputs(), lanes_of(dense, site))},
                 {"taps", dense.taps()},
                 {"channel_stride", dense.view.strides[4]},
                 {"lanes", site.lanes()},
                 {"channel_pairs", ceil_div(dense.channels(), 2)},
                 {"bf16", narrow_element_of(site) == ElementType::kBfloat16 ? 1 : 0},
                 {"f16", narrow_element_of(site) == ElementType::kFloat16 ? 1 : 0}};
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

std::int64_t channel_lanes(const Dense& dense, std::int64_t most) { return std::gcd(dense.channels(), most); }

Expr source_place(const Dense& dense, const Expr& at, const Expr& tap, std::size_t axis) {
  return at * to_int(dense.strides[axis]) + tap * to_int(dense.dilations[axis]) - to_int(dense.begin[axis]);
}

InsideSource inside_source(const Dense& dense, const std::array<Expr, 3>& place) {
  InsideSource inside{.at = place, .is_inside = Halide::Internal::const_true()};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!dense.is_padded(axis)) continue;
    inside.is_inside = inside.is_inside && place.at(axis) >= 0 && place.at(axis) < to_int(dense.in(axis));
    inside.at.at(axis) = clamped(place.at(axis), dense.in(axis));
  }
  return inside;
}

std::vector<Schedule> dense_space(const Dense& dense, const Site& site) {
  struct Rated {
    double cost;
    std::int64_t tile_x, tile_c;
  };
  std::vector<Rated> rated;
  const std::int64_t lanes = lanes_of(dense, site);
  const std::int64_t width = dense.out(2);
  const std::int64_t vectors = ceil_div(dense.group_outputs(), lanes);
  const std::int64_t in = dense.group_channels();

  const std::int64_t weight_bytes = 4 * dense.taps() * in * dense.outputs();
  for (std::int64_t tile_c = 1; tile_c <= std::min<std::int64_t>(vectors, 6); ++tile_c) {
    if (dense.groups > 1 && dense.group_outputs() % (tile_c * lanes) != 0) continue;
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

std::vector<Schedule> register_tiles(std::int64_t places, std::int64_t most_x, std::int64_t outputs, const Site& site) {
  struct Rated {
    double cost;
    std::int64_t tile_x, tile_c;
  };
  std::vector<Rated> rated;
  for (std::int64_t tile_c = 1; tile_c <= std::min<std::int64_t>(outputs, 8); ++tile_c) {
    if (outputs % tile_c != 0) continue;
    for (std::int64_t tile_x = 1; tile_x <= most_x; ++tile_x) {
      if (tile_x * tile_c + std::min(tile_x, tile_c) + 1 > site.set.registers) break;
      const auto tiles = static_cast<double>(ceil_div(places, tile_x) * (outputs / tile_c));
      rated.push_back({tiles * (1 + tile_cost(tile_x, tile_c, false)), tile_x, tile_c});
    }
  }
  std::ranges::stable_sort(rated, {}, &Rated::cost);
  std::vector<Schedule> schedules;
  for (const Rated& one : rated)
    for (const std::int64_t rows : {0, 1})
      if (schedules.size() < kMostTiles)
        schedules.push_back({{"tile_x", one.tile_x}, {"tile_c", one.tile_c}, {"rows", rows}});
  return schedules;
}

Readable source_of(const Dense& dense, Lowering& lowering) {
  // The view of a closed source may say strides where it has one place only.
  return lowering.is_open() ? lowering.read(dense.source, dense.source_space) : lowering.read(dense.source, dense.view);
}

Func padded_source(const Dense& dense, const Func& source, const std::vector<std::size_t>& axes, bool always,
                   const Inside& inside) {
  Halide::Region bounds(5, Halide::Range(Expr(), Expr()));
  bool is_padded = false;
  for (const std::size_t axis : axes) {
    if (!always && !dense.is_padded(axis)) continue;
    bounds[3 - axis] = Halide::Range(0, extent_along(dense, inside, axis));
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

Readable weights_of(const Dense& dense, const Site& site, Lowering& lowering) {
  const Extents extents = site.extents(dense.weights);
  const Extents strides = strides_of(extents, lowering.format_of(dense.weights));
  View view{.extents = {extents[0], extents[1], 1, 1, 1}, .strides = {strides[0], strides[1], 0, 0, 0}};
  for (std::size_t i = 2; i < extents.size(); ++i) {
    view.extents[5 - extents.size() + i] = extents[i];
    view.strides[5 - extents.size() + i] = strides[i];
  }
  for (std::size_t i = 0; i < view.extents.size(); ++i)
    if (view.extents[i] == 1) view.strides[i] = 0;
  return lowering.read(dense.weights, view);
}

Func panels_of(const Dense& dense, const Site& site, Lowering& lowering, std::int64_t block, std::int64_t per) {
  const std::int64_t in = dense.group_channels();
  const std::int64_t lanes = dense.outputs() / per;
  const auto& kernel = dense.kernel;
  const Extents extents = {ceil_div(lanes, block), kernel[0], kernel[1], kernel[2], per * in, block};
  if (constant_of(site.graph, dense.weights) != nullptr)
    return lowering.packed(
        dense.weights,
        {.kind = panels_in(dense.weight_type),
         .numbers = {lanes, dense.taps(), per * in, per * dense.out_stride, dense.tap_stride, dense.in_stride, block}},
        dense.weight_type, extents);
  const Readable given = weights_of(dense, site, lowering);
  const std::vector<Var> loops = loop_variables(6);
  const Expr lane = clamped(loops[0] * to_int(block) + loops[5], lanes);
  const Expr output = lane * to_int(per) + loops[4] / to_int(in);
  Func panels("panels");
  panels(innermost_first(loops)) = given({output, loops[4] % to_int(in), loops[1], loops[2], loops[3]});
  panels.compute_root();
  for (std::size_t i = 0; i < extents.size(); ++i) panels.bound_extent(loops[i], to_int(extents[i]));
  return panels;
}

Taps taps_of(const Dense& dense, const Var& x, const Var& y, const Var& d, const Inside& inside) {
  const auto& kernel = dense.kernel;
  Taps taps{.r = RDom(0, to_int(dense.group_channels()), 0, to_int(kernel[2]), 0, to_int(kernel[1]), 0,
                      to_int(kernel[0]), "r")};
  taps.column = source_place(dense, x, taps.r.y, 2);
  taps.row = source_place(dense, y, taps.r.z, 1);
  taps.plane = source_place(dense, d, taps.r.w, 0);
  // Taps outside the source are left out of the loop; the clamp is for Halide's eyes.
  if (dense.is_padded(1)) {
    const Expr height = extent_along(dense, inside, 1);
    taps.r.where(taps.row >= 0 && taps.row < height);
    taps.row = clamped(taps.row, height);
  }
  if (dense.is_padded(0)) {
    const Expr depth = extent_along(dense, inside, 0);
    taps.r.where(taps.plane >= 0 && taps.plane < depth);
    taps.plane = clamped(taps.plane, depth);
  }
  return taps;
}

namespace {

/// The source, its last column for all that are past it.
Func repeated_edge(const Readable& source, const Inside& inside) {
  Halide::Region bounds(5, Halide::Range(Expr(), Expr()));
  bounds[1] = Halide::Range(0, inside[2]);
  return Halide::BoundaryConditions::repeat_edge(source.func, bounds);
}

}  // namespace

void build_dense(const Dense& dense, const Site& site, const Schedule& schedule, Lowering& lowering,
                 const ResultOf& result) {
  const std::int64_t lanes = lanes_of(dense, site);
  const std::int64_t tile_x = schedule["tile_x"];
  const std::int64_t block = schedule["tile_c"] * lanes;
  const std::int64_t in = dense.group_channels();

  const Readable given = source_of(dense, lowering);
  const Inside inside = {given.sizes[1], given.sizes[2], given.sizes[3]};
  const TailStrategy tail = lowering.tail(dense.space, 3, tile_x, TailStrategy::GuardWithIf);
  Func source = padded_source(dense, given.func, {2}, false, inside);
  // The last tile has positions beyond the result, which read other valid memory.
  if (tail == TailStrategy::GuardWithIf && !dense.is_padded(2)) source = repeated_edge(given, inside);
  const Func weights = panels_of(dense, site, lowering, block);
  const auto [n, d, y, x, c] = named_loops<5>();
  const std::vector<Var> loops = {n, d, y, x, c};
  const Var ci("ci");
  const Var co("co");
  const auto [r, column, row, plane] = taps_of(dense, x, y, d, inside);
  Expr channel = r.x;
  if (dense.groups > 1) channel = co * to_int(block) / to_int(dense.group_outputs()) * to_int(in) + r.x;

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
      .split(x, xo, xi, to_int(tile_x), tail)
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

Var schedule_sum_tiles(const Dense& dense, const Site& site, const Schedule& schedule, Func out, Func sum,
                       std::int64_t places) {
  const std::int64_t lanes = site.lanes();
  const std::int64_t block = schedule["tile_c"] * lanes;
  const std::int64_t tile_x = schedule["tile_x"];
  const auto [n, d, y, x, c] = named_loops<5>();
  const Extents extents = dense.space.extents();
  const Var ci("ci"), co("co"), xb("xb"), xt("xt"), xo("xo"), xi("xi"), cv("cv"), cu("cu"), su("su"), sv("sv");
  const bool has_tail = dense.outputs() % block != 0;
  if (places > 0) out.split(x, xb, xt, to_int(places), TailStrategy::ShiftInwards);
  out.split(c, co, ci, to_int(block), has_tail ? TailStrategy::Predicate : TailStrategy::RoundUp)
      .split(places > 0 ? xt : x, xo, xi, to_int(tile_x), TailStrategy::ShiftInwards)
      .split(ci, cu, cv, to_int(lanes))
      .vectorize(cv)
      .unroll(cu)
      .unroll(xi);
  if (places > 0) {
    out.reorder(cv, cu, xi, xo, co, xb, y, d, n);
  } else if (schedule["rows"] != 0) {
    out.reorder(cv, cu, xi, xo, co, y, d, n);
    parallelise(out, {n, d, y, co}, {extents[0], extents[1], extents[2], ceil_div(extents[4], block)}, site);
  } else {
    out.reorder(cv, cu, xi, xo, y, d, n, co);
    parallelise(out, {co, n, d, y}, {ceil_div(extents[4], block), extents[0], extents[1], extents[2]}, site);
  }
  sum.compute_at(out, xo).bound_extent(ci, to_int(block)).bound_extent(x, to_int(tile_x));
  for (const Var& one : {y, d, n, co}) sum.bound_extent(one, 1);
  sum.split(ci, su, sv, to_int(lanes)).vectorize(sv).unroll(su).unroll(x);
  return xb;
}

void schedule_group_updates(const Site& site, const Schedule& schedule, Func sum, const RDom& taps) {
  const auto [n, d, y, x, c] = named_loops<5>();
  const Var ci("ci"), co("co"), su("su"), sv("sv");
  sum.update()
      .split(ci, su, sv, to_int(site.lanes()))
      .reorder(taps[0], sv, su, x, taps[1], taps[2], taps[3], taps[4], y, d, n, co)
      .atomic()
      .vectorize(taps[0])
      .vectorize(sv)
      .unroll(su)
      .unroll(x);
  if (schedule["unroll"] > 1) sum.update().unroll(taps[1], to_int(schedule["unroll"]));
}

void schedule_grouped_sums(const Dense& dense, const Site& site, const Schedule& schedule, const Func& out,
                           const Func& sum, const RDom& taps) {
  schedule_sum_tiles(dense, site, schedule, out, sum);
  schedule_group_updates(site, schedule, sum, taps);
}

}  // namespace collage::native
