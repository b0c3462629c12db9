#include "packing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/narrow_float.h"

namespace collage::native {
namespace {

constexpr std::array<std::string_view, 14> kNames = {"none",           "panels",
                                                     "winograd",       "quads",
                                                     "pairs",          "quad-sums",
                                                     "narrow-panels",  "narrow-pairs",
                                                     "half-panels",    "winograd-rows",
                                                     "fixed-pairs",    "fixed-scales",
                                                     "fixed-winograd", "fixed-winograd-scales"};

std::int64_t rounded_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// The numbers of all kinds but kWinograd and kWinogradRows; without groups all outputs are one.
struct Panels {
  std::int64_t out, taps, in, out_stride, tap_stride, in_stride, block, group_out, group_stride;
  explicit Panels(const Extents& numbers)
      : out(numbers[0]),
        taps(numbers[1]),
        in(numbers[2]),
        out_stride(numbers[3]),
        tap_stride(numbers[4]),
        in_stride(numbers[5]),
        block(numbers[6]),
        group_out(numbers.size() > 7 ? numbers[7] : numbers[0]),
        group_stride(numbers.size() > 8 ? numbers[8] : 0) {}
  [[nodiscard]] bool fits(const Tensor& source) const {
    return out > 0 && taps > 0 && in > 0 && block > 0 && out_stride > 0 && tap_stride > 0 && in_stride > 0 &&
           group_out > 0 && out % group_out == 0 && group_stride >= 0 &&
           (out / group_out - 1) * group_stride + (group_out - 1) * out_stride + (taps - 1) * tap_stride +
                   (in - 1) * in_stride <
               source.size();
  }
  /// Where an output's first number lies.
  [[nodiscard]] std::int64_t offset(std::int64_t output) const {
    return output / group_out * group_stride + output % group_out * out_stride;
  }
};

template <class T>
void pack_panels(const Panels& panels, const T* from, float* to) {
  for (std::int64_t first = 0; first < panels.out; first += panels.block)
    for (std::int64_t tap = 0; tap < panels.taps; ++tap)
      for (std::int64_t in = 0; in < panels.in; ++in, to += panels.block) {
        const T* source = from + tap * panels.tap_stride + in * panels.in_stride;
        const std::int64_t count = std::min(panels.block, panels.out - first);
        for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(source[panels.offset(first + i)]);
      }
}

/// Bytes as they are multiplied: signed ones, and unsigned ones less 128.
std::uint8_t flip_of(ElementType type) { return type == ElementType::kUint8 ? 0x80 : 0; }

template <std::int64_t kGroup, class T>
void pack_groups(const Panels& panels, std::uint8_t flip, const std::uint8_t* from, T* to) {
  for (std::int64_t first = 0; first < panels.out; first += panels.block)
    for (std::int64_t tap = 0; tap < panels.taps; ++tap)
      for (std::int64_t in = 0; in < panels.in; in += kGroup, to += kGroup * panels.block)
        for (std::int64_t i = 0; i < std::min(panels.block, panels.out - first); ++i)
          for (std::int64_t j = 0; j < std::min(kGroup, panels.in - in); ++j)
            to[kGroup * i + j] = static_cast<std::int8_t>(
                flip ^ from[(first + i) * panels.out_stride + tap * panels.tap_stride + (in + j) * panels.in_stride]);
}

/// f32 in 16 bits.
template <std::int64_t kGroup, std::uint16_t (*kRounded)(float)>
void pack_narrow(const Panels& panels, const float* from, std::uint16_t* to) {
  for (std::int64_t first = 0; first < panels.out; first += panels.block)
    for (std::int64_t tap = 0; tap < panels.taps; ++tap)
      for (std::int64_t in = 0; in < panels.in; in += kGroup, to += kGroup * panels.block)
        for (std::int64_t i = 0; i < std::min(panels.block, panels.out - first); ++i)
          for (std::int64_t j = 0; j < std::min(kGroup, panels.in - in); ++j)
            to[kGroup * i + j] =
                kRounded(from[(first + i) * panels.out_stride + tap * panels.tap_stride + (in + j) * panels.in_stride]);
}

/// What an integer stands for, of weights whose largest magnitude and largest sum of magnitudes in one sum of products
/// are these: 0 where all are zero, NaN where one is not finite. A half for each of the `terms` that are rounded, too,
/// times `levels` leaves 32 bits free.
double fixed_unit(double largest, double sum, std::int64_t terms, std::int64_t levels) {
  if (!std::isfinite(sum)) return std::numeric_limits<double>::quiet_NaN();
  const double room = static_cast<double>(std::numeric_limits<std::int32_t>::max()) / static_cast<double>(levels) -
                      0.5 * static_cast<double>(terms);
  return std::max(largest / std::numeric_limits<std::int16_t>::max(), sum / room);
}

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
  /// The largest sum of magnitudes over the numbers of one sum.
  [[nodiscard]] double largest_sum(const float* from, std::int64_t output) const;
  [[nodiscard]] double unit(const float* from, std::int64_t output) const;
};

double FixedPoint::largest_sum(const float* from, std::int64_t output) const {
  double largest = 0;
  for (std::int64_t first_tap = 0; first_tap < panels.taps; first_tap += taps)
    for (std::int64_t first_in = 0; first_in < panels.in; first_in += inputs) {
      double sum = 0;
      for (std::int64_t tap = first_tap; tap < first_tap + taps; ++tap)
        for (std::int64_t in = first_in; in < first_in + inputs; ++in)
          sum += std::abs(static_cast<double>(weight(from, output, tap, in)));
      if (!std::isfinite(sum)) return sum;
      largest = std::max(largest, sum);
    }
  return largest;
}

double FixedPoint::unit(const float* from, std::int64_t output) const {
  double largest = 0;
  for (std::int64_t tap = 0; tap < panels.taps; ++tap)
    for (std::int64_t in = 0; in < panels.in; ++in)
      largest = std::max(largest, std::abs(static_cast<double>(weight(from, output, tap, in))));
  return fixed_unit(largest, largest_sum(from, output), inputs * taps, levels);
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

void sum_quads(const Panels& panels, std::uint8_t flip, const std::uint8_t* from, std::int32_t* to) {
  for (std::int64_t out = 0; out < panels.out; ++out)
    for (std::int64_t tap = 0; tap < panels.taps; ++tap)
      for (std::int64_t in = 0; in < panels.in; ++in)
        to[out] += static_cast<std::int8_t>(
            flip ^ from[out * panels.out_stride + tap * panels.tap_stride + in * panels.in_stride]);
}

/// G of F(m, 3): rows of the transform of three taps to m + 2 points. A tile of 1 has one tap, and is not transformed.
std::array<std::array<double, 3>, 6> weight_transform(std::int64_t tile) {
  if (tile == 1) return {{{1, 0, 0}, {}, {}, {}, {}, {}}};
  if (tile == 2) return {{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}, {}, {}}};
  return {{{0.25, 0, 0},
           {-1.0 / 6, -1.0 / 6, -1.0 / 6},
           {-1.0 / 6, 1.0 / 6, -1.0 / 6},
           {1.0 / 24, 1.0 / 12, 1.0 / 6},
           {1.0 / 24, -1.0 / 12, 1.0 / 6},
           {0, 0, 1}}};
}

/// Along one axis.
struct Transform {
  std::int64_t taps = 1;
  std::int64_t tile = 1;
  [[nodiscard]] std::int64_t points() const { return tile == 1 ? 1 : tile + 2; }
  [[nodiscard]] bool is_known() const { return tile == 1 ? taps == 1 : taps == 3 && (tile == 2 || tile == 4); }
};

/// Weights [out][in][rows][columns][rest], of which rows and columns are transformed.
struct Transformed {
  std::int64_t out = 0, in = 0, rest = 1, block = 1;
  Transform rows, columns;

  /// Numbers of kWinograd or kWinogradRows. Precondition: as many as the kind has.
  Transformed(PackingKind kind, const Extents& n) : out(n[0]), in(n[1]), block(n.back()) {
    if (kind == PackingKind::kWinograd) {
      rows = columns = {.taps = 3, .tile = n[2]};
    } else {
      rows = {.taps = n[2], .tile = n[5]};
      columns = {.taps = n[3], .tile = n[6]};
      rest = n[4];
    }
  }
  [[nodiscard]] std::int64_t taps() const { return rows.taps * columns.taps * rest; }
  [[nodiscard]] std::int64_t size() const {
    return rounded_up(out, block) * rows.points() * columns.points() * rest * in;
  }
  [[nodiscard]] bool fits(const Tensor& source) const {
    const bool is_positive = out > 0 && in > 0 && rest > 0 && block > 0;
    return is_positive && rows.is_known() && columns.is_known() && out * in * taps() == source.size();
  }
};

bool fits_transform(const Packing& packing, const Tensor& source) {
  const std::size_t count = packing.kind == PackingKind::kWinograd ? 4 : 8;
  return packing.numbers.size() == count && source.type == ElementType::kFloat32 &&
         Transformed(packing.kind, packing.numbers).fits(source);
}

/// U = G g G^T for each pair of channels, in double so that the transform adds no error of its own.
void pack_transformed(const Transformed& weights, const float* from, float* to) {
  const auto g_rows = weight_transform(weights.rows.tile);
  const auto g_columns = weight_transform(weights.columns.tile);
  const auto row_taps = static_cast<std::size_t>(weights.rows.taps);
  const auto column_taps = static_cast<std::size_t>(weights.columns.taps);
  const auto rest = static_cast<std::size_t>(weights.rest);
  const auto points = static_cast<std::size_t>(weights.columns.points());
  const std::int64_t area = weights.rows.points() * weights.columns.points();
  for (std::int64_t k = 0; k < weights.out; ++k)
    for (std::int64_t c = 0; c < weights.in; ++c) {
      const float* taps = from + (k * weights.in + c) * weights.taps();
      for (std::int64_t point = 0; point < area; ++point) {
        const auto& along_rows = g_rows.at(static_cast<std::size_t>(point) / points);
        const auto& along_columns = g_columns.at(static_cast<std::size_t>(point) % points);
        for (std::size_t z = 0; z < rest; ++z) {
          double sum = 0;
          for (std::size_t y = 0; y < row_taps; ++y)
            for (std::size_t x = 0; x < column_taps; ++x)
              sum +=
                  along_rows.at(y) * along_columns.at(x) * static_cast<double>(taps[(y * column_taps + x) * rest + z]);
          const std::int64_t place =
              ((k / weights.block * area + point) * weights.rest + static_cast<std::int64_t>(z)) * weights.in + c;
          to[place * weights.block + k % weights.block] = static_cast<float>(sum);
        }
      }
    }
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

bool fits_fixed_transform(const Packing& packing, const Tensor& source) {
  return packing.numbers.size() == 6 && source.type == ElementType::kFloat32 &&
         FixedTransform(packing.numbers).fits(source);
}

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
    double largest = 0;
    double largest_sum = 0;
    double sum = 0;
    for (std::int64_t in = 0; in < weights.in; ++in) {
      const double magnitude = std::abs(static_cast<double>(first[in * weights.block]));
      largest = std::max(largest, magnitude);
      sum = in % fixed.inputs == 0 ? magnitude : sum + magnitude;
      largest_sum = std::isfinite(sum) ? std::max(largest_sum, sum) : sum;
      if (!std::isfinite(sum)) break;
    }
    each(unit, fixed_unit(largest, largest_sum, fixed.inputs, fixed.levels), first);
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

std::unexpected<Error> misfit(const Packing& packing, const Tensor& source) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "native",
              std::string(name_of(packing.kind)) + " of " + to_string(source.value_type()),
              "a constant of the size the artifact was compiled for");
}

bool is_byte(ElementType type) { return type == ElementType::kInt8 || type == ElementType::kUint8; }

bool fits(const Packing& packing, const Tensor& source) {
  switch (packing.kind) {
    case PackingKind::kNone:
      return true;
    case PackingKind::kPanels:
      return (packing.numbers.size() == 7 || packing.numbers.size() == 9) &&
             (source.type == ElementType::kFloat32 || is_byte(source.type)) && Panels(packing.numbers).fits(source);
    case PackingKind::kQuads:
    case PackingKind::kPairs:
    case PackingKind::kQuadSums:
      return packing.numbers.size() == 7 && is_byte(source.type) && Panels(packing.numbers).fits(source);
    case PackingKind::kBfloatPanels:
    case PackingKind::kHalfPanels:
    case PackingKind::kBfloatPairs:
      return packing.numbers.size() == 7 && source.type == ElementType::kFloat32 &&
             Panels(packing.numbers).fits(source);
    case PackingKind::kWinograd:
    case PackingKind::kWinogradRows:
      return fits_transform(packing, source);
    case PackingKind::kFixedPairs:
    case PackingKind::kFixedScales:
      return packing.numbers.size() == 10 && source.type == ElementType::kFloat32 &&
             FixedPoint(packing.numbers).fits(source);
    case PackingKind::kFixedWinograd:
    case PackingKind::kFixedWinogradScales:
      return fits_fixed_transform(packing, source);
  }
  return false;
}

}  // namespace

PackingKind panels_in(ElementType type) {
  if (type == ElementType::kBfloat16) return PackingKind::kBfloatPanels;
  return type == ElementType::kFloat16 ? PackingKind::kHalfPanels : PackingKind::kPanels;
}

std::string_view name_of(PackingKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

std::optional<PackingKind> packing_kind_of(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<PackingKind>(found - kNames.begin());
}

std::size_t packed_bytes(const Packing& packing, const Tensor& source) {
  const Extents& n = packing.numbers;
  switch (packing.kind) {
    case PackingKind::kNone:
      return source.data.size();
    case PackingKind::kPanels:
      return static_cast<std::size_t>(rounded_up(n[0], n[6]) * n[1] * n[2]) * sizeof(float);
    case PackingKind::kQuads:
      return static_cast<std::size_t>(rounded_up(n[0], n[6]) * n[1] * rounded_up(n[2], 4));
    case PackingKind::kBfloatPanels:
    case PackingKind::kHalfPanels:
      return static_cast<std::size_t>(rounded_up(n[0], n[6]) * n[1] * n[2]) * sizeof(std::uint16_t);
    case PackingKind::kPairs:
    case PackingKind::kBfloatPairs:
    case PackingKind::kFixedPairs:
      return static_cast<std::size_t>(rounded_up(n[0], n[6]) * n[1] * rounded_up(n[2], 2)) * sizeof(std::int16_t);
    case PackingKind::kQuadSums:
    case PackingKind::kFixedScales:
      return static_cast<std::size_t>(rounded_up(n[0], n[6])) * sizeof(std::int32_t);
    case PackingKind::kWinograd:
    case PackingKind::kWinogradRows:
      return static_cast<std::size_t>(Transformed(packing.kind, n).size()) * sizeof(float);
    case PackingKind::kFixedWinograd:
      return static_cast<std::size_t>(FixedTransform(n).weights.size()) * sizeof(std::int16_t);
    case PackingKind::kFixedWinogradScales:
      return static_cast<std::size_t>(FixedTransform(n).units()) * sizeof(float);
  }
  return 0;
}

namespace {

/// From f32 or bytes.
void pack_panels(const Panels& panels, const Tensor& source, float* to) {
  const std::byte* from = source.data.data();
  if (source.type == ElementType::kInt8) return pack_panels(panels, reinterpret_cast<const std::int8_t*>(from), to);
  if (source.type == ElementType::kUint8) return pack_panels(panels, reinterpret_cast<const std::uint8_t*>(from), to);
  pack_panels(panels, reinterpret_cast<const float*>(from), to);
}

void fill(const Packing& packing, const Tensor& source, std::byte* to) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(source.data.data());
  const std::uint8_t flip = flip_of(source.type);
  switch (packing.kind) {
    case PackingKind::kNone:
      break;
    case PackingKind::kPanels:
      return pack_panels(Panels(packing.numbers), source, reinterpret_cast<float*>(to));
    case PackingKind::kWinograd:
    case PackingKind::kWinogradRows:
      return pack_transformed(Transformed(packing.kind, packing.numbers), reinterpret_cast<const float*>(bytes),
                              reinterpret_cast<float*>(to));
    case PackingKind::kQuads:
      return pack_groups<4>(Panels(packing.numbers), flip, bytes, reinterpret_cast<std::int8_t*>(to));
    case PackingKind::kPairs:
      return pack_groups<2>(Panels(packing.numbers), flip, bytes, reinterpret_cast<std::int16_t*>(to));
    case PackingKind::kBfloatPanels:
      return pack_narrow<1, to_bfloat>(Panels(packing.numbers), reinterpret_cast<const float*>(bytes),
                                       reinterpret_cast<std::uint16_t*>(to));
    case PackingKind::kBfloatPairs:
      return pack_narrow<2, to_bfloat>(Panels(packing.numbers), reinterpret_cast<const float*>(bytes),
                                       reinterpret_cast<std::uint16_t*>(to));
    case PackingKind::kHalfPanels:
      return pack_narrow<1, to_half>(Panels(packing.numbers), reinterpret_cast<const float*>(bytes),
                                     reinterpret_cast<std::uint16_t*>(to));
    case PackingKind::kFixedPairs:
      return pack_fixed_pairs(FixedPoint(packing.numbers), reinterpret_cast<const float*>(bytes),
                              reinterpret_cast<std::int16_t*>(to));
    case PackingKind::kFixedScales:
      return write_fixed_scales(FixedPoint(packing.numbers), reinterpret_cast<const float*>(bytes),
                                reinterpret_cast<float*>(to));
    case PackingKind::kFixedWinograd:
      return pack_fixed_transformed(FixedTransform(packing.numbers), reinterpret_cast<const float*>(bytes),
                                    reinterpret_cast<std::int16_t*>(to));
    case PackingKind::kFixedWinogradScales:
      return write_fixed_transform_scales(FixedTransform(packing.numbers), reinterpret_cast<const float*>(bytes),
                                          reinterpret_cast<float*>(to));
    case PackingKind::kQuadSums:
      return sum_quads(Panels(packing.numbers), flip, bytes, reinterpret_cast<std::int32_t*>(to));
  }
}

}  // namespace

Result<Buffer> pack(const Packing& packing, const Tensor& source) {
  if (!fits(packing, source)) return misfit(packing, source);
  if (packing.kind == PackingKind::kNone) return source.data;
  return Buffer::make(packed_bytes(packing, source),
                      [&](std::span<std::byte> bytes) { fill(packing, source, bytes.data()); });
}

}  // namespace collage::native
