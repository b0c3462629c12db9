// Winograd's minimal filtering of plain tensors: along height, along depth, or both, for kernels of three taps and
// stride 1 there, with any dilation. Vectors hold neighbouring places of a row, whose taps are summed directly.
//
// How: winograd.cpp explains the transforms. Rows that lie a dilation apart are neighbours of one tile. For one tile,
// and all its channels, rows are transformed to points: B^T d B. For each point the sum over channels and over the taps
// of a row is a product [outputs, channels * taps] x [channels * taps, places], where nearly all time goes: `tile_x`
// vectors of places by `tile_c` outputs stay in registers, weights are broadcast. A^T p A gives the rows of the tile.
//
// Example: 3x3x3, dilation 4, tiles of 4 rows in 4 planes: 36 points for 16 rows, so that a place of a row takes 36 * 3
// products for each pair of channels instead of 16 * 27. The tile of row 1 has rows 1, 5, 9, 13, and reads rows -3 to
// 17.
//
// Cost: products fall to (m + 2) / 3 m along each axis that is transformed, for any number of channels and outputs.
// Source: Lavin and Gray, CVPR 2016; in three dimensions Budden et al., ICML 2017.
#include <algorithm>
#include <array>

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
      : dilation(dense.kernel[axis] == 1 ? 1 : dense.dilations[axis]),
        begin(dense.begin[axis]),
        in(dense.in(axis)),
        out(dense.out(axis)) {
    if (dense.kernel[axis] == 1) return;
    m = 2;
    if (most == 4 && points_in(4) < points_in(2)) m = 4;
  }
  [[nodiscard]] std::int64_t points() const { return m == 1 ? 1 : m + 2; }
  [[nodiscard]] std::int64_t tiles() const { return ceil_div(out, m * dilation) * dilation; }
  [[nodiscard]] bool is_filled() const { return out % (m * dilation) == 0; }
  /// The row of the result at this place of the tile: tiles of neighbouring numbers begin at neighbouring rows.
  [[nodiscard]] Expr row(const Expr& tile, const Expr& place) const {
    const Expr first = tile % to_int(dilation) + tile / to_int(dilation) * to_int(m * dilation);
    return first + place * to_int(dilation);
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

/// Of the stages of a tile: places of a row from its padding on; row and plane, as they lie and as points; channels;
/// the tile; the batch; outputs in a block, and blocks of them; rows of the result.
struct TileLoops {
  Var x{"x"}, q{"q"}, p{"p"}, j{"j"}, i{"i"}, c{"c"}, t{"t"}, n{"n"}, ki{"ki"}, ko{"ko"}, y{"y"};
};

/// What is computed for one tile after each other.
struct TileStages {
  Func rows;         ///< of the source that the tile reads, with zeros where they are outside, by (x, q, p, c, t, n)
  Func across;       ///< transformed along height, by (x, j, p, c, t, n)
  Func transformed;  ///< along depth too, by (x, c, j, i, t, n)
  Func sum;          ///< products, in registers
  Func products;     ///< by (x, ki, j, i, ko, t, n)
  Func back;         ///< rows of the result, still transformed along depth, by (x, ki, y, i, ko, t, n)
  RDom inside;       ///< the places of a row that the source has
  RDom taps;         ///< channels, places of a row
};

void define_rows(const Dense& dense, const Planes& planes, const Func& source, const TileLoops& v, TileStages& of) {
  const TiledAxis& height = planes.height;
  const TiledAxis& depth = planes.depth;
  of.rows(v.x, v.q, v.p, v.c, v.t, v.n) = 0.0F;
  const Expr row = height.row(planes.height_tile(v.t), v.q) - to_int(height.begin);
  const Expr plane = depth.row(planes.depth_tile(v.t), v.p) - to_int(depth.begin);
  const Expr is_inside = row >= 0 && row < to_int(height.in) && plane >= 0 && plane < to_int(depth.in);
  const Expr value = source(v.c, of.inside, clamped(row, height.in), clamped(plane, depth.in), v.n);
  of.rows(of.inside + to_int(dense.begin[2]), v.q, v.p, v.c, v.t, v.n) = Halide::select(is_inside, value, 0.0F);
}

TileStages stages_of(const Dense& dense, const Planes& planes, const Func& source, const Func& weights,
                     const TileLoops& v) {
  TileStages of{.rows = Func("rows"),
                .across = Func("across"),
                .transformed = Func("transformed"),
                .sum = Func("sum"),
                .products = Func("products"),
                .back = Func("back"),
                .inside = RDom(0, to_int(dense.in(2)), "inside"),
                .taps = RDom(0, to_int(dense.channels()), 0, to_int(dense.kernel[2]), "r")};
  const TiledAxis& height = planes.height;
  const TiledAxis& depth = planes.depth;
  const auto& [x, q, p, j, i, c, t, n, ki, ko, y] = v;
  define_rows(dense, planes, source, v, of);
  const auto rows = each(height.points(), [&](int at) { return of.rows(v.x, at, v.p, v.c, v.t, v.n); });
  of.across(x, j, p, c, t, n) = Halide::mux(j, winograd_input(height.m, rows));
  const auto planes_of = each(depth.points(), [&](int at) { return of.across(v.x, v.j, at, v.c, v.t, v.n); });
  of.transformed(x, c, j, i, t, n) = Halide::mux(i, winograd_input(depth.m, planes_of));
  const RDom& r = of.taps;
  of.sum(x, ki, j, i, ko, t, n) = 0.0F;
  of.sum(x, ki, j, i, ko, t, n) +=
      weights(ki, r.x, r.y, j, i, ko) * of.transformed(x + r.y * to_int(dense.dilations[2]), r.x, j, i, t, n);
  of.products(x, ki, j, i, ko, t, n) = of.sum(x, ki, j, i, ko, t, n);
  const auto points = each(height.points(), [&](int at) { return of.products(v.x, v.ki, at, v.i, v.ko, v.t, v.n); });
  of.back(x, ki, y, i, ko, t, n) = Halide::mux(y, winograd_output(height.m, points));
  return of;
}

/// The region's output, and the domain of its update: rows and planes of a tile, tiles.
struct WrittenTiles {
  Func func;
  RDom tile;
  std::array<Var, 5> loops;
};

/// Rows of a tile may lie a dilation apart: the result is written tile by tile, not row by row.
WrittenTiles result_of(const Dense& dense, const Planes& planes, const Func& back, int tile_c, const Site& site,
                       Lowering& lowering) {
  const TiledAxis& height = planes.height;
  const TiledAxis& depth = planes.depth;
  RDom tile(0, to_int(height.m), 0, to_int(depth.m), 0, to_int(planes.tiles()), "tile");
  const Expr row = height.row(planes.height_tile(tile.z), tile.x);
  const Expr plane = depth.row(planes.depth_tile(tile.z), tile.y);
  if (!height.is_filled()) tile.where(row < to_int(height.out));
  if (!depth.is_filled()) tile.where(plane < to_int(depth.out));
  const std::array<Var, 5> loops = named_loops<5>();
  const Var& n = loops[0];
  const Var& x = loops[3];
  const Var& k = loops[4];
  const Indices at = {n, clamped(plane, depth.out), clamped(row, height.out), x, k};
  const auto points =
      each(depth.points(), [&](int i) { return back(x, k % tile_c, tile.x, i, k / tile_c, tile.z, n); });
  const Expr total = Halide::mux(tile.y, winograd_output(depth.m, points));
  return {.func = define_output_at(site, lowering, dense.space, {loops.begin(), loops.end()}, at,
                                   with_bias(dense, site, lowering, at, total)),
          .tile = tile,
          .loops = loops};
}

/// `count` equally distant places of the cache, or the next odd number of them: an even number of lines apart, what is
/// read together would take the same places.
int odd(std::int64_t count) { return to_int(count / 2 * 2 + 1); }

void schedule_transforms(const Dense& dense, const WrittenTiles& result, const TileLoops& v, int lanes,
                         TileStages& of) {
  const Var xo("xo"), xi("xi");
  of.transformed.compute_at(result.func, result.tile.z)
      .align_storage(v.c, odd(dense.channels()))
      .split(v.x, xo, xi, lanes, TailStrategy::RoundUp)
      .reorder(xi, v.j, v.i, xo, v.c, v.t, v.n)
      .vectorize(xi)
      .unroll(v.j)
      .unroll(v.i);
  of.across.compute_at(of.transformed, xo).vectorize(v.x, lanes, TailStrategy::RoundUp).unroll(v.j).unroll(v.p);
  of.rows.compute_at(of.transformed, v.c).vectorize(v.x, lanes, TailStrategy::RoundUp);
  of.rows.update().vectorize(of.inside.x, lanes, TailStrategy::GuardWithIf);
}

void schedule_products(const TileLoops& v, int lanes, int tile_x, int tile_c, TileStages& of) {
  const Var xo("xo"), xi("xi"), xu("xu"), xv("xv");
  of.products.align_storage(v.ki, odd(tile_c))
      .bound_extent(v.ki, tile_c)
      .split(v.x, xo, xi, tile_x, TailStrategy::RoundUp)
      .split(xi, xu, xv, lanes)
      .reorder(xv, xu, v.ki, xo, v.ko, v.j, v.i, v.t, v.n)
      .vectorize(xv)
      .unroll(xu)
      .unroll(v.ki);
  of.sum.compute_at(of.products, xo).bound_extent(v.x, tile_x).bound_extent(v.ki, tile_c);
  of.sum.split(v.x, xu, xv, lanes).vectorize(xv).unroll(xu).unroll(v.ki);
  of.sum.update()
      .split(v.x, xu, xv, lanes)
      .reorder(xv, xu, v.ki, of.taps.x, of.taps.y, v.j, v.i, v.ko, v.t, v.n)
      .vectorize(xv)
      .unroll(xu)
      .unroll(v.ki);
}

void build(const Site& site, const Schedule& schedule, Lowering& lowering, std::int64_t most) {
  const Dense dense = *convolution_of(site, plain());
  const Planes planes(dense, most);
  const int down = to_int(planes.height.points());
  const int deep = to_int(planes.depth.points());
  const int lanes = to_int(site.lanes());
  const int tile_c = to_int(schedule["tile_c"]);
  const Packing packing{.kind = PackingKind::kWinogradRows,
                        .numbers = {dense.outputs(), dense.channels(), dense.kernel[0], dense.kernel[1],
                                    dense.kernel[2], planes.depth.m, planes.height.m, tile_c}};
  const Func weights =
      lowering.packed(dense.weights, packing, ElementType::kFloat32,
                      {dense.outputs() / tile_c, deep, down, dense.kernel[2], dense.channels(), tile_c});
  const TileLoops v;
  TileStages of = stages_of(dense, planes, lowering.read(dense.source, dense.view).func, weights, v);
  WrittenTiles result = result_of(dense, planes, of.back, tile_c, site, lowering);

  const Halide::RVar& row = result.tile.x;
  const Halide::RVar& plane = result.tile.y;
  const Halide::RVar& tile = result.tile.z;
  const Var wo("wo"), wi("wi");
  Halide::Stage written = result.func.update();
  written.split(result.loops[4], v.ko, v.ki, tile_c)
      .split(result.loops[3], wo, wi, lanes, TailStrategy::GuardWithIf)
      .reorder(wi, row, plane, wo, v.ki, v.ko, tile, result.loops[0])
      .vectorize(wi)
      .unroll(row)
      .unroll(plane);
  // Tiles write rows of their own.
  if (site.options.threads > 1 && planes.tiles() > 1) written.allow_race_conditions().parallel(tile);
  schedule_transforms(dense, result, v, lanes, of);
  if (schedule["outer"] != 0)
    of.products.compute_at(result.func, v.ko);
  else
    of.products.compute_at(result.func, tile);
  schedule_products(v, lanes, to_int(schedule["tile_x"]) * lanes, tile_c, of);
  of.back.compute_at(result.func, wo).vectorize(v.x, lanes, TailStrategy::RoundUp).unroll(v.y).unroll(v.i);
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

void add_winograd_planes_facts(const Dense& dense, Facts& facts) {
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
