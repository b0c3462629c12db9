// Winograd's minimal filtering of plain tensors: along height, along depth, or both, for kernels of three taps and
// stride 1 there, with any dilation. Vectors hold neighbouring places of a row, whose taps are summed directly. How:
// winograd.cpp explains the transforms. Rows that lie a dilation apart are neighbours of one tile. For one tile, and
//       all its channels, rows are transformed to points: B^T d B. For each point the sum over channels and over the
//       taps of a row is a product [outputs, channels * taps] x [channels * taps, places], where nearly all time goes:
//       `tile_x` vectors of places by `tile_c` outputs stay in registers, weights are broadcast. A^T p A gives the
//       tile's rows.
// Example: 3x3x3, dilation 4, tiles of 4 rows in 4 planes: 36 points for 16 rows, 36 * 3 products for each place of a
// row
//       and pair of channels instead of 16 * 27. The tile of row 1 has rows 1, 5, 9, 13, and reads 1 - 4 ... 17.
// Cost: products fall to (m + 2) / 3 m along each axis that is transformed. Takes any number of channels and outputs.
// Source: Lavin and Gray, CVPR 2016; in three dimensions Budden et al., ICML 2017.
#include <algorithm>

#include "compiler/codegen/loops.h"
#include "compiler/strategies/convolution.h"
#include "compiler/strategies/winograd_transform.h"

namespace collage::native {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

namespace {

/// Rows or planes in tiles: one axis.
struct TiledAxis {
  std::int64_t m = 1;  ///< results of a tile; 1: not transformed
  std::int64_t dilation, begin, in, out;

  TiledAxis(const Dense& dense, std::size_t axis, std::int64_t most)
      : dilation(dense.dilations[axis]), begin(dense.begin[axis]), in(dense.in(axis)), out(dense.out(axis)) {
    if (dense.kernel[axis] == 1) return;
    m = 2;
    if (most == 4 && points_in(4) < points_in(2)) m = 4;
  }
  [[nodiscard]] std::int64_t points() const { return m == 1 ? 1 : m + 2; }
  [[nodiscard]] std::int64_t tiles() const { return ceil_div(out, m * dilation) * dilation; }
  [[nodiscard]] bool is_filled() const { return out % (m * dilation) == 0; }
  /// The row of the result at this place of the tile.
  [[nodiscard]] Expr row(const Expr& tile, const Expr& place) const {
    const Expr last = tile % to_int(dilation) + tile / to_int(dilation) * to_int(m * dilation);
    return last + place * to_int(dilation);
  }

 private:
  [[nodiscard]] std::int64_t points_in(std::int64_t tile) const { return ceil_div(out, tile * dilation) * (tile + 2); }
};

struct Planes {
  TiledAxis depth, height;
  Planes(const Dense& dense, std::int64_t most) : depth(dense, 0, most), height(dense, 1, most) {}
  [[nodiscard]] std::int64_t tiles() const { return depth.tiles() * height.tiles(); }
  [[nodiscard]] Expr depth_tile(const Expr& tile) const { return tile / to_int(height.tiles()); }
  [[nodiscard]] Expr height_tile(const Expr& tile) const { return tile % to_int(height.tiles()); }
};

/// Rows of the source that a tile reads, by (x, row, plane, channel, tile, batch), with zeros where they are outside
/// and before their first place: x counts from the padding.
struct Rows {
  Func func;
  RDom inside;  ///< the places that the source has
};

Rows rows_of(const Dense& dense, const Planes& planes, const Func& source, const std::vector<Var>& loops) {
  const Var& q = loops[1];
  const Var& p = loops[2];
  const Var& c = loops[3];
  const Var& t = loops[4];
  const Var& n = loops[5];
  Rows rows{.func = Func("rows"), .inside = RDom(0, to_int(dense.in(2)), "inside")};
  rows.func(loops) = 0.0F;
  const Expr row = planes.height.row(planes.height_tile(t), q) - to_int(planes.height.begin);
  const Expr plane = planes.depth.row(planes.depth_tile(t), p) - to_int(planes.depth.begin);
  const Expr is_inside = row >= 0 && row < to_int(planes.height.in) && plane >= 0 && plane < to_int(planes.depth.in);
  const Expr value = source(c, rows.inside, clamped(row, planes.height.in), clamped(plane, planes.depth.in), n);
  rows.func(rows.inside + to_int(dense.begin[2]), q, p, c, t, n) = Halide::select(is_inside, value, 0.0F);
  return rows;
}

/// `count` equally distant places of the cache, or the next odd number of them: an even number of lines apart, what is
/// read together would take the same places.
int odd(std::int64_t count) { return to_int(count / 2 * 2 + 1); }

/// One expression for each of `count` places of a tile.
template <class At>
std::vector<Expr> each(std::int64_t count, const At& at) {
  std::vector<Expr> all;
  for (int i = 0; i < to_int(count); ++i) all.push_back(at(i));
  return all;
}

/// What is computed for one tile after each other.
struct Stages {
  Rows rows;
  Func across;       ///< transformed along height, by (x, j, plane, channel, tile, batch)
  Func transformed;  ///< along depth too, by (x, channel, j, i, tile, batch)
  Func sum;          ///< products, in registers
  Func products;     ///< by (x, output in block, j, i, block, tile, batch)
  Func back;         ///< rows of the result, still transformed along depth
  RDom taps;         ///< channels, places of a row
};
const Var x("x"), q("q"), p("p"), c("c"), t("t"), n("n"), j("j"), i("i"), ki("ki"), ko("ko"), y("y");

Stages stages_of(const Dense& dense, const Planes& planes, const Func& source, const Func& weights) {
  Stages of{.rows = rows_of(dense, planes, source, {x, q, p, c, t, n}),
            .across = Func("across"),
            .transformed = Func("transformed"),
            .sum = Func("sum"),
            .products = Func("products"),
            .back = Func("back"),
            .taps = RDom(0, to_int(dense.channels()), 0, to_int(dense.kernel[2]), "r")};
  const TiledAxis& height = planes.height;
  const TiledAxis& depth = planes.depth;
  of.across(x, j, p, c, t, n) = Halide::mux(
      j, winograd_input(height.m, each(height.points(), [&](int at) { return of.rows.func(x, at, p, c, t, n); })));
  of.transformed(x, c, j, i, t, n) = Halide::mux(
      i, winograd_input(depth.m, each(depth.points(), [&](int at) { return of.across(x, j, at, c, t, n); })));
  const RDom& r = of.taps;
  of.sum(x, ki, j, i, ko, t, n) = 0.0F;
  of.sum(x, ki, j, i, ko, t, n) +=
      weights(ki, r.x, r.y, j, i, ko) * of.transformed(x + r.y * to_int(dense.dilations[2]), r.x, j, i, t, n);
  of.products(x, ki, j, i, ko, t, n) = of.sum(x, ki, j, i, ko, t, n);
  of.back(x, ki, y, i, ko, t, n) = Halide::mux(
      y, winograd_output(height.m, each(height.points(), [&](int at) { return of.products(x, ki, at, i, ko, t, n); })));
  return of;
}

void build(const Site& site, const Schedule& schedule, Lowering& lowering, std::int64_t most) {
  const Dense dense = *convolution_of(site, plain());
  const Planes planes(dense, most);
  const TiledAxis& height = planes.height;
  const TiledAxis& depth = planes.depth;
  const int lanes = to_int(site.lanes());
  const int tile_c = to_int(schedule["tile_c"]);
  const int tile_x = to_int(schedule["tile_x"]) * lanes;
  const Func weights = lowering.packed(
      dense.weights,
      {.kind = PackingKind::kWinogradRows,
       .numbers = {dense.outputs(), dense.channels(), dense.kernel[0], dense.kernel[1], dense.kernel[2], depth.m,
                   height.m, tile_c}},
      ElementType::kFloat32,
      {dense.outputs() / tile_c, depth.points(), height.points(), dense.kernel[2], dense.channels(), tile_c});
  Stages of = stages_of(dense, planes, lowering.read(dense.source, dense.view).func, weights);

  // Rows of a tile may lie a dilation apart: the result is written tile by tile, not row by row.
  RDom tile(0, to_int(height.m), 0, to_int(depth.m), 0, to_int(planes.tiles()), "tile");
  Expr row = height.row(planes.height_tile(tile.z), tile.x);
  Expr plane = depth.row(planes.depth_tile(tile.z), tile.y);
  if (!height.is_filled()) tile.where(row < to_int(height.out));
  if (!depth.is_filled()) tile.where(plane < to_int(depth.out));
  const auto [batch, d, h, w, k] = named_loops<5>();
  const Indices at = {batch, clamped(plane, depth.out), clamped(row, height.out), w, k};
  const Expr total =
      Halide::mux(tile.y, winograd_output(depth.m, each(depth.points(), [&](int point) {
                                            return of.back(w, k % tile_c, tile.x, point, k / tile_c, tile.z, batch);
                                          })));
  Func out = define_output_at(site, lowering, dense.space, {batch, d, h, w, k}, at,
                              with_bias(dense, site, lowering, at, total));

  const Var wo("wo"), wi("wi"), xo("xo"), xi("xi"), xu("xu"), xv("xv");
  Halide::Stage written = out.update();
  written.split(k, ko, ki, tile_c)
      .split(w, wo, wi, lanes, TailStrategy::GuardWithIf)
      .reorder(wi, tile.x, tile.y, wo, ki, ko, tile.z, batch)
      .vectorize(wi)
      .unroll(tile.x)
      .unroll(tile.y);
  // Tiles write rows of their own.
  if (site.options.threads > 1 && planes.tiles() > 1) written.allow_race_conditions().parallel(tile.z);

  of.transformed.compute_at(out, tile.z).align_storage(c, odd(dense.channels()));
  of.transformed.split(x, xo, xi, lanes, TailStrategy::RoundUp)
      .reorder(xi, j, i, xo, c, t, n)
      .vectorize(xi)
      .unroll(j)
      .unroll(i);
  of.across.compute_at(of.transformed, xo).vectorize(x, lanes, TailStrategy::RoundUp).unroll(j).unroll(p);
  of.rows.func.compute_at(of.transformed, c).vectorize(x, lanes, TailStrategy::RoundUp);
  of.rows.func.update().vectorize(of.rows.inside.x, lanes, TailStrategy::GuardWithIf);

  if (schedule["outer"] != 0)
    of.products.compute_at(out, ko);
  else
    of.products.compute_at(out, tile.z);
  of.products.align_storage(ki, odd(tile_c))
      .bound_extent(ki, tile_c)
      .split(x, xo, xi, tile_x, TailStrategy::RoundUp)
      .split(xi, xu, xv, lanes)
      .reorder(xv, xu, ki, xo, ko, j, i, t, n)
      .vectorize(xv)
      .unroll(xu)
      .unroll(ki);
  of.sum.compute_at(of.products, xo).bound_extent(x, tile_x).bound_extent(ki, tile_c);
  of.sum.split(x, xu, xv, lanes).vectorize(xv).unroll(xu).unroll(ki);
  of.sum.update()
      .split(x, xu, xv, lanes)
      .reorder(xv, xu, ki, of.taps.x, of.taps.y, j, i, ko, t, n)
      .vectorize(xv)
      .unroll(xu)
      .unroll(ki);
  of.back.compute_at(out, wo).vectorize(x, lanes, TailStrategy::RoundUp).unroll(y).unroll(i);
}

/// Products saved of those of a direct convolution, in percent; 0 where there is no such form.
std::int64_t saving_of(const Dense& dense, std::int64_t most) {
  std::int64_t direct = 1;
  std::int64_t transformed = 1;
  for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
    const bool is_tap = dense.kernel[axis] == 1 && !dense.is_padded(axis);
    if (dense.strides[axis] != 1 || (dense.kernel[axis] != 3 && !is_tap)) return 0;
    const TiledAxis tiled(dense, axis, most);
    direct *= tiled.out * dense.kernel[axis];
    transformed *= tiled.tiles() * tiled.points();
  }
  return std::max<std::int64_t>(100 - 100 * transformed / direct, 0);
}

}  // namespace

void add_winograd_planes_facts(const Site& site, Facts& facts) {
  const Dense dense = *convolution_of(site, plain());
  facts["planes2_saving"] = saving_of(dense, 2);
  facts["planes4_saving"] = saving_of(dense, 4);
}

std::vector<Schedule> winograd_planes_space(const Site& site, const Facts&) {
  const Dense dense = *convolution_of(site, plain());
  const std::int64_t vectors = ceil_div(dense.out(2), site.lanes());
  const std::int64_t most = std::clamp<std::int64_t>(dense.out(2) / site.lanes(), 1, 6);
  std::vector<Schedule> schedules;
  for (const Schedule& tile : register_tiles(vectors, most, dense.outputs(), site))
    schedules.push_back({{"outer", 1 - tile["rows"]}, {"tile_c", tile["tile_c"]}, {"tile_x", tile["tile_x"]}});
  return schedules;
}

void build_winograd_planes_2(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  build(site, schedule, lowering, 2);
}
void build_winograd_planes_4(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  build(site, schedule, lowering, 4);
}

}  // namespace collage::native
