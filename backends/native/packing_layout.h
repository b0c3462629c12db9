// How packings lay weights out, as their numbers say (packing.h): for the files that fill them.
// In:  the numbers of a packing. Out: its parts by name, and whether they fit a constant.
#pragma once

#include "packing.h"

namespace collage::native {

[[nodiscard]] inline std::int64_t rounded_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

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

/// Winograd's weights: `to` has size() places, in the order of kWinograd or kWinogradRows.
void pack_transformed(const Transformed& weights, const float* from, float* to);

}  // namespace collage::native
