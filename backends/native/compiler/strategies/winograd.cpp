// Winograd's minimal filtering for 3x3 convolutions of stride 1 in channels_last: a tile of m x m results takes (m +
// 2)^2 multiplications instead of 9 m^2, for each input and output channel.
//
// How, in one dimension with m = 2: two results y of four neighbours d and three weights g.
//   d = (1, 2, 3, 5)   g = (2, 1, 4)      directly: y = (1*2 + 2*1 + 3*4, 2*2 + 3*1 + 5*4) = (16, 27), 6 products
//   B^T d = (d0 - d2, d1 + d2, d2 - d1, d1 - d3)                          = (-2, 5, 1, -3)
//   G g   = (g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2)              = (2, 3.5, 2.5, 4)
//   p     = their products, element by element                           = (-4, 17.5, 2.5, -12), 4 products
//   A^T p = (p0 + p1 + p2, p1 - p2 - p3)                                  = (16, 27)
// In two dimensions each transform is applied along rows and then along columns: Y = A^T ((G g G^T) * (B^T d B)) A,
// where * multiplies element by element. A tile of 2 x 2 results reads 4 x 4 neighbours and takes 16 products instead
// of 36; m = 4 takes 36 instead of 144.
//
// The transforms are linear, so products are summed over the input channels before A^T is applied. For each of the (m +
// 2)^2 points that sum is a matrix product [tiles, channels] x [channels, outputs], where nearly all time goes
// (winograd_products.h). Weights G g G^T are computed once, when they are packed (packing.cpp). B^T and A^T are
// computed here for a block of tiles at a time, so that the transformed tiles stay in the second-level cache. Source:
// Lavin and Gray, CVPR 2016; points 0, 1, -1 (m = 2) and 0, 1, -1, 2, -2 (m = 4).
#include <array>

#include "compiler/codegen/loops.h"
#include "compiler/strategies/convolution.h"
#include "compiler/strategies/winograd_products.h"
#include "compiler/strategies/winograd_transform.h"

namespace collage::native {

using Halide::Expr;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

namespace {

/// Shapes of one Winograd convolution.
struct Tiles {
  std::int64_t m, points, across, down;  ///< tile, m + 2, tiles in a row, rows of tiles
  Tiles(const Facts& facts, std::int64_t tile)
      : m(tile),
        points(tile + 2),
        across(ceil_div(facts.find("out_w")->second, tile)),
        down(ceil_div(facts.find("out_h")->second, tile)) {}
};

/// Bytes of the second cache that transformed tiles and their products may take; half as much again is most of it.
constexpr std::int64_t kCacheBytes = std::int64_t{1} << 20;

/// Tiles of a register tile with the least waste in a block.
std::int64_t best_tile_t(std::int64_t most, std::int64_t in_block) {
  std::int64_t best = std::min(most, in_block);
  for (std::int64_t t = best; t > best / 2; --t)
    if (ceil_div(in_block, t) * t < ceil_div(in_block, best) * best) best = t;
  return best;
}

/// Blocks of so many rows and columns of tiles, whatever the map.
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 4> kOpenBlocks = {{{2, 8}, {1, 16}, {1, 8}, {4, 8}}};

std::vector<Schedule> open_space_of(std::int64_t tile_c, std::int64_t most) {
  std::vector<Schedule> schedules;
  for (const auto& [rows, columns] : kOpenBlocks)
    schedules.push_back({{"columns", columns},
                         {"outer", 0},
                         {"rows", rows},
                         {"tile_c", tile_c},
                         {"tile_t", best_tile_t(most, rows * columns)}});
  return schedules;
}

std::vector<Schedule> space_of(const Site& site, const Facts& facts, std::int64_t tile) {
  const Tiles tiles(facts, tile);
  const std::int64_t channels = facts.find("channels")->second;
  const std::int64_t outputs = facts.find("outputs")->second;
  const std::int64_t area = tiles.points * tiles.points;
  const std::int64_t weight_bytes = 4 * area * channels * outputs;
  const std::int64_t row_bytes = 4 * area * (channels + outputs) * tiles.across;
  const std::int64_t tile_c = ceil_div(outputs, site.lanes()) % 2 == 0 ? 2 : 1;
  const std::int64_t most = std::max<std::int64_t>((site.set.registers - 1 - tile_c) / tile_c, 1);
  if (site.is_open) return open_space_of(tile_c, most);
  const auto rows_in = [&](std::int64_t bytes, std::int64_t of_row) {
    return std::clamp<std::int64_t>(bytes / of_row, 1, tiles.down);
  };
  std::vector<Schedule> schedules;
  const auto add = [&](std::int64_t rows, std::int64_t columns, bool by_outputs) {
    const Schedule schedule{{"columns", columns},
                            {"outer", by_outputs ? 1 : 0},
                            {"rows", rows},
                            {"tile_c", tile_c},
                            {"tile_t", best_tile_t(most, rows * columns)}};
    if (std::ranges::find(schedules, schedule) == schedules.end()) schedules.push_back(schedule);
  };
  if (weight_bytes <= kCacheBytes / 2 * 3) {
    // Weights stay; few tiles go through them at a time: the fewest that fill the registers.
    const std::int64_t columns = ceil_div(tiles.across, ceil_div(tiles.across, most));
    const std::int64_t rows = columns < tiles.across ? 1 : std::min(ceil_div(most, columns), tiles.down);
    add(rows, columns, false);
    add(rows, columns, true);
    add(rows_in(kCacheBytes / 2, row_bytes), tiles.across, false);
  } else {
    // Weights pass by: transformed tiles stay, or they are fewer bytes than the weights, which are then read once.
    const std::int64_t source_bytes = 4 * area * channels * tiles.across;
    const std::int64_t few = rows_in(kCacheBytes / 2 * 3, source_bytes);
    add(source_bytes * tiles.down <= weight_bytes ? tiles.down : few, tiles.across, true);
    add(few, tiles.across, true);
    add(rows_in(kCacheBytes, row_bytes), tiles.across, false);
  }
  add(tiles.down, tiles.across, false);
  add(1, tiles.across, false);
  return schedules;
}

void build(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering, std::int64_t tile,
           bool is_fixed = false) {
  const Dense dense = *convolution_of(site);
  const Tiles tiles(facts, tile);
  const int m = to_int(tiles.m);
  const int points = to_int(tiles.points);
  const int in_block = to_int(schedule["rows"]);
  const int columns = to_int(schedule["columns"]);
  const bool by_outputs = schedule["outer"] != 0;
  const std::int64_t lanes = site.lanes();
  const std::int64_t block = schedule["tile_c"] * lanes;
  const std::int64_t channels = dense.channels();
  // Blocks of tiles are computed whole, also where they go past the last row.
  const auto is_even = [&](std::int64_t extent, std::int64_t factor) { return !site.is_open && extent % factor == 0; };
  const bool fills_blocks = is_even(dense.out(1), tile * in_block) && is_even(dense.out(2), tile * columns);
  const Readable given = source_of(dense, lowering);
  const Func source =
      padded_source(dense, given.func, {1, 2}, !fills_blocks, {given.sizes[1], given.sizes[2], given.sizes[3]});

  const auto [n, d, y, x, k] = named_loops<5>();
  const std::vector<Var> loops = {n, d, y, x, k};
  const Var c("c");
  // A tile by its place in a block of `rows` by `columns` tiles, and the block.
  const Var t("t");
  const Var bx("bx");
  const Var by("by");
  const Var i("i");
  const Var j("j");

  // Along rows first (i), then along columns (j).
  Func across_rows("across_rows");
  const Var py("py");
  const auto neighbours = each(points, [&](int p) {
    return source(c, (bx * columns + t % columns) * m + p - to_int(dense.begin[2]), py, 0, n);
  });
  across_rows(c, t, py, i, bx, n) = Halide::mux(i, winograd_input(tile, neighbours));
  Func transformed("transformed");
  const auto rows = each(points, [&](int p) {
    return across_rows(c, t, (by * in_block + t / columns) * m + p - to_int(dense.begin[1]), i, bx, n);
  });
  transformed(c, t, i, j, bx, by, n) = Halide::mux(j, winograd_input(tile, rows));

  const Var ki("ki");
  const Var ko("ko");
  WinogradProducts multiplied(dense, site, lowering, tile, block, is_fixed, transformed);
  Func products = multiplied.func();

  Func back("back");
  const Var x_in("x_in");
  const Var tx("tx");
  const Var ty("ty");
  const Expr in_block_at = ty % in_block * columns + tx % columns;
  const auto along =
      each(points, [&](int p) { return products(ki, in_block_at, p, j, tx / columns, ty / in_block, n, ko); });
  back(ki, tx, ty, x_in, j, n, ko) = Halide::mux(x_in, winograd_output(tile, along));
  const auto down =
      each(points, [&](int p) { return back(k % to_int(block), x / m, y / m, x % m, p, n, k / to_int(block)); });
  const Expr total = Halide::mux(y % m, winograd_output(tile, down));
  Func out =
      define_output(site, lowering, dense.space, loops, with_bias(dense, site, lowering, as_indices(loops), total));
  const Extents extents = dense.space.extents();

  const Var xi("xi");
  const Var yi("yi");
  const Var vector("vector");
  const Var lane("lane");
  const auto tail = [&](std::int64_t extent, std::int64_t factor) {
    return is_even(extent, factor) ? TailStrategy::RoundUp : TailStrategy::GuardWithIf;
  };
  out.split(k, ko, ki, to_int(block), dense.outputs() % block != 0 ? TailStrategy::Predicate : TailStrategy::RoundUp)
      .split(ki, vector, lane, to_int(lanes))
      .split(x, tx, xi, m, tail(extents[3], m))
      .split(tx, bx, tx, columns, tail(tiles.across, columns))
      .split(y, ty, yi, m, tail(extents[2], m))
      .split(ty, by, ty, in_block, tail(tiles.down, in_block));
  if (by_outputs)
    out.reorder(lane, vector, xi, yi, tx, ty, ko, bx, by, d, n);
  else
    out.reorder(lane, vector, xi, yi, ko, tx, ty, bx, by, d, n);
  out.vectorize(lane).unroll(vector).unroll(xi).unroll(yi);
  const Var block_loop = parallelise(
      out, {n, by, bx}, {extents[0], ceil_div(tiles.down, in_block), ceil_div(tiles.across, columns)}, site);

  const int in_all = in_block * columns;
  transformed.compute_at(out, block_loop).bound(t, 0, in_all).bound_extent(bx, 1).bound_extent(by, 1);
  // What a tile writes lies an odd number of cache lines apart: the same places of the cache would take it all.
  const int odd = in_all / 2 * 2 + 1;
  const int of_channels = to_int(channel_lanes(dense, lanes));
  const int line = 16;
  transformed.align_storage(c, to_int(channels) + (channels / line % 2 == 0 ? line : 0)).align_storage(t, odd);
  transformed.split(t, ty, tx, columns)
      .split(c, vector, lane, of_channels)
      .reorder(lane, i, j, vector, tx, ty)
      .vectorize(lane)
      .unroll(i)
      .unroll(j);
  across_rows.compute_at(transformed, vector).vectorize(c, of_channels).unroll(i).unroll(py);

  products.compute_at(out, by_outputs ? ko : block_loop).bound(t, 0, in_all).bound_extent(bx, 1).bound_extent(by, 1);
  products.align_storage(t, odd);
  multiplied.schedule({.out = out, .loop = block_loop, .tiles = in_all}, schedule["tile_t"]);
  back.compute_at(out, by_outputs ? tx : ko)
      .bound_extent(tx, 1)
      .bound_extent(ty, 1)
      .bound_extent(x_in, m)
      .bound_extent(j, points)
      .split(ki, vector, lane, to_int(lanes))
      .vectorize(lane)
      .unroll(vector)
      .unroll(x_in)
      .unroll(j);
}

}  // namespace

std::vector<Schedule> winograd_2_space(const Site& site, const Facts& facts) { return space_of(site, facts, 2); }
std::vector<Schedule> winograd_4_space(const Site& site, const Facts& facts) { return space_of(site, facts, 4); }

void build_winograd_2(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering) {
  build(site, facts, schedule, lowering, 2);
}
void build_winograd_4(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering) {
  build(site, facts, schedule, lowering, 4);
}
void build_winograd_2_fixed(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering) {
  build(site, facts, schedule, lowering, 2, true);
}
void build_winograd_4_fixed(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering) {
  build(site, facts, schedule, lowering, 4, true);
}

}  // namespace collage::native
