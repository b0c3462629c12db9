#include "compiler/products/fixed_point.h"

#include <algorithm>

#include "compiler/codegen/loops.h"

namespace collage::native {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace {

/// Products in one sum of integers: more leave fewer bits for each.
constexpr std::int64_t kMostTerms = 512;
/// Of an input's magnitude. In short sums there is room for more.
constexpr std::int64_t kLevels = 8191;
constexpr std::int64_t kLevelsOfShortSums = 16383;
constexpr std::int64_t kShortSum = 128;
/// Of rounded inputs beside weights in the first cache.
constexpr std::int64_t kBlockBytes = std::int64_t{16} << 10;
/// Infinity, as bits; those of NaN are larger, those of other magnitudes smaller.
constexpr int kInfinityBits = 0x7f800000;
constexpr int kNanBits = 0x7fc00000;
/// 1.5 * 2^23: what is added to it is rounded to an integer, which the low bits hold.
constexpr float kRounding = 12582912.F;
/// Smaller ones are as good as zero: the inverse of their scale would overflow.
constexpr float kLeastPeak = 1e-30F;

/// What is summed in integers: channel pairs, and rows and planes of the window where all of it fits.
struct Chunk {
  std::int64_t pairs = 0;
  std::int64_t rows = 1;
  std::int64_t planes = 1;
  std::int64_t levels = kLevels;
};

Chunk chunk_of(const Dense& dense, std::int64_t unroll) {
  const auto& kernel = dense.kernel;
  Chunk chunk{.pairs = dense.channels() / 2};
  if (dense.taps() * dense.channels() <= kMostTerms) {
    chunk.rows = kernel[1];
    chunk.planes = kernel[0];
  } else {
    chunk.pairs = unroll * largest_divisor(chunk.pairs / unroll,
                                           std::max<std::int64_t>(1, kMostTerms / (2 * unroll * kernel[2])));
  }
  if (2 * chunk.pairs * chunk.rows * chunk.planes * kernel[2] <= kShortSum) chunk.levels = kLevelsOfShortSums;
  return chunk;
}

/// Loops over the source: channels, width, height, depth, batch.
struct SourceLoops {
  Var c{"sc"}, x{"sx"}, y{"sy"}, d{"sd"}, n{"sn"};
};

/// Numbers in one step along the channels: at most `most`.
std::int64_t channel_lanes(const Dense& dense, std::int64_t most) {
  std::int64_t lanes = 8;
  while (lanes < most && dense.channels() % (2 * lanes) == 0) lanes *= 2;
  return lanes;
}

/// Scales of the source: what an integer stands for, and its inverse.
class SourceScales {
 public:
  SourceScales(const Dense& dense, const Readable& source, std::int64_t levels, const Site& site);
  /// At a place of the source: the scale (0) or its inverse (1).
  [[nodiscard]] Expr at(const Indices& place, int which) const { return scales_(keyed(place))[which]; }
  /// They are made where this loop of a Func reads them, in place of once for the whole source.
  void make_at(const Func& consumer, const Var& loop) { scales_.compute_at(consumer, loop); }
  [[nodiscard]] bool has_one_place() const { return has_one_place_; }

 private:
  /// Of the batch, depth, height and width those that have scales of their own.
  [[nodiscard]] std::vector<Expr> keyed(const Indices& place) const;
  [[nodiscard]] Func peaks(const Readable& source, const Site& site) const;

  const Dense& dense_;
  bool has_one_place_;
  Func scales_{"scales"};
};

SourceScales::SourceScales(const Dense& dense, const Readable& source, std::int64_t levels, const Site& site)
    : dense_(dense), has_one_place_(dense.taps() == 1 && !dense.is_padded()) {
  const SourceLoops loops;
  const Indices place = {loops.n, loops.d, loops.y, loops.x};
  std::vector<Var> variables = {loops.n};
  Extents extents = {dense.view.extents[0]};
  if (has_one_place_) {
    variables = {loops.n, loops.d, loops.y, loops.x};
    extents = {dense.view.extents[0], dense.in(0), dense.in(1), dense.in(2)};
  }
  const Expr peak = peaks(source, site)(keyed(place));
  const Expr is_finite = peak < kInfinityBits;
  const Expr value = Halide::max(Halide::reinterpret<float>(peak), kLeastPeak);
  const float step = 1.F / static_cast<float>(levels);
  const Expr scale = Halide::reinterpret<float>(
      Halide::select(is_finite, Halide::reinterpret<std::int32_t>(value * step), kNanBits));
  const Expr inverse = Halide::select(is_finite, static_cast<float>(levels) / value, 0.F);
  scales_(innermost_first(variables)) = Halide::Tuple(scale, inverse);
  scales_.compute_root();
  parallelise(scales_, variables, extents, site);
}

std::vector<Expr> SourceScales::keyed(const Indices& place) const {
  return has_one_place_ ? innermost_first(place) : std::vector<Expr>{place[0]};
}

/// The bits of the largest magnitude, in their order as integers: a NaN is larger than all numbers.
Func SourceScales::peaks(const Readable& source, const Site& site) const {
  const SourceLoops loops;
  const Var lane("lane");
  const std::int64_t lanes = channel_lanes(dense_, site.lanes());
  const bool whole = !has_one_place_;
  const RDom r(0, to_int(dense_.channels() / lanes), 0, whole ? to_int(dense_.in(2)) : 1, 0,
               whole ? to_int(dense_.in(1)) : 1, 0, whole ? to_int(dense_.in(0)) : 1, "rp");
  const Indices place = {loops.n, loops.d, loops.y, loops.x};
  const Indices read = whole ? Indices{loops.n, r.w, r.z, r.y, r.x * to_int(lanes) + lane}
                             : Indices{loops.n, loops.d, loops.y, loops.x, r.x * to_int(lanes) + lane};
  const Expr bits = Halide::reinterpret<std::int32_t>(source(read)) & 0x7fffffff;
  std::vector<Expr> by_lane = keyed(place);
  by_lane.insert(by_lane.begin(), lane);
  Func of_lanes("lane_peaks");
  of_lanes(by_lane) = 0;
  of_lanes(by_lane) = Halide::max(of_lanes(by_lane), bits);
  const RDom all(0, to_int(lanes), "rl");
  Func peaks("peaks");
  by_lane[0] = all;
  peaks(keyed(place)) = 0;
  peaks(keyed(place)) = Halide::max(peaks(keyed(place)), of_lanes(by_lane));
  peaks.update().atomic().vectorize(all);
  return peaks;
}

/// The source as integers, side by side, and zeros around it: by (c, w, h, d, n).
Func integers(const Dense& dense, const Readable& source, const SourceScales& scales, const Site& site) {
  const SourceLoops loops;
  const std::array<Expr, 3> places = {loops.d, loops.y, loops.x};
  std::array<Expr, 3> inside = places;
  Expr is_inside = Halide::Internal::const_true();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!dense.is_padded(axis)) continue;
    is_inside = is_inside && places.at(axis) >= 0 && places.at(axis) < to_int(dense.in(axis));
    inside.at(axis) = clamped(places.at(axis), dense.in(axis));
  }
  const Indices place = {loops.n, inside[0], inside[1], inside[2]};
  const Expr value = source({loops.n, inside[0], inside[1], inside[2], loops.c}) * scales.at(place, 1);
  const Expr rounded = cast<std::int16_t>(Halide::reinterpret<std::int32_t>(value + kRounding));
  Func made("integers");
  made(loops.c, loops.x, loops.y, loops.d, loops.n) =
      Halide::select(is_inside, rounded, cast<std::int16_t>(0));
  made.compute_root()
      .bound(loops.c, 0, to_int(dense.channels()))
      .vectorize(loops.c, to_int(channel_lanes(dense, 2 * site.lanes())));
  parallelise(made, {loops.n, loops.d, loops.y, loops.x},
              {dense.view.extents[0], dense.in(0), dense.in(1), dense.in(2)}, site);
  return made;
}

/// Neighbouring places whose integers stay in the first cache until all outputs are made of them; 0: the whole source is
/// rounded before.
std::int64_t places_of_block(const Dense& dense, const Site& site, const Schedule& schedule) {
  const bool has_gaps = std::ranges::any_of(dense.strides, [](std::int64_t stride) { return stride != 1; });
  const std::int64_t width = dense.out(2);
  const std::int64_t tile_x = schedule["tile_x"];
  if (schedule["rows"] == 0 || has_gaps || site.options.threads > 1) return 0;
  const std::int64_t most = std::max<std::int64_t>(tile_x, kBlockBytes / (2 * dense.channels()));
  if (width <= most) return 0;
  const std::int64_t even = ceil_div(width, ceil_div(width, most));
  const std::int64_t places = ceil_div(even, tile_x) * tile_x;
  return places <= width ? places : 0;
}

/// A tile of sums in integers is added to one in f32 after each chunk; both stay in registers.
void schedule_chunks(const Site& site, const Schedule& schedule, Func sum, const RDom& chunks, Func integer_sum,
                     const RDom& taps) {
  const auto [n, d, y, x, c] = named_loops<5>();
  const Var ci("ci"), co("co"), su("su"), sv("sv");
  const int lanes = to_int(site.lanes());
  sum.update()
      .split(ci, su, sv, lanes)
      .reorder(sv, su, x, chunks[0], chunks[1], chunks[2], y, d, n, co)
      .vectorize(sv)
      .unroll(su)
      .unroll(x);
  integer_sum.compute_at(sum, chunks[0])
      .bound_extent(ci, to_int(schedule["tile_c"]) * lanes)
      .bound_extent(x, to_int(schedule["tile_x"]));
  integer_sum.split(ci, su, sv, lanes).vectorize(sv).unroll(su).unroll(x);
  schedule_group_updates(site, schedule, integer_sum, taps);
}

}  // namespace

std::vector<Schedule> fixed_point_space(const Dense& dense, const Site& site) {
  return dense_space(in_pairs(dense), site);
}

void build_fixed_point(const Dense& dense, const Site& site, const Schedule& schedule, Lowering& lowering) {
  const auto& kernel = dense.kernel;
  const std::int64_t block = schedule["tile_c"] * site.lanes();
  const std::int64_t pairs = dense.channels() / 2;
  const Chunk chunk = chunk_of(dense, schedule["unroll"]);
  const Readable given = lowering.read(dense.source, dense.view);
  SourceScales scales(dense, given, chunk.levels, site);
  Func source = integers(dense, given, scales, site);
  const Extents numbers = {dense.outputs(),   dense.taps(),        dense.channels(),
                           dense.out_stride,  dense.tap_stride,    dense.in_stride,
                           block,             2 * chunk.pairs,     kernel[2] * chunk.rows * chunk.planes,
                           chunk.levels};
  const Halide::ImageParam weights = lowering.packed_buffer(
      dense.weights, {.kind = PackingKind::kFixedPairs, .numbers = numbers}, ElementType::kInt16,
      {ceil_div(dense.outputs(), block), kernel[0], kernel[1], kernel[2], pairs, block, 2});
  const Func weight_scales =
      lowering.packed(dense.weights, {.kind = PackingKind::kFixedScales, .numbers = numbers}, ElementType::kFloat32,
                      {ceil_div(dense.outputs(), block) * block});

  const auto [n, d, y, x, c] = named_loops<5>();
  const Var ci("ci"), co("co"), first("first"), row("row"), plane("plane");
  const RDom r(0, 2, 0, to_int(chunk.pairs), 0, to_int(kernel[2]), 0, to_int(chunk.rows), 0, to_int(chunk.planes), "r");
  const RDom chunks(0, to_int(pairs / chunk.pairs), 0, to_int(kernel[1] / chunk.rows), 0,
                    to_int(kernel[0] / chunk.planes), "chunks");
  Func integer_sum("integer_sum");
  const Expr pair = first * to_int(chunk.pairs) + r[1];
  const Expr tap_row = row + r[3];
  const Expr tap_plane = plane + r[4];
  integer_sum(ci, x, y, d, n, co, first, row, plane) = 0;
  integer_sum(ci, x, y, d, n, co, first, row, plane) +=
      cast<std::int32_t>(source(pair * 2 + r[0], source_place(dense, x, r[2], 2), source_place(dense, y, tap_row, 1),
                                source_place(dense, d, tap_plane, 0), n)) *
      cast<std::int32_t>(weights(r[0], ci, pair, r[2], tap_row, tap_plane, co));
  Func sum("sum");
  sum(ci, x, y, d, n, co) = 0.0F;
  sum(ci, x, y, d, n, co) += cast<float>(integer_sum(ci, x, y, d, n, co, chunks[0], chunks[1], chunks[2]));

  const std::vector<Var> loops = {n, d, y, x, c};
  const Indices place = {n, source_place(dense, d, 0, 0), source_place(dense, y, 0, 1), source_place(dense, x, 0, 2)};
  const Expr total = sum(c % to_int(block), x, y, d, n, c / to_int(block)) * (weight_scales(c) * scales.at(place, 0));
  const Func out =
      define_output(site, lowering, dense.space, loops, with_bias(dense, site, lowering, as_indices(loops), total));
  const std::int64_t places = scales.has_one_place() ? places_of_block(dense, site, schedule) : 0;
  const Var blocks = schedule_sum_tiles(dense, site, schedule, out, sum, places);
  if (places > 0) {
    source.compute_at(out, blocks);
    scales.make_at(out, blocks);
  }
  schedule_chunks(site, schedule, sum, chunks, integer_sum, r);
}

}  // namespace collage::native
