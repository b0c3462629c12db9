// What the pass tests of Collage in TVM leave open, and where what it shipped was wrong.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "placement_fixture.h"
#include "search/neighbour_unions.h"
#include "store/keys.h"
#include "store/store.h"

namespace collage::testing_support {
namespace {

using enum FusionClass;

Proposer compiler(const std::string& name, std::size_t depth) {
  return willing(name, of_depth(grown_like_native(operators_up_to(kAnchor), depth), depth));
}
Proposer library_of(const std::string& name, const std::vector<std::string>& operators, std::size_t depth) {
  return willing(name, of_depth(joined(operators_named(operators), depth), depth));
}

std::string placed(const Result<SearchResult>& result) {
  if (!result) return to_string(result.error());
  return partitions(result->cover) + " = " + std::to_string(result->cover.cost_ns);
}

Graph fork_and_join() {
  GraphBuilder net;
  const ValueId head = net.add("Relu", {net.input("x")});
  const ValueId left = net.add("Relu", {head});
  return net.take({net.add("Sub", {left, net.add("Relu", {head})})});
}

TEST(Acceptance, CoalescingAForkKeepsItsHeadOnce) {
  Placement placement(fork_and_join(), {compiler("native", 1), library_of("ext", {"Relu", "Add", "Concat"}, 1)});
  MockCosts costs;
  costs.per_operator("native", 2).per_operator("ext", 1);
  placement.price(std::ref(costs));
  const auto result = placement.search_and_coalesce();
  EXPECT_EQ(placed(result), "ext {0..2}; native {3} = 5000000000");
  EXPECT_EQ(placement.subject().names(placement.subject().region({0, 1, 2}).outputs), "v1,v2");
}

/// Two patterns name the same nodes: the library is asked about them once and remembers both.
TEST(Acceptance, TwoPatternsOfOneBackendOnTheSameNodesAreBothKept) {
  PartitionRules rules;
  rules.patterns = {{.label = "first", .text = "Relu -> Relu"}, {.label = "second", .text = "Relu(Relu)"}};
  Proposer library = willing("ext", rules);
  library.support = [](const Region& region) -> std::expected<std::vector<Variant>, Refusal> {
    Variant slow = plain_variant(region).front();
    Variant fast = slow;
    slow.name = "slow";
    fast.name = "fast";
    if (region.nodes.count() == 1) return std::vector<Variant>{slow};
    return std::vector<Variant>{slow, fast};
  };
  Placement placement(chain_of({"Relu", "Relu"}), {library});
  const auto& pool = placement.pool();
  ASSERT_EQ(pool.candidates.size(), 4U) << to_text(placement.subject().graph, pool);
  for (const std::size_t c : {2, 3}) {
    EXPECT_EQ(pool.candidates[c].matches, (std::vector<Match>{placement.subject().match("first", {0, 1})}));
    EXPECT_EQ(pool.candidates[c].origin, "pattern first, pattern second");
  }
  placement.price([](const SearchCandidate& c) { return exact_cost(c.variant.name == "fast" ? 1 : 2); });
  ASSERT_TRUE(placement.search());
  EXPECT_EQ(chosen_variant(placement.search()->cover.steps.front())->name, "fast") << "the cheaper way";
  placement.price([](const SearchCandidate&) { return exact_cost(1); });
  EXPECT_EQ(chosen_variant(placement.search()->cover.steps.front())->name, "slow")
      << "on a tie the backend's own order";
}

TEST(Acceptance, TwoCompilersKeepTheirOwnCandidatesAndCosts) {
  Placement placement(chain_of({"Relu", "Abs"}), {compiler("native:a", 8), compiler("native:b", 8)});
  EXPECT_EQ(placement.proposed_by("native:a"), 3U);
  EXPECT_EQ(placement.proposed_by("native:b"), 3U);
  MockCosts costs;
  costs.per_operator("native:a", 5).per_operator("native:b", 5);
  costs.exactly("native:a", "{0}", 1).exactly("native:b", "{1}", 1);
  placement.price(std::ref(costs));
  EXPECT_EQ(costs.asked(), 6U);
  EXPECT_EQ(placed(placement.search_and_coalesce()), "native:a {0}; native:b {1} = 2");
}

TEST(Acceptance, ALargeRegionDoesNotDriveOutASmallCheapPair) {
  Placement placement(chain_of({"Relu", "Relu", "Relu"}), {compiler("native", 8), library_of("ext", {"Relu"}, 8)});
  MockCosts costs;
  costs.per_operator("native", 5).per_operator("ext", 5);
  costs.exactly("ext", "{0,1}", 2 * kUnit).exactly("native", "{2}", kUnit);
  costs.exactly("ext", "{0..2}", 9 * kUnit).exactly("native", "{0..2}", 9 * kUnit);
  placement.price(std::ref(costs));
  EXPECT_EQ(placed(placement.search_and_coalesce()), "ext {0,1}; native {2} = 3000000000");
}

Cost infeasible() { return Infeasible{{.reason = RefusalReason::kCompile, .detail = "as planted"}}; }

TEST(Acceptance, InfeasibleCandidatesAreNeverPartOfACover) {
  Placement placement(chain_of({"Relu", "Relu"}), {compiler("native", 8), library_of("ext", {"Relu"}, 8)});
  placement.price([](const SearchCandidate& c) { return c.backend == "ext" ? infeasible() : exact_cost(7); });
  EXPECT_EQ(placed(placement.search_and_coalesce()), "native {0,1} = 7");
  placement.price([](const SearchCandidate&) { return infeasible(); });
  const auto none = placement.search();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "search/uncoverable");
  EXPECT_EQ(none.error().where, "node n0") << "the first that nobody runs";
  placement.price([](const SearchCandidate& c) { return c.region->nodes.contains(1) ? infeasible() : exact_cost(1); });
  EXPECT_EQ(placement.search().error().where, "node n1");
}

/// A cost nobody knows is no number: such a candidate waits for its measurement and is not used before. Between equal
/// known costs the order of backends and of their candidates decides, whatever else is unknown.
TEST(Acceptance, UnknownCostsNeverDecide) {
  Placement placement(chain_of({"Relu", "Relu"}), {compiler("native", 8), library_of("ext", {"Relu"}, 8)});
  placement.price(
      [](const SearchCandidate& c) { return c.region->nodes.count() == 2 ? Cost{Unknown{}} : exact_cost(4); });
  EXPECT_EQ(partitions(placement.search()->cover), "native {0}; native {1}");
  placement.price([](const SearchCandidate&) { return Cost{Unknown{}}; });
  EXPECT_EQ(placement.search().error().where, "node n0");
}

/// A chain whose middle another library runs a little faster, in a format of its own: two borders are cut.
Placement middle_elsewhere(std::int64_t penalty_ns) {
  Proposer library = willing("ext", operators_named({"Abs"}));
  library.support = [](const Region& region) -> std::expected<std::vector<Variant>, Refusal> {
    const Format own{"ext:own"};
    return std::vector<Variant>{{.name = "default",
                                 .input_formats = std::vector<Format>(region.inputs.size(), own),
                                 .output_formats = std::vector<Format>(region.outputs.size(), own)}};
  };
  Placement placement(chain_of({"Relu", "Abs", "Relu"}), {willing("native", singles()), library});
  placement.boundaries = conversions_at(penalty_ns);
  MockCosts costs;
  costs.per_operator("native", 10).per_operator("ext", 9);
  placement.price(std::ref(costs));
  return placement;
}

TEST(Acceptance, ACutPaysOnlyWhenItGainsMoreThanItsBorders) {
  EXPECT_EQ(placed(middle_elsewhere(kUnit * 4 / 10).search()), "native {0}; ext {1}; native {2} = 29800000000");
  EXPECT_EQ(placed(middle_elsewhere(kUnit * 6 / 10).search()), "native {0}; native {1}; native {2} = 30000000000");
  EXPECT_EQ(placed(middle_elsewhere(kUnit * 5 / 10).search()), "native {0}; native {1}; native {2} = 30000000000")
      << "on a tie of time fewer steps, conversions included";
  EXPECT_EQ(placed(middle_elsewhere(kUnit * 4 / 10).search_and_coalesce()),
            "native {0}; ext {1}; native {2} = 29800000000");
}

/// What every step costs beside its kernel is a penalty per cut as well.
TEST(Acceptance, ALaunchIsABorderToo) {
  Placement placement(chain_of({"Relu", "Abs"}), {compiler("native", 8), willing("ext", operators_named({"Abs"}))});
  MockCosts costs;
  costs.per_operator("native", 10).per_operator("ext", 8);
  for (const auto& [launch, expected] :
       {std::pair{kUnit / 2, "native {0}; ext {1} = 19000000000"}, {kUnit * 2, "native {0,1} = 21000000000"}}) {
    placement.options.launch_ns = launch;
    placement.price(std::ref(costs));
    EXPECT_EQ(placed(placement.search()), expected);
  }
}

TEST(Acceptance, OneRegionOnTwoDevicesHasTwoCosts) {
  const Subject subject(chain_of({"Relu"}));
  const Region region = subject.region({0});
  const std::string structure = structure_key(subject.graph, region);
  const MeasureContext context{.threads = 1, .accuracy = Accuracy::kStandard, .machine = "m"};
  const auto key = [&](const std::string& instance, const std::string& device) {
    return cost_key(structure, plain_variant(region).front(),
                    {.name = instance, .kind = "accel", .version = "1", .build = "b", .devices = {device}}, context);
  };
  const std::string first = key("accel:device=0", "accel0");
  const std::string second = key("accel:device=1", "accel1");
  EXPECT_NE(first, second);
  Store store = std::move(*Store::open("memory:"));
  store.put_cost(first, exact_cost(10));
  store.put_cost(second, exact_cost(3));
  EXPECT_EQ(store.counts().costs, 2U);

  std::vector<SearchCandidate> candidates;
  for (const auto& [instance, device] : {std::pair{"accel:device=0", "accel0"}, {"accel:device=1", "accel1"}})
    candidates.push_back({.region = &region,
                          .backend = instance,
                          .variant = plain_variant(region).front(),
                          .cost = *store.cost(key(instance, device)),
                          .location = device});
  const BoundaryTable free_transfers = [](ValueId, const Place&, const Place&) -> std::optional<BoundaryChoice> {
    return BoundaryChoice{.backend = "copy", .cost = exact_cost(1)};
  };
  const auto result = choose_cover(subject.graph, subject.uses, candidates, free_transfers, {.launch_ns = 0});
  ASSERT_TRUE(result);
  EXPECT_EQ(placed(result), "accel:device=1 {0} = 5") << "there, the kernel, and back";
  EXPECT_EQ(location_of(result->cover.steps[1]), "accel1");
}

/// Relu and Abs, then Add and Mul of both: {0,2} and {1,3} would wait for each other.
Placement crossed() {
  GraphBuilder net;
  const ValueId x = net.input("x");
  const ValueId relu = net.add("Relu", {x});
  const ValueId abs = net.add("Abs", {x});
  return {net.take({net.add("Add", {relu, abs}), net.add("Mul", {relu, abs})}),
          {willing("ext1", operators_named({"Relu", "Add"})), willing("ext2", operators_named({"Abs", "Mul"}))}};
}

TEST(Acceptance, TwoUnionsThatWaitForEachOtherAreNeverBothTaken) {
  Placement placement = crossed();
  MockCosts costs;
  costs.per_operator("ext1", 1).per_operator("ext2", 1);
  placement.price(std::ref(costs));
  const auto apart = placement.search();
  ASSERT_TRUE(apart);
  std::vector<std::string> offered;
  for (const NeighbourUnion& all : neighbour_unions(placement.subject().graph, placement.subject().uses, apart->cover))
    offered.push_back(all.backend + " " + to_string(all.region.nodes));
  EXPECT_THAT(offered, ::testing::ElementsAre("ext1 {0,2}", "ext2 {1,3}"));
  EXPECT_THAT(placed(placement.search_and_coalesce()), ::testing::AnyOf("ext1 {0,2}; ext2 {1}; ext2 {3} = 4000000000",
                                                                        "ext1 {0}; ext2 {1,3}; ext1 {2} = 4000000000"));
}

TEST(Acceptance, NotEvenWhenBothWouldPay) {
  Placement placement = crossed();
  MockCosts costs;
  costs.per_operator("ext1", 10).per_operator("ext2", 10);
  costs.exactly("ext1", "{0,2}", kUnit).exactly("ext2", "{1,3}", 2 * kUnit);
  const Region left = placement.subject().region({0, 2});
  const Region right = placement.subject().region({1, 3});
  placement.price(std::ref(costs));
  for (const auto& [backend, region] : {std::pair{"ext1", &left}, {"ext2", &right}}) {
    SearchCandidate candidate{
        .region = region, .backend = backend, .variant = plain_variant(*region).front(), .cost = Unknown{}};
    candidate.cost = costs(candidate);
    placement.candidates().push_back(candidate);
  }
  EXPECT_EQ(placed(placement.search()), "ext1 {0,2}; ext2 {1}; ext2 {3} = 21000000000");
}

}  // namespace
}  // namespace collage::testing_support
