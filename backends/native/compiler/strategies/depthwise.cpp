// Depthwise convolution in channels_last: one multiply-add per tap on vectors of channels.
#include "compiler/codegen/loops.h"
#include "compiler/strategies/convolution.h"

namespace collage::native {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

namespace {

/// Places of a row that are computed at once: a divisor of the row near `most`, else `most`.
std::int64_t tile_of(std::int64_t width, std::int64_t most) {
  for (std::int64_t tile = std::min(most, width); tile > most / 2; --tile)
    if (width % tile == 0) return tile;
  return std::min(most, width);
}

/// Windows with more taps are summed row by row: written out at once their factors do not fit the registers.
constexpr std::int64_t kMostWrittenOut = 16;

bool sums_by_rows(std::int64_t taps, std::int64_t channels, std::int64_t lanes) {
  return taps > kMostWrittenOut && channels % lanes == 0;
}

/// Of the taps of one row of the window.
Expr products_of_row(const Dense& dense, const Depthwise& parts, const Expr& row, const Expr& plane) {
  const auto [n, d, y, x, c] = named_loops<5>();
  const Expr source_y = source_place(dense, y, row, 1);
  const Expr source_d = source_place(dense, d, plane, 0);
  Expr sum;
  for (int tap = 0; tap < to_int(dense.kernel[2]); ++tap) {
    const Expr product =
        parts.weights(c, tap, row, plane) * parts.source(c, source_place(dense, x, tap, 2), source_y, source_d, n);
    sum = sum.defined() ? sum + product : product;
  }
  return sum;
}

Expr products_of_window(const Dense& dense, const Depthwise& parts) {
  Expr sum;
  for (int plane = 0; plane < to_int(dense.kernel[0]); ++plane)
    for (int row = 0; row < to_int(dense.kernel[1]); ++row) {
      const Expr products = products_of_row(dense, parts, row, plane);
      sum = sum.defined() ? sum + products : products;
    }
  return sum;
}

}  // namespace

std::vector<Schedule> depthwise_space(const Site& site, const Facts& facts) {
  const auto fact = [&](std::string_view name) { return facts.find(name)->second; };
  const std::int64_t width = fact("out_w");
  // Inputs of neighbouring places stay in registers: fewer places when each has many taps.
  const bool has_rows = sums_by_rows(fact("taps"), fact("channels"), site.lanes());
  const std::int64_t most = fact("taps") <= 9 || has_rows ? 14 : 7;
  const std::int64_t wide = tile_of(width, most);
  const std::int64_t narrow = tile_of(width, 7);
  // A plane of one vector of channels that stays in the first caches is best done block by block of channels.
  const bool is_small = fact("out_h") * width * site.lanes() * 4 <= (std::int64_t{64} << 10);
  const Schedule by_blocks{{"tile_x", wide}, {"tile_y", 1}, {"blocks", 1}};
  const Schedule two_rows{{"tile_x", narrow}, {"tile_y", 2}, {"blocks", 0}};
  const Schedule by_rows{{"tile_x", narrow}, {"tile_y", 1}, {"blocks", 0}};
  const Schedule narrow_blocks{{"tile_x", narrow}, {"tile_y", 1}, {"blocks", 1}};
  std::vector<Schedule> schedules;
  if (fact("stride_w") > 1)
    schedules = {by_rows, narrow_blocks, two_rows, by_blocks};
  else if (is_small)
    schedules = {by_blocks, two_rows, by_rows, narrow_blocks};
  else
    schedules = {two_rows, by_blocks, by_rows, narrow_blocks};
  return schedules;
}

Func depthwise_weights(const Dense& dense, Lowering& lowering) {
  const auto& kernel = dense.kernel;
  const std::int64_t channels = dense.channels();
  // One output for each group, so a panel of `channels` outputs is the taps with channels innermost.
  return lowering.packed(
      dense.weights,
      {.kind = PackingKind::kPanels,
       .numbers = {channels, dense.taps(), 1, dense.out_stride, dense.tap_stride, dense.in_stride, channels}},
      ElementType::kFloat32, {kernel[0], kernel[1], kernel[2], channels});
}

void build_depthwise(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  const Dense dense = *convolution_of(site);
  const auto result = [&](const Indices& at, const Expr& sum) { return with_bias(dense, site, lowering, at, sum); };
  const Depthwise parts{.source = padded_source(dense, lowering.read(dense.source, dense.view).func, {0, 1, 2}),
                        .weights = depthwise_weights(dense, lowering),
                        .result = result};
  build_depthwise(dense, parts, site, schedule, lowering);
}

void build_depthwise(const Dense& dense, const Depthwise& parts, const Site& site, const Schedule& schedule,
                     Lowering& lowering) {
  const std::int64_t lanes = site.lanes();
  const std::int64_t channels = dense.channels();
  const auto [n, d, y, x, c] = named_loops<5>();
  const std::vector<Var> loops = {n, d, y, x, c};
  const bool has_rows = sums_by_rows(dense.taps(), channels, lanes);
  const RDom rows(0, to_int(dense.kernel[1]), 0, to_int(dense.kernel[0]), "rows");
  Func sums("sums");
  if (has_rows) {
    const Expr products = products_of_row(dense, parts, rows.x, rows.y);
    sums(c, x, y, d, n) = Halide::cast(products.type(), 0);
    sums(c, x, y, d, n) += products;
  }
  const Expr sum = has_rows ? sums(c, x, y, d, n) : products_of_window(dense, parts);
  Func out = define_output(site, lowering, dense.space, loops, parts.result(as_indices(loops), sum));
  const Extents extents = dense.space.extents();

  const Var co("co");
  const Var ci("ci");
  const Var xo("xo");
  const Var xi("xi");
  const Var yo("yo");
  const Var yi("yi");
  const bool has_tail = channels % lanes != 0;
  std::int64_t tile_y = std::min(schedule["tile_y"], extents[2]);
  // Sums are of whole tiles: a tile past the last row would read past the source.
  if (has_rows && extents[2] % tile_y != 0) tile_y = 1;
  out.split(c, co, ci, to_int(lanes), has_tail ? TailStrategy::Predicate : TailStrategy::RoundUp)
      .split(x, xo, xi, to_int(schedule["tile_x"]), TailStrategy::ShiftInwards)
      .split(y, yo, yi, to_int(tile_y), tail_of_pieces(site))
      .vectorize(ci)
      .unroll(xi)
      .unroll(yi);
  const std::int64_t strips = ceil_div(extents[2], tile_y);
  if (schedule["blocks"] != 0) {
    out.reorder(ci, xi, yi, xo, yo, d, n, co);
    parallelise(out, {co, n, d, yo}, {ceil_div(channels, lanes), extents[0], extents[1], strips}, site);
  } else {
    out.reorder(ci, xi, yi, co, xo, yo, d, n);
    parallelise(out, {n, d, yo}, {extents[0], extents[1], strips}, site);
  }
  if (!has_rows) return;
  const Var around = schedule["blocks"] != 0 ? xo : co;
  sums.compute_at(out, around).bound_extent(x, to_int(schedule["tile_x"])).bound_extent(y, to_int(tile_y));
  sums.bound_extent(n, 1).bound_extent(d, 1).vectorize(c, to_int(lanes)).unroll(x).unroll(y);
  sums.update().reorder(c, x, y, rows.x, rows.y).vectorize(c, to_int(lanes)).unroll(x).unroll(y);
}

}  // namespace collage::native
