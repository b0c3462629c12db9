#include "compiler/products/fixed_point.h"

#include <algorithm>
#include <numeric>

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

/// Channel pairs that are summed in integers, in one row of the window.
std::int64_t pairs_of_sum(const Dense& dense, std::int64_t unroll) {
  const std::int64_t most = kMostTerms / (2 * unroll * dense.kernel[2]);
  return unroll * largest_divisor(dense.channels() / 2 / unroll, std::max<std::int64_t>(1, most));
}

/// The source as integers, side by side, and zeros around it.
class FixedSource {
 public:
  FixedSource(const Dense& dense, const Readable& source, std::int64_t levels, const Site& site);
  /// By (c, w, h, d, n).
  [[nodiscard]] const Func& integers() const { return integers_; }
  /// At a place of the source: batch, depth, height, width. Outside, where all integers are 0, any.
  [[nodiscard]] Expr scale(const Indices& place) const;
  [[nodiscard]] bool has_scale_by_place() const { return has_scale_by_place_; }
  /// Made where this loop reads it, in place of once before.
  void make_at(const Func& consumer, const Var& loop) {
    integers_.compute_at(consumer, loop);
    Func(scales_.func()).compute_at(consumer, loop);
  }
  /// Each row made when this loop first reads it, and kept for the next ones.
  void make_by_rows(const Func& consumer, const Var& rows, const Var& around) {
    make_at(consumer, rows);
    integers_.store_at(consumer, around);
    Func(scales_.func()).store_at(consumer, around);
  }

 private:
  [[nodiscard]] FixedGroups groups(const Readable& source, const Site& site) const;
  /// The channels of all places of a row are neighbours.
  [[nodiscard]] std::int64_t elements_of_row() const { return dense_.in(2) * dense_.channels(); }
  /// The loop that keeps rows begins before the first and makes nothing of use there.
  [[nodiscard]] Expr row_of_source() const { return clamped(y_, dense_.in(1)); }
  /// What tells scales apart.
  [[nodiscard]] std::vector<Expr> keyed(const Indices& place) const {
    return has_scale_by_place_ ? innermost_first(place) : std::vector<Expr>{place[2], place[1], place[0]};
  }
  void define_integers(const Readable& source, const Site& site);

  const Dense& dense_;
  const bool has_scale_by_place_;  ///< else by row
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
  std::vector<Var> loops = {n_, d_, y_};
  Extents extents = {dense.view.extents[0], dense.in(0), dense.in(1)};
  if (has_scale_by_place_) {
    loops.push_back(x_);
    extents.push_back(dense.in(2));
  }
  parallelise(scales, loops, extents, site);
  define_integers(source, site);
}

FixedGroups FixedSource::groups(const Readable& source, const Site& site) const {
  const std::int64_t channels = dense_.channels();
  if (has_scale_by_place_)
    return {.places = {x_, y_, d_, n_},
            .elements = channels,
            .lanes = channel_lanes(dense_, site.lanes()),
            .value = [&source, this](const Expr& element) {
              return source({n_, d_, y_, x_, element});
            }};
  return {.places = {y_, d_, n_},
          .elements = elements_of_row(),
          .lanes = std::gcd(elements_of_row(), site.lanes()),
          .value = [&source, this, count = to_int(channels)](const Expr& element) {
            return source({n_, d_, row_of_source(), element / count, element % count});
          }};
}

Expr FixedSource::scale(const Indices& place) const {
  const auto inside = inside_source(dense_, {place[1], place[2], place[3]}).at;
  return scales_.scale(keyed({place[0], inside[0], inside[1], inside[2]}));
}

void FixedSource::define_integers(const Readable& source, const Site& site) {
  const auto [inside, is_inside] = inside_source(dense_, {d_, y_, x_});
  const Expr value = source({n_, inside[0], row_of_source(), inside[2], c_});
  const Expr integer = scales_.integer(value, keyed({n_, inside[0], inside[1], inside[2]}));
  integers_(c_, x_, y_, d_, n_) = Halide::select(is_inside, integer, cast<std::int16_t>(0));
  integers_.compute_root().bound(c_, 0, to_int(dense_.channels()));
  std::vector<Var> loops = {n_, d_, y_};
  Extents extents = {dense_.view.extents[0], dense_.in(0), dense_.in(1)};
  const std::int64_t lanes = channel_lanes(dense_, 2 * site.lanes());
  const std::int64_t lanes_of_row = std::gcd(elements_of_row(), 2 * site.lanes());
  if (!has_scale_by_place_ && !dense_.is_padded(2) && lanes_of_row > lanes) {
    const Var flat("flat");
    integers_.bound(x_, 0, to_int(dense_.in(2))).fuse(c_, x_, flat).vectorize(flat, to_int(lanes_of_row));
  } else {
    integers_.vectorize(c_, to_int(lanes));
    loops.push_back(x_);
    extents.push_back(dense_.in(2));
  }
  parallelise(integers_, loops, extents, site);
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

/// A tile of sums in integers stays in registers, and is added to one in f32 at the end of each.
void schedule_sums(const Site& site, const Schedule& schedule, Func sum, const RDom& sums, Func integer_sum,
                   const RDom& taps) {
  const auto [n, d, y, x, c] = named_loops<5>();
  const Var ci("ci"), co("co"), su("su"), sv("sv");
  const int lanes = to_int(site.lanes());
  sum.update()
      .split(ci, su, sv, lanes)
      .reorder(sv, su, x, sums[0], sums[1], sums[2], y, d, n, co)
      .vectorize(sv)
      .unroll(su)
      .unroll(x);
  integer_sum.compute_at(sum, sums[0])
      .bound_extent(ci, to_int(schedule["tile_c"]) * lanes)
      .bound_extent(x, to_int(schedule["tile_x"]));
  integer_sum.split(ci, su, sv, lanes).vectorize(sv).unroll(su).unroll(x);
  schedule_group_updates(site, schedule, integer_sum, taps);
}

/// Rows are read one after another: each is rounded when it is first read.
bool reads_rows_in_order(const Dense& dense, const Site& site, const Schedule& schedule) {
  const bool is_read_once = schedule["rows"] != 0 || ceil_div(dense.outputs(), schedule["tile_c"] * site.lanes()) == 1;
  return is_read_once && site.options.threads <= 1;
}

}  // namespace

void build_fixed_point(const Dense& dense, const Site& site, const Schedule& schedule, Lowering& lowering) {
  const auto& kernel = dense.kernel;
  const std::int64_t block = schedule["tile_c"] * site.lanes();
  const std::int64_t pairs = dense.channels() / 2;
  const std::int64_t pairs_in_sum = pairs_of_sum(dense, schedule["unroll"]);
  const Readable given = lowering.read(dense.source, dense.view);
  const std::int64_t levels = fixed_levels(2 * pairs_in_sum * kernel[2]);
  FixedSource source(dense, given, levels, site);
  const Extents numbers = {dense.outputs(), dense.taps(), dense.channels(), dense.out_stride, dense.tap_stride,
                           dense.in_stride, block,        2 * pairs_in_sum, kernel[2],        levels};
  const Halide::ImageParam weights =
      lowering.packed_buffer(dense.weights, {.kind = PackingKind::kFixedPairs, .numbers = numbers}, ElementType::kInt16,
                             {ceil_div(dense.outputs(), block), kernel[0], kernel[1], kernel[2], pairs, block, 2});
  const Func weight_scales = lowering.packed(dense.weights, {.kind = PackingKind::kFixedScales, .numbers = numbers},
                                             ElementType::kFloat32, {ceil_div(dense.outputs(), block) * block});

  const auto [n, d, y, x, c] = named_loops<5>();
  const Var ci("ci"), co("co"), first("first"), row("row"), plane("plane");
  const RDom r(0, 2, 0, to_int(pairs_in_sum), 0, to_int(kernel[2]), 0, 1, 0, 1, "r");
  const RDom sums(0, to_int(pairs / pairs_in_sum), 0, to_int(kernel[1]), 0, to_int(kernel[0]), "sums");
  Func integer_sum("integer_sum");
  const Expr pair = first * to_int(pairs_in_sum) + r[1];
  integer_sum(ci, x, y, d, n, co, first, row, plane) = 0;
  integer_sum(ci, x, y, d, n, co, first, row, plane) +=
      cast<std::int32_t>(source.integers()(pair * 2 + r[0], source_place(dense, x, r[2], 2),
                                           source_place(dense, y, row, 1), source_place(dense, d, plane, 0), n)) *
      cast<std::int32_t>(weights(r[0], ci, pair, r[2], row, plane, co));
  const Indices place = {n, source_place(dense, d, sums[2], 0), source_place(dense, y, sums[1], 1),
                         source_place(dense, x, 0, 2)};
  Func sum("sum");
  sum(ci, x, y, d, n, co) = 0.0F;
  sum(ci, x, y, d, n, co) +=
      cast<float>(integer_sum(ci, x, y, d, n, co, sums[0], sums[1], sums[2])) * source.scale(place);

  const std::vector<Var> loops = {n, d, y, x, c};
  const Expr total = sum(c % to_int(block), x, y, d, n, c / to_int(block)) * weight_scales(c);
  const Func out =
      define_output(site, lowering, dense.space, loops, with_bias(dense, site, lowering, as_indices(loops), total));
  const std::int64_t places = source.has_scale_by_place() ? places_of_block(dense, site, schedule) : 0;
  const Var blocks = schedule_sum_tiles(dense, site, schedule, out, sum, places);
  if (places > 0) source.make_at(out, blocks);
  if (!source.has_scale_by_place() && reads_rows_in_order(dense, site, schedule)) source.make_by_rows(out, y, d);
  schedule_sums(site, schedule, sum, sums, integer_sum, r);
}

}  // namespace collage::native
