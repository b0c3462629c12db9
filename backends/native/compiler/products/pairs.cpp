#include "compiler/products/pairs.h"

#include "compiler/codegen/loops.h"

namespace collage::native {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace {

/// As the dense machinery counts: a pair of inputs is as large as a float.
Dense in_pairs(const Dense& dense) {
  Dense pairs = dense;
  pairs.view.extents[4] = ceil_div(dense.channels(), 2);
  return pairs;
}

/// Two neighbouring channels are one load.
bool lies_in_pairs(const Dense& dense) { return dense.channels() % 2 == 0 && dense.view.strides[4] == 1; }

/// The source with an even number of channels, side by side, and zeros around it: by (c, w, h, d, n).
Func copied(const Dense& dense, const Func& source, const Site& site) {
  const Var c("sc"), x("sx"), y("sy"), d("sd"), n("sn");
  const auto [inside, is_in_maps] = inside_source(dense, {d, y, x});
  const Expr is_inside = c < to_int(dense.channels()) && is_in_maps;
  const Expr value = source(clamped(c, dense.channels()), inside[2], inside[1], inside[0], n);
  Func copy("copy");
  copy(c, x, y, d, n) = Halide::select(is_inside, value, Halide::Internal::make_zero(value.type()));
  const std::int64_t width = 2 * ceil_div(dense.channels(), 2);
  std::int64_t lanes = 2;
  while (lanes < 2 * site.lanes() && width % (2 * lanes) == 0) lanes *= 2;
  copy.compute_root().bound(c, 0, to_int(width)).vectorize(c, to_int(lanes));
  parallelise(copy, {n, d, y, x}, {dense.view.extents[0], dense.in(0), dense.in(1), dense.in(2)}, site);
  return copy;
}

}  // namespace

std::vector<Schedule> pairs_space(const Dense& dense, const Site& site) { return dense_space(in_pairs(dense), site); }

void build_pairs(const Dense& dense, const Site& site, const Schedule& schedule, Lowering& lowering) {
  const auto& kernel = dense.kernel;
  const std::int64_t block = schedule["tile_c"] * site.lanes();
  const std::int64_t pairs = ceil_div(dense.channels(), 2);
  const bool is_copied = !lies_in_pairs(dense);
  const Func port = lowering.buffer(dense.source, dense.view);
  const Func source = is_copied ? copied(dense, port, site) : padded_source(dense, port, {2});
  const Halide::ImageParam weights = lowering.packed_buffer(
      dense.weights,
      {.kind = PackingKind::kBfloatPairs,
       .numbers = {dense.outputs(), dense.taps(), dense.channels(), dense.out_stride, dense.tap_stride, dense.in_stride,
                   block}},
      ElementType::kBfloat16, {ceil_div(dense.outputs(), block), kernel[0], kernel[1], kernel[2], pairs, block, 2});
  const auto [n, d, y, x, c] = named_loops<5>();
  const Var ci("ci"), co("co");
  RDom taps(0, 2, 0, to_int(pairs), 0, to_int(kernel[2]), 0, to_int(kernel[1]), 0, to_int(kernel[0]), "r");
  Expr row = source_place(dense, y, taps[3], 1);
  Expr plane = source_place(dense, d, taps[4], 0);
  // Taps outside the source are left out of the loop; the clamp is for Halide's eyes.
  if (!is_copied && dense.is_padded(1)) {
    taps.where(row >= 0 && row < to_int(dense.in(1)));
    row = clamped(row, dense.in(1));
  }
  if (!is_copied && dense.is_padded(0)) {
    taps.where(plane >= 0 && plane < to_int(dense.in(0)));
    plane = clamped(plane, dense.in(0));
  }
  Func sum("sum");
  sum(ci, x, y, d, n, co) = 0.0F;
  sum(ci, x, y, d, n, co) +=
      cast<float>(source(taps[1] * 2 + taps[0], source_place(dense, x, taps[2], 2), row, plane, n)) *
      cast<float>(weights(taps[0], ci, taps[1], taps[2], taps[3], taps[4], co));
  const std::vector<Var> loops = {n, d, y, x, c};
  const Expr total = sum(c % to_int(block), x, y, d, n, c / to_int(block));
  const Func out =
      define_output(site, lowering, dense.space, loops, with_bias(dense, site, lowering, as_indices(loops), total));
  schedule_grouped_sums(dense, site, schedule, out, sum, taps);
}

}  // namespace collage::native
