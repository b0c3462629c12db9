#include "packing_fixed.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "packing_layout.h"

namespace collage::native {
namespace {

bool is_transformed(PackingKind kind) {
  return kind == PackingKind::kFixedWinograd || kind == PackingKind::kFixedWinogradScales;
}

/// Of an output's weights: the largest magnitude, and the largest sum of magnitudes in one sum of products.
class Magnitudes {
 public:
  void begin_sum() { sum_ = 0; }
  void add(float weight) {
    const double magnitude = std::abs(static_cast<double>(weight));
    is_finite_ = is_finite_ && std::isfinite(weight);
    largest_ = std::max(largest_, magnitude);
    sum_ += magnitude;
    largest_sum_ = std::max(largest_sum_, sum_);
  }
  /// What an integer stands for: 0 where all are zero, NaN where one is not finite. A sum of `terms` products with
  /// integers up to `levels`, a half more for each weight that is rounded, stays in 32 bits.
  [[nodiscard]] double unit(std::int64_t terms, std::int64_t levels) const {
    if (!is_finite_) return std::numeric_limits<double>::quiet_NaN();
    const double room = static_cast<double>(std::numeric_limits<std::int32_t>::max()) / static_cast<double>(levels) -
                        0.5 * static_cast<double>(terms);
    return std::max(largest_ / std::numeric_limits<std::int16_t>::max(), largest_sum_ / room);
  }

 private:
  bool is_finite_ = true;
  double largest_ = 0;
  double sum_ = 0;
  double largest_sum_ = 0;
};

/// So many terms of a sum, and levels of their other factors, leave room for some bits of every weight.
bool leaves_room(std::int64_t terms, std::int64_t levels) {
  constexpr std::int64_t kMostTerms = 1 << 14;
  return terms > 0 && terms <= kMostTerms && levels > 0 && levels <= std::numeric_limits<std::int16_t>::max();
}

/// The numbers of kFixedPairs and kFixedScales: what a sum of integers covers, and how large its other factors are.
struct FixedPoint {
  Panels panels;
  std::int64_t inputs, taps, levels;
  explicit FixedPoint(const Extents& numbers)
      : panels(Extents(numbers.begin(), numbers.begin() + 7)),
        inputs(numbers[7]),
        taps(numbers[8]),
        levels(numbers[9]) {}
  [[nodiscard]] bool fits(const Tensor& source) const {
    return panels.fits(source) && inputs > 0 && taps > 0 && panels.in % inputs == 0 && panels.taps % taps == 0 &&
           leaves_room(inputs * taps, levels);
  }
  [[nodiscard]] float weight(const float* from, std::int64_t output, std::int64_t tap, std::int64_t in) const {
    return from[output * panels.out_stride + tap * panels.tap_stride + in * panels.in_stride];
  }
  [[nodiscard]] double unit(const float* from, std::int64_t output) const;
};

double FixedPoint::unit(const float* from, std::int64_t output) const {
  Magnitudes magnitudes;
  for (std::int64_t first_tap = 0; first_tap < panels.taps; first_tap += taps)
    for (std::int64_t first_in = 0; first_in < panels.in; first_in += inputs) {
      magnitudes.begin_sum();
      for (std::int64_t tap = first_tap; tap < first_tap + taps; ++tap)
        for (std::int64_t in = first_in; in < first_in + inputs; ++in) magnitudes.add(weight(from, output, tap, in));
    }
  return magnitudes.unit(inputs * taps, levels);
}

void pack_fixed_pairs(const FixedPoint& fixed, const float* from, std::int16_t* to) {
  const Panels& panels = fixed.panels;
  const std::int64_t pairs = rounded_up(panels.in, 2) / 2;
  for (std::int64_t output = 0; output < panels.out; ++output) {
    const double unit = fixed.unit(from, output);
    if (!(unit > 0)) continue;
    std::int16_t* const block = to + output / panels.block * panels.block * panels.taps * pairs * 2;
    for (std::int64_t tap = 0; tap < panels.taps; ++tap)
      for (std::int64_t in = 0; in < panels.in; ++in)
        block[((tap * pairs + in / 2) * panels.block + output % panels.block) * 2 + in % 2] =
            static_cast<std::int16_t>(std::lround(fixed.weight(from, output, tap, in) / unit));
  }
}

void write_fixed_scales(const FixedPoint& fixed, const float* from, float* to) {
  for (std::int64_t output = 0; output < fixed.panels.out; ++output)
    to[output] = static_cast<float>(fixed.unit(from, output));
}

/// The numbers of kWinograd, the inputs of a sum, and the levels of their factors.
struct FixedTransform {
  Transformed weights;
  std::int64_t inputs, levels;
  explicit FixedTransform(const Extents& numbers)
      : weights(PackingKind::kWinograd, Extents(numbers.begin(), numbers.begin() + 4)),
        inputs(numbers[4]),
        levels(numbers[5]) {}
  [[nodiscard]] bool fits(const Tensor& source) const {
    return weights.fits(source) && weights.in % 2 == 0 && leaves_room(inputs, levels) && weights.in % inputs == 0;
  }
  [[nodiscard]] std::int64_t area() const { return weights.rows.points() * weights.columns.points(); }
  /// Of each output, rounded up to blocks, and point: [out/block][point][block].
  [[nodiscard]] std::int64_t units() const { return rounded_up(weights.out, weights.block) * area(); }
};

/// Calls `each` with the index of an output and point among the units, its unit, and where its first transformed weight
/// is: those of its inputs are a block apart.
template <class Each>
void for_each_unit(const FixedTransform& fixed, const float* from, const Each& each) {
  const Transformed& weights = fixed.weights;
  std::vector<float> transformed(static_cast<std::size_t>(weights.size()));
  pack_transformed(weights, from, transformed.data());
  for (std::int64_t unit = 0; unit < fixed.units(); ++unit) {
    const float* const first =
        transformed.data() + unit / weights.block * weights.in * weights.block + unit % weights.block;
    Magnitudes magnitudes;
    for (std::int64_t in = 0; in < weights.in; ++in) {
      if (in % fixed.inputs == 0) magnitudes.begin_sum();
      magnitudes.add(first[in * weights.block]);
    }
    each(unit, magnitudes.unit(fixed.inputs, fixed.levels), first);
  }
}

void pack_fixed_transformed(const FixedTransform& fixed, const float* from, std::int16_t* to) {
  const std::int64_t block = fixed.weights.block;
  for_each_unit(fixed, from, [&](std::int64_t at, double unit, const float* first) {
    if (!(unit > 0)) return;
    std::int16_t* const pairs = to + at / block * fixed.weights.in * block + at % block * 2;
    for (std::int64_t in = 0; in < fixed.weights.in; ++in)
      pairs[in / 2 * block * 2 + in % 2] = static_cast<std::int16_t>(std::lround(first[in * block] / unit));
  });
}

void write_fixed_transform_scales(const FixedTransform& fixed, const float* from, float* to) {
  for_each_unit(fixed, from, [&](std::int64_t at, double unit, const float*) { to[at] = static_cast<float>(unit); });
}

}  // namespace

bool fits_fixed(const Packing& packing, const Tensor& source) {
  if (source.type != ElementType::kFloat32) return false;
  if (is_transformed(packing.kind)) return packing.numbers.size() == 6 && FixedTransform(packing.numbers).fits(source);
  return packing.numbers.size() == 10 && FixedPoint(packing.numbers).fits(source);
}

std::size_t fixed_bytes(const Packing& packing) {
  const Extents& n = packing.numbers;
  switch (packing.kind) {
    case PackingKind::kFixedPairs:
      return static_cast<std::size_t>(rounded_up(n[0], n[6]) * n[1] * rounded_up(n[2], 2)) * sizeof(std::int16_t);
    case PackingKind::kFixedScales:
      return static_cast<std::size_t>(rounded_up(n[0], n[6])) * sizeof(float);
    case PackingKind::kFixedWinograd:
      return static_cast<std::size_t>(FixedTransform(n).weights.size()) * sizeof(std::int16_t);
    default:
      return static_cast<std::size_t>(FixedTransform(n).units()) * sizeof(float);
  }
}

void fill_fixed(const Packing& packing, const Tensor& source, std::byte* to) {
  const auto* const from = reinterpret_cast<const float*>(source.data.data());
  switch (packing.kind) {
    case PackingKind::kFixedPairs:
      return pack_fixed_pairs(FixedPoint(packing.numbers), from, reinterpret_cast<std::int16_t*>(to));
    case PackingKind::kFixedScales:
      return write_fixed_scales(FixedPoint(packing.numbers), from, reinterpret_cast<float*>(to));
    case PackingKind::kFixedWinograd:
      return pack_fixed_transformed(FixedTransform(packing.numbers), from, reinterpret_cast<std::int16_t*>(to));
    default:
      return write_fixed_transform_scales(FixedTransform(packing.numbers), from, reinterpret_cast<float*>(to));
  }
}

}  // namespace collage::native
