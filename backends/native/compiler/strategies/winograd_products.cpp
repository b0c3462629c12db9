#include "compiler/strategies/winograd_products.h"

#include "compiler/codegen/loops.h"

namespace collage::native {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

namespace {

/// Channels in one sum of integers: transforms enlarge errors, and more channels leave fewer bits for each.
constexpr std::int64_t kMostChannels = 64;

std::int64_t channels_of_sum(const Dense& dense) {
  return 2 * largest_divisor(dense.channels() / 2, kMostChannels / 2);
}

}  // namespace

WinogradProducts::WinogradProducts(const Dense& dense, const Site& site, Lowering& lowering, std::int64_t tile,
                                   std::int64_t block, bool is_fixed, const Func& transformed)
    : dense_(dense), site_(site), block_(block), is_fixed_(is_fixed), n_(named_loops<1>()[0]) {
  if (is_fixed)
    multiply_fixed(transformed, lowering, tile);
  else
    multiply(transformed, lowering, tile);
}

void WinogradProducts::multiply(const Func& transformed, Lowering& lowering, std::int64_t tile) {
  const std::int64_t channels = dense_.channels();
  const std::int64_t points = tile + 2;
  const Func weights = lowering.packed(
      dense_.weights, {.kind = PackingKind::kWinograd, .numbers = {dense_.outputs(), channels, tile, block_}},
      ElementType::kFloat32, {ceil_div(dense_.outputs(), block_), points, points, channels, block_});
  r_ = RDom(0, to_int(channels), "r");
  sum_(ki_, t_, i_, j_, bx_, by_, n_, ko_) = 0.0F;
  sum_(ki_, t_, i_, j_, bx_, by_, n_, ko_) += weights(ki_, r_, i_, j_, ko_) * transformed(r_, t_, i_, j_, bx_, by_, n_);
  products_(ki_, t_, i_, j_, bx_, by_, n_, ko_) = sum_(ki_, t_, i_, j_, bx_, by_, n_, ko_);
}

void WinogradProducts::multiply_fixed(const Func& transformed, Lowering& lowering, std::int64_t tile) {
  const std::int64_t channels = dense_.channels();
  const std::int64_t points = tile + 2;
  const std::int64_t blocks = ceil_div(dense_.outputs(), block_);
  const std::int64_t inputs = channels_of_sum(dense_);
  const std::int64_t levels = fixed_levels(inputs);
  const Extents numbers = {dense_.outputs(), channels, tile, block_, inputs, levels};
  const Halide::ImageParam weights =
      lowering.packed_buffer(dense_.weights, {.kind = PackingKind::kFixedWinograd, .numbers = numbers},
                             ElementType::kInt16, {blocks, points, points, channels / 2, block_, 2});
  const Func weight_scales =
      lowering.packed(dense_.weights, {.kind = PackingKind::kFixedWinogradScales, .numbers = numbers},
                      ElementType::kFloat32, {blocks, points, points, block_});
  const std::vector<Expr> place = {t_, i_, j_, bx_, by_, n_};
  scales_.emplace(
      FixedGroups{.places = {t_, i_, j_, bx_, by_, n_},
                  .elements = channels,
                  .lanes = channel_lanes(dense_, site_.lanes()),
                  .value = [&](const Expr& element) -> Expr { return transformed(element, t_, i_, j_, bx_, by_, n_); }},
      levels);
  integers_(c_, t_, i_, j_, bx_, by_, n_) = scales_->integer(transformed(c_, t_, i_, j_, bx_, by_, n_), place);
  r_ = RDom(0, 2, 0, to_int(inputs / 2), "r");
  chunks_ = RDom(0, to_int(channels / inputs), "chunks");
  const Expr pair = chunk_ * to_int(inputs / 2) + r_[1];
  integer_sum_(ki_, t_, i_, j_, bx_, by_, n_, ko_, chunk_) = 0;
  integer_sum_(ki_, t_, i_, j_, bx_, by_, n_, ko_, chunk_) +=
      cast<std::int32_t>(integers_(pair * 2 + r_[0], t_, i_, j_, bx_, by_, n_)) *
      cast<std::int32_t>(weights(r_[0], ki_, pair, i_, j_, ko_));
  sum_(ki_, t_, i_, j_, bx_, by_, n_, ko_) = 0.0F;
  sum_(ki_, t_, i_, j_, bx_, by_, n_, ko_) += cast<float>(integer_sum_(ki_, t_, i_, j_, bx_, by_, n_, ko_, chunks_[0]));
  products_(ki_, t_, i_, j_, bx_, by_, n_, ko_) =
      sum_(ki_, t_, i_, j_, bx_, by_, n_, ko_) * (scales_->scale(place) * weight_scales(ki_, i_, j_, ko_));
}

void WinogradProducts::schedule(const WinogradBlock& block, std::int64_t tile_t) {
  const Var to("to"), ti("ti"), vector("vector"), lane("lane");
  const int lanes = site_.lanes();
  products_.split(t_, to, ti, to_int(tile_t), TailStrategy::ShiftInwards)
      .split(ki_, vector, lane, lanes)
      .reorder(lane, vector, ti, to, ko_, i_, j_, bx_, by_, n_)
      .vectorize(lane)
      .unroll(vector)
      .unroll(ti)
      .bound(ki_, 0, to_int(block_));
  sum_.compute_at(products_, to).bound_extent(t_, to_int(tile_t)).bound_extent(bx_, 1).bound_extent(by_, 1);
  sum_.split(ki_, vector, lane, lanes).vectorize(lane).unroll(vector).unroll(t_);
  Halide::Stage update = sum_.update();
  update.split(ki_, vector, lane, lanes);
  if (!is_fixed_) {
    update.reorder(lane, vector, t_, r_[0], i_, j_, n_, ko_).vectorize(lane).unroll(vector).unroll(t_);
    if (dense_.channels() % 2 == 0) update.unroll(r_[0], 2);
    return;
  }
  update.reorder(lane, vector, t_, chunks_[0], i_, j_, n_, ko_).vectorize(lane).unroll(vector).unroll(t_);
  integer_sum_.compute_at(sum_, chunks_[0]).bound_extent(t_, to_int(tile_t)).bound_extent(ki_, to_int(block_));
  integer_sum_.split(ki_, vector, lane, lanes).vectorize(lane).unroll(vector).unroll(t_);
  integer_sum_.update()
      .split(ki_, vector, lane, lanes)
      .reorder(r_[0], lane, vector, t_, r_[1])
      .atomic()
      .vectorize(r_[0])
      .vectorize(lane)
      .unroll(vector)
      .unroll(t_);
  if (channels_of_sum(dense_) % 4 == 0) integer_sum_.update().unroll(r_[1], 2);
  Func(scales_->func()).compute_at(block.out, block.loop);
  integers_.compute_at(block.out, block.loop)
      .bound(t_, 0, to_int(block.tiles))
      .bound_extent(bx_, 1)
      .bound_extent(by_, 1)
      .vectorize(c_, to_int(channel_lanes(dense_, site_.lanes())));
}

}  // namespace collage::native
