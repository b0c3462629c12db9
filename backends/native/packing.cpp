#include "packing.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/narrow_float.h"
#include "packing_fixed.h"
#include "packing_layout.h"

namespace collage::native {
namespace {

constexpr std::array<std::string_view, 14> kNames = {"none",           "panels",
                                                     "winograd",       "quads",
                                                     "pairs",          "quad-sums",
                                                     "narrow-panels",  "narrow-pairs",
                                                     "half-panels",    "winograd-rows",
                                                     "fixed-pairs",    "fixed-scales",
                                                     "fixed-winograd", "fixed-winograd-scales"};

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

bool fits_transform(const Packing& packing, const Tensor& source) {
  const std::size_t count = packing.kind == PackingKind::kWinograd ? 4 : 8;
  return packing.numbers.size() == count && source.type == ElementType::kFloat32 &&
         Transformed(packing.kind, packing.numbers).fits(source);
}

}  // namespace

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

namespace {

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
    case PackingKind::kFixedWinograd:
    case PackingKind::kFixedWinogradScales:
      return fits_fixed(packing, source);
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
      return static_cast<std::size_t>(rounded_up(n[0], n[6]) * n[1] * rounded_up(n[2], 2)) * sizeof(std::int16_t);
    case PackingKind::kQuadSums:
      return static_cast<std::size_t>(rounded_up(n[0], n[6])) * sizeof(std::int32_t);
    case PackingKind::kWinograd:
    case PackingKind::kWinogradRows:
      return static_cast<std::size_t>(Transformed(packing.kind, n).size()) * sizeof(float);
    case PackingKind::kFixedPairs:
    case PackingKind::kFixedScales:
    case PackingKind::kFixedWinograd:
    case PackingKind::kFixedWinogradScales:
      return fixed_bytes(packing);
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
    case PackingKind::kFixedScales:
    case PackingKind::kFixedWinograd:
    case PackingKind::kFixedWinogradScales:
      return fill_fixed(packing, source, to);
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
