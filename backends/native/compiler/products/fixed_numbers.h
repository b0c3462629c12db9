// Floats as 16-bit integers times a scale, in Halide code.
// In:  values in groups, such as the channels of a place. Out: a scale for each group, and the integers.
// How: the scale makes the largest magnitude of the group the largest integer. Where a value is infinite or NaN the
//       scale is NaN, and so is all that is computed from the group.
// Example: of 3, -1.5 and 0.001 with 8191 levels: 8191, -4096 and 3 in units of 3 / 8191.
// Cost: two passes over the values.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace collage::native {

/// The largest integer of a factor in sums of so many products: short sums leave room for more.
[[nodiscard]] std::int64_t fixed_levels(std::int64_t terms);

/// Values that share a scale.
struct FixedGroups {
  std::vector<Halide::Var> places;  ///< by which groups are told apart
  std::int64_t elements = 1;        ///< of a group, a multiple of `lanes`
  std::int64_t lanes = 1;           ///< in one step
  /// The value of an element of the group at `places`.
  std::function<Halide::Expr(const Halide::Expr& element)> value;
};

class FixedScales {
 public:
  FixedScales(const FixedGroups& groups, std::int64_t levels);

  /// What an integer of the group stands for.
  [[nodiscard]] Halide::Expr scale(const std::vector<Halide::Expr>& place) const { return scales_(place)[0]; }
  /// The integer that is nearest to a value of the group.
  [[nodiscard]] Halide::Expr integer(const Halide::Expr& value, const std::vector<Halide::Expr>& place) const;
  /// To be scheduled: what is before it is computed where it is.
  [[nodiscard]] const Halide::Func& func() const { return scales_; }

 private:
  Halide::Func scales_{"scales"};
};

}  // namespace collage::native
