// Which variants may not round at nodes that err too much.
#include "tune/price/precision_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collage {
namespace {

NodeSet nodes(std::initializer_list<std::size_t> members) {
  NodeSet set(4);
  for (const std::size_t n : members) set.insert(n);
  return set;
}

Variant named(const std::string& name) { return {.name = name, .input_formats = {}, .output_formats = {}}; }

/// Nodes 0 and 1 have a candidate in fixed point.
CandidatePool pool_with_fixed_point() {
  CandidatePool pool;
  pool.regions = {{.nodes = nodes({0, 1})}, {.nodes = nodes({2})}};
  pool.candidates = {{.region = 0, .backend = "native", .variant = named("packed+i16.plain")},
                     {.region = 1, .backend = "native", .variant = named("flat.plain.bf16")}};
  return pool;
}

TEST(PrecisionLimits, ForbidNothingAtFirst) {
  const PrecisionLimits limits;
  EXPECT_TRUE(limits.is_empty());
  EXPECT_FALSE(limits.is_full(4));
  EXPECT_FALSE(limits.forbids(named("pairs.plain.bf16"), nodes({0})));
}

TEST(PrecisionLimits, LeaveFixedPointWhereThereIsSuchACandidate) {
  PrecisionLimits limits;
  limits.forbid_floats(nodes({0, 2}), pool_with_fixed_point());
  EXPECT_TRUE(limits.forbids(named("pairs.plain.bf16"), nodes({0, 1})));
  EXPECT_FALSE(limits.forbids(named("packed+i16.plain"), nodes({0, 1})));
  EXPECT_FALSE(limits.forbids(named("direct.plain"), nodes({0, 1})));
  EXPECT_FALSE(limits.forbids(named("pairs.plain.bf16"), nodes({1})));
  EXPECT_TRUE(limits.forbids(named("packed+i16.plain"), nodes({1, 2}))) << "node 2 has no other";
  EXPECT_EQ(to_text(limits, 4), "1 of 4 nodes keep full precision, 1 round in fixed point alone");
}

TEST(PrecisionLimits, OnlyRise) {
  PrecisionLimits limits;
  limits.forbid_16_bits(nodes({0}));
  limits.forbid_floats(nodes({0, 1}), pool_with_fixed_point());
  EXPECT_TRUE(limits.forbids(named("packed+i16.plain"), nodes({0})));
  EXPECT_FALSE(limits.forbids(named("packed+i16.plain"), nodes({1})));
  limits.forbid_16_bits(nodes({1, 2, 3}));
  EXPECT_TRUE(limits.is_full(4));
  EXPECT_EQ(to_text(limits, 4), "4 of 4 nodes keep full precision");
}

}  // namespace
}  // namespace collage
