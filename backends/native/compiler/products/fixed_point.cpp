#include "compiler/products/fixed_point.h"

#include <algorithm>

#include "compiler/codegen/loops.h"
#include "compiler/products/fixed_numbers.h"

namespace collage::native {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace {

/// Products in one sum of integers: more leave fewer bits for each.
constexpr std::int64_t kMostTerms = 512;
/// Of rounded inputs beside weights in the first cache.
constexpr std::int64_t kBlockBytes = std::int64_t{16} << 10;

/// What is summed in integers: channel pairs, and rows and planes of the window where all of it fits.
struct Chunk {
  std::int64_t pairs = 0;
  std::int64_t rows = 1;
  std::int64_t planes = 1;
  [[nodiscard]] std::int64_t taps(const Dense& dense) const { return dense.kernel[2] * rows * planes; }
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
  return chunk;
}

/// Numbers in one step along the channels: at most `most`.
std::int64_t channel_lanes(const Dense& dense, std::int64_t most) {
  std::int64_t lanes = 8;
  while (lanes < most && dense.channels() % (2 * lanes) == 0) lanes *= 2;
  return lanes;
}

/// The source as integers, side by side, and zeros around it.
class FixedSource {
 public:
  FixedSource(const Dense& dense, const Readable& source, std::int64_t levels, const Site& site);
  /// By (c, w, h, d, n).
  [[nodiscard]] const Func& integers() const { return integers_; }
  /// At a place of the source: batch, depth, height, width.
  [[nodiscard]] Expr scale(const Indices& place) const { return scales_.scale(keyed(place)); }
  [[nodiscard]] bool has_scale_by_place() const { return has_scale_by_place_; }
  /// Made where this loop reads it, in place of once before.
  void make_at(const Func& consumer, const Var& loop) {
    integers_.compute_at(consumer, loop);
    Func(scales_.func()).compute_at(consumer, loop);
  }

 private:
  [[nodiscard]] FixedGroups groups(const Readable& source, const Site& site) const;
  /// What tells scales apart.
  [[nodiscard]] std::vector<Expr> keyed(const Indices& place) const {
    return has_scale_by_place_ ? innermost_first(place) : std::vector<Expr>{place[0]};
  }
  void define_integers(const Readable& source, const Site& site);

  const Dense& dense_;
  const bool has_scale_by_place_;  ///< else by item of the batch
  const Var c_{"sc"}, x_{"sx"}, y_{"sy"}, d_{"sd"}, n_{"sn"};
  FixedScales scales_;
  Func integers_{"integers"};
};

FixedSource::FixedSource(const Dense& dense, const Readable& source, std::int64_t levels, const Site& site)
    : dense_(dense),
      has_scale_by_place_(dense.taps() == 1 && !dense.is_padded()),
      scales_(groups(source, site), levels) {
  Func scales = scales_.func();
  scales.compute_root();
  if (has_scale_by_place_)
    parallelise(scales, {n_, d_, y_, x_}, {dense.view.extents[0], dense.in(0), dense.in(1), dense.in(2)}, site);
  define_integers(source, site);
}

FixedGroups FixedSource::groups(const Readable& source, const Site& site) const {
  FixedGroups groups{.places = {x_, y_, d_, n_},
                     .elements = dense_.channels(),
                     .lanes = channel_lanes(dense_, site.lanes()),
                     .value = [&source, this](const Expr& element, const std::vector<Expr>&) {
                       return source({n_, d_, y_, x_, element});
                     }};
  if (has_scale_by_place_) return groups;
  groups.places = {n_};
  groups.rows = {dense_.in(2), dense_.in(1), dense_.in(0)};
  groups.value = [&source, this](const Expr& element, const std::vector<Expr>& at) {
    return source({n_, at[2], at[1], at[0], element});
  };
  return groups;
}

void FixedSource::define_integers(const Readable& source, const Site& site) {
  const auto [inside, is_inside] = inside_source(dense_, {d_, y_, x_});
  const Expr value = source({n_, inside[0], inside[1], inside[2], c_});
  const Expr integer = scales_.integer(value, keyed({n_, inside[0], inside[1], inside[2]}));
  integers_(c_, x_, y_, d_, n_) = Halide::select(is_inside, integer, cast<std::int16_t>(0));
  integers_.compute_root()
      .bound(c_, 0, to_int(dense_.channels()))
      .vectorize(c_, to_int(channel_lanes(dense_, 2 * site.lanes())));
  parallelise(integers_, {n_, d_, y_, x_}, {dense_.view.extents[0], dense_.in(0), dense_.in(1), dense_.in(2)}, site);
}

/// Neighbouring places whose integers stay in the first cache until all outputs are made of them; 0: the whole source
/// is rounded before.
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

/// A tile of sums in integers stays in registers, and is added to one in f32 after each chunk.
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

void build_fixed_point(const Dense& dense, const Site& site, const Schedule& schedule, Lowering& lowering) {
  const auto& kernel = dense.kernel;
  const std::int64_t block = schedule["tile_c"] * site.lanes();
  const std::int64_t pairs = dense.channels() / 2;
  const Chunk chunk = chunk_of(dense, schedule["unroll"]);
  const Readable given = lowering.read(dense.source, dense.view);
  const std::int64_t levels = fixed_levels(2 * chunk.pairs * chunk.taps(dense));
  FixedSource source(dense, given, levels, site);
  const Extents numbers = {dense.outputs(), dense.taps(), dense.channels(), dense.out_stride,  dense.tap_stride,
                           dense.in_stride, block,        2 * chunk.pairs,  chunk.taps(dense), levels};
  const Halide::ImageParam weights =
      lowering.packed_buffer(dense.weights, {.kind = PackingKind::kFixedPairs, .numbers = numbers}, ElementType::kInt16,
                             {ceil_div(dense.outputs(), block), kernel[0], kernel[1], kernel[2], pairs, block, 2});
  const Func weight_scales = lowering.packed(dense.weights, {.kind = PackingKind::kFixedScales, .numbers = numbers},
                                             ElementType::kFloat32, {ceil_div(dense.outputs(), block) * block});

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
      cast<std::int32_t>(source.integers()(pair * 2 + r[0], source_place(dense, x, r[2], 2),
                                           source_place(dense, y, tap_row, 1), source_place(dense, d, tap_plane, 0),
                                           n)) *
      cast<std::int32_t>(weights(r[0], ci, pair, r[2], tap_row, tap_plane, co));
  Func sum("sum");
  sum(ci, x, y, d, n, co) = 0.0F;
  sum(ci, x, y, d, n, co) += cast<float>(integer_sum(ci, x, y, d, n, co, chunks[0], chunks[1], chunks[2]));

  const std::vector<Var> loops = {n, d, y, x, c};
  const Indices place = {n, source_place(dense, d, 0, 0), source_place(dense, y, 0, 1), source_place(dense, x, 0, 2)};
  const Expr total = sum(c % to_int(block), x, y, d, n, c / to_int(block)) * (weight_scales(c) * source.scale(place));
  const Func out =
      define_output(site, lowering, dense.space, loops, with_bias(dense, site, lowering, as_indices(loops), total));
  const std::int64_t places = source.has_scale_by_place() ? places_of_block(dense, site, schedule) : 0;
  const Var blocks = schedule_sum_tiles(dense, site, schedule, out, sum, places);
  if (places > 0) source.make_at(out, blocks);
  schedule_chunks(site, schedule, sum, chunks, integer_sum, r);
}

}  // namespace collage::native
