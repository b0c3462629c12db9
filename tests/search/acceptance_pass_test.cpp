// Two backends, from their rules to the cover: a compiler that takes every operator and fuses as compilers do, and a
// library for Relu, Add and Concat that fuses anything it has a pattern for. Both take regions of one output without
// taps, up to a depth. An operator costs so many units, each later one of a region nine tenths of the one before.
// Source: the pass tests of Collage in TVM. Its coalescing asked for no new cost; likewise here: sum of parts.
#include <gmock/gmock.h>

#include "placement_fixture.h"

namespace collage::testing_support {
namespace {

using enum FusionClass;

struct TwoBackends {
  std::int64_t native = 1;
  std::int64_t ext = 1;
  std::size_t native_depth = 8;
  std::size_t ext_depth = 8;
};

Placement placement_of(Graph graph, const TwoBackends& two) {
  const PartitionRule known =
      any_of({pattern_rule("relu", "Relu"), pattern_rule("add", "Add"), pattern_rule("concat", "Concat")});
  Placement placement(
      std::move(graph),
      {willing("native", of_depth(grown_like_native(operators_up_to(kAnchor), two.native_depth), two.native_depth)),
       willing("ext", of_depth(joined(known, two.ext_depth), two.ext_depth))});
  MockCosts costs;
  costs.per_operator("native", two.native).per_operator("ext", two.ext);
  placement.price(std::ref(costs));
  return placement;
}

/// "ext {0}; native {1} = 3000000000": partitions after coalescing and the cost of the cover in nanoseconds.
std::string placed_exactly(const Placement& placement) {
  const auto result = placement.search_and_coalesce();
  EXPECT_TRUE(result) << to_string(result.error());
  if (!result) return "";
  EXPECT_TRUE(result->exact);
  return partitions(result->cover) + " = " + std::to_string(result->cover.cost_ns);
}

/// "native 4, ext 3": how many legal candidates there are.
std::string counts(const Placement& placement) {
  return "native " + std::to_string(placement.proposed_by("native")) + ", ext " +
         std::to_string(placement.proposed_by("ext"));
}

/// Relu, Abs, Relu, then the sum of the last two.
Graph relu_abs_relu_add() {
  GraphBuilder net;
  const ValueId abs = net.add("Abs", {net.add("Relu", {net.input("x")})});
  const ValueId relu = net.add("Relu", {abs});
  return net.take({net.add("Add", {abs, relu})});
}

TEST(Acceptance, TheCheaperNativeBackendGetsTheOperator) {
  const Placement placement = placement_of(chain_of({"Relu"}), {.native = 1, .ext = 2});
  EXPECT_EQ(counts(placement), "native 1, ext 1");
  EXPECT_EQ(placed_exactly(placement), "native {0} = 1000000000");
}

TEST(Acceptance, TheCheaperLibraryGetsTheOperatorUnderItsLabel) {
  const Placement placement = placement_of(chain_of({"Relu"}), {.native = 2, .ext = 1});
  EXPECT_EQ(counts(placement), "native 1, ext 1");
  EXPECT_EQ(placed_exactly(placement), "ext {0} = 1000000000");
  EXPECT_EQ(placement.pool().candidates.back().matches, (std::vector<Match>{placement.subject().match("relu", {0})}));
}

TEST(Acceptance, NeighboursOfTheLibraryBecomeOneStepAfterTheSearch) {
  const Placement placement =
      placement_of(relu_abs_relu_add(), {.native = 2, .ext = 1, .native_depth = 1, .ext_depth = 1});
  EXPECT_EQ(counts(placement), "native 4, ext 3");
  EXPECT_EQ(partitions(placement.search()->cover), "ext {0}; native {1}; ext {2}; ext {3}");
  EXPECT_EQ(placed_exactly(placement), "ext {0}; native {1}; ext {2,3} = 5000000000");
}

TEST(Acceptance, NeighboursOfTheLibraryAreFoundAsOneByTheSearch) {
  const Placement placement =
      placement_of(relu_abs_relu_add(), {.native = 2, .ext = 1, .native_depth = 1, .ext_depth = 3});
  EXPECT_EQ(counts(placement), "native 4, ext 4");
  EXPECT_EQ(partitions(placement.search()->cover), "ext {0}; native {1}; ext {2,3}");
  EXPECT_EQ(placed_exactly(placement), "ext {0}; native {1}; ext {2,3} = 4900000000");
  const auto& matches = placement.pool().candidates.back().matches;
  EXPECT_THAT(matches, ::testing::UnorderedElementsAre(placement.subject().match("relu", {2}),
                                                       placement.subject().match("add", {3})));
}

Placement three_relus(std::int64_t native, std::int64_t ext, std::size_t native_depth, std::size_t ext_depth) {
  return placement_of(chain_of({"Relu", "Relu", "Relu"}),
                      {.native = native, .ext = ext, .native_depth = native_depth, .ext_depth = ext_depth});
}

TEST(Acceptance, WithoutFusionTheCheaperLibraryTakesTheChain) {
  const Placement placement = three_relus(100, 99, 1, 1);
  EXPECT_EQ(counts(placement), "native 3, ext 3");
  EXPECT_EQ(placed_exactly(placement), "ext {0..2} = 297000000000");
}

/// Two covers of two steps cost 289 units: {0} and {1,2}, or {0,1} and {2}. Time, steps, conversions and bytes are
/// equal; of such covers the search keeps the one whose schedule it met first: fewer nodes in the first step.
TEST(Acceptance, FusingTwoPaysForTheDearerBackend) {
  const Placement placement = three_relus(100, 99, 2, 1);
  EXPECT_EQ(counts(placement), "native 5, ext 3");
  EXPECT_EQ(placed_exactly(placement), "ext {0}; native {1,2} = 289000000000");
}

TEST(Acceptance, FusingThreePaysForTheDearerBackend) {
  const Placement placement = three_relus(100, 99, 3, 1);
  EXPECT_EQ(counts(placement), "native 6, ext 3");
  EXPECT_EQ(placed_exactly(placement), "native {0..2} = 271000000000");
}

TEST(Acceptance, WithoutFusionTheCheaperCompilerTakesTheChain) {
  const Placement placement = three_relus(99, 100, 1, 1);
  EXPECT_EQ(counts(placement), "native 3, ext 3");
  EXPECT_EQ(placed_exactly(placement), "native {0..2} = 297000000000");
}

/// A tie as for the dearer backend, with the same rule.
TEST(Acceptance, FusingTwoPaysForTheDearerLibrary) {
  const Placement placement = three_relus(99, 100, 1, 2);
  EXPECT_EQ(counts(placement), "native 3, ext 5");
  EXPECT_EQ(placed_exactly(placement), "native {0}; ext {1,2} = 289000000000");
}

TEST(Acceptance, FusingThreePaysForTheDearerLibrary) {
  const Placement placement = three_relus(99, 100, 1, 3);
  EXPECT_EQ(counts(placement), "native 3, ext 6");
  EXPECT_EQ(placed_exactly(placement), "ext {0..2} = 271000000000");
}

TEST(Acceptance, CoalescingMayGiveAStepTwoResults) {
  GraphBuilder net;
  const ValueId first = net.add("Relu", {net.input("x")});
  const ValueId second = net.add("Relu", {first});
  const Placement placement = placement_of(net.take({first, second, net.add("Abs", {second})}),
                                           {.native = 2, .ext = 1, .native_depth = 2, .ext_depth = 2});
  EXPECT_EQ(counts(placement), "native 3, ext 2");
  EXPECT_EQ(placed_exactly(placement), "ext {0,1}; native {2} = 4000000000");
  const Region both = placement.subject().region({0, 1});
  EXPECT_EQ(placement.subject().names(both.outputs), "v0,v1");
  EXPECT_EQ(placement.subject().names(taps_of(placement.subject().uses, both)), "v0");
}

/// Without nodes for tuples nothing stands between a Concat and the makers of its operands.
TEST(Acceptance, AConcatJoinsTheMakersOfItsOperands) {
  GraphBuilder net;
  const ValueId first = net.add("Relu", {net.input("x")});
  const ValueId second = net.add("Relu", {first});
  const Placement placement =
      placement_of(net.take({net.add("Concat", {first, second}, {2, 4, 2, 2}, {{"axis", std::int64_t{0}}})}),
                   {.native = 2, .ext = 1, .native_depth = 3, .ext_depth = 5});
  EXPECT_EQ(counts(placement), "native 4, ext 5") << "native takes in all makers of a Concat or none";
  EXPECT_EQ(placed_exactly(placement), "ext {0..2} = 2710000000");
}

TEST(Acceptance, OneLongRegionWaitsForAnotherBackendInBetween) {
  GraphBuilder net;
  const ValueId x = net.input("x");
  const ValueId left = net.add("Relu", {net.add("Relu", {x})});
  const ValueId right = net.add("Relu", {net.add("Abs", {x})});
  const ValueId last = net.add("Relu", {net.add("Add", {left, right})});
  const Placement placement =
      placement_of(net.take({net.add("Abs", {last})}), {.native = 5, .ext = 6, .native_depth = 1, .ext_depth = 5});
  EXPECT_EQ(counts(placement), "native 7, ext 17") << "the closure is complete";
  EXPECT_EQ(placed_exactly(placement), "ext {0,1,3..5}; native {2}; native {6} = 34570600000");
}

TEST(Acceptance, TheLibraryFusesBehindWhatItCannotRun) {
  GraphBuilder net;
  const ValueId relu = net.add("Relu", {net.input("x")});
  const ValueId abs = net.add("Abs", {relu});
  const ValueId sum = net.add("Add", {relu, abs});
  const Placement placement =
      placement_of(net.take({net.add("Add", {abs, sum})}), {.native = 2, .ext = 1, .native_depth = 4, .ext_depth = 4});
  EXPECT_EQ(counts(placement), "native 7, ext 4");
  EXPECT_EQ(placed_exactly(placement), "ext {0}; native {1}; ext {2,3} = 4900000000");
}

Placement two_relus_two_sums() {
  GraphBuilder net;
  const ValueId first = net.add("Relu", {net.input("x")});
  const ValueId second = net.add("Relu", {first});
  const ValueId sum = net.add("Add", {first, second});
  return placement_of(net.take({net.add("Add", {second, sum})}),
                      {.native = 2, .ext = 1, .native_depth = 4, .ext_depth = 4});
}

TEST(Acceptance, AWholeGraphOfTheLibraryIsTheBestCover) {
  Placement placement = two_relus_two_sums();
  EXPECT_EQ(counts(placement), "native 7, ext 7");
  EXPECT_EQ(placed_exactly(placement), "ext {0..3} = 3439000000");
}

}  // namespace
}  // namespace collage::testing_support
