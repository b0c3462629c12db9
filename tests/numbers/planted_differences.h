// Differences planted in tensors, for testing a comparator: each case is a pair that must be refused, or one that must
// pass. Used on the product's comparator, and to show that every broken one is found out.
#pragma once

#include <string>
#include <vector>

#include "numbers/compare.h"

namespace collage::test {

struct PlantedCase {
  std::string name;
  Tensor seen;
  Tensor expected;
  bool is_right = false;  ///< must pass
  bool one_step = false;
  bool is_16bit = false;
  Accuracy accuracy = Accuracy::kStandard;
};

/// More than a hundred differences, and pairs at the edge of what is allowed.
[[nodiscard]] std::vector<PlantedCase> planted_cases();

}  // namespace collage::test
