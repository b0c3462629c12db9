// Artifacts of the backends for GPUs with changed bytes: each is refused, or loaded as another kernel.
#pragma once

#include <gtest/gtest.h>

#include "backend/backend.h"
#include "tests/support/long_run.h"
#include "tests/support/mutate/mutate_bytes.h"

namespace collage::test {

/// `loads` says whether a mutant was loaded; it must come back in any case. Some are refused.
template <class Loads>
void expect_mutants_end_well(const Artifact& artifact, Loads&& loads) {
  constexpr std::uint64_t kSeed = 1;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Dice dice(kSeed);
  int loaded = 0;
  const int count = by_length(2000, 100'000);
  for (int i = 0; i < count; ++i) {
    Artifact mutant = artifact;
    mutant.bytes = mutated_bytes(artifact.bytes, artifact.bytes, dice);
    loaded += loads(mutant) ? 1 : 0;
  }
  EXPECT_LT(loaded, count);
}

}  // namespace collage::test
