// Costs that the tests of the store put into it, and a store opened without an error.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "store/store.h"

namespace collage {

inline const Cost kMeasured = Measured{.median_ns = 1200, .low_ns = 1100, .high_ns = 1300, .samples = 9};
inline const Cost kRefused = Infeasible{{.reason = RefusalReason::kCrashed, .detail = "killed by SIGSEGV \"here\""}};

inline Store open(const std::string& spec) {
  auto store = Store::open(spec);
  EXPECT_TRUE(store);
  return std::move(*store);
}

}  // namespace collage
