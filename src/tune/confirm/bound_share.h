// What a plan's outputs err over the sets of inputs that were tried, and what that tells of other inputs.
// In:  the largest error of each set, as a share of the bound on outputs. Out: the share that is foreseen for others.
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

namespace collage {

struct BoundShare {
  double largest = 0;    ///< over the sets; 0 when outputs were not checked
  double least = 0;      ///< the largest error of the set that errs least
  std::size_t sets = 0;  ///< of inputs, on which outputs were checked

  void add(double share_of_set);
  /// Of inputs that were not tried. Where there are several sets, and they agree, that is little more than what they
  /// take: the largest error of many elements hardly differs from set to set.
  [[nodiscard]] double foreseen() const;
  /// Whether inputs that were not tried are inside, too.
  [[nodiscard]] bool has_reserve() const { return foreseen() <= 1; }
};

/// A share of the bound in a worker's answer: null stands for infinity, which JSON does not have. Throws as get().
[[nodiscard]] double share_in(const nlohmann::json& json);

}  // namespace collage
