#include "tune/price/covers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tune/price/context.h"

namespace collage {
namespace {

/// A chain of operators with candidates and costs made up per test.
class Covers : public ::testing::Test {
 protected:
  explicit Covers(std::size_t length = 3) {
    graph.name = "chain";
    graph.opsets = {{"", 26}};
    const ValueType type = ValueType::tensor(ElementType::kFloat32, {4});
    ValueId last = add_value(graph, "x", type);
    graph.inputs = {last};
    for (std::size_t n = 0; n < length; ++n) {
      const std::string name = "n" + std::to_string(n);
      const ValueId out = add_value(graph, "v" + std::to_string(n), type);
      add_node(graph, {.name = name,
                       .domain = "",
                       .op_type = "Relu",
                       .inputs = {last},
                       .outputs = {out},
                       .captures = {},
                       .attributes = {}});
      last = out;
    }
    graph.outputs = {last};
  }

  void add(const std::string& backend, const std::vector<std::size_t>& nodes, const Cost& cost) {
    NodeSet set(graph.nodes.size());
    for (const std::size_t n : nodes) set.insert(n);
    pool.regions.push_back(make_region(graph, uses_of(graph), set));
    pool.candidates.push_back({.region = static_cast<std::uint32_t>(pool.regions.size() - 1),
                               .backend = backend,
                               .variant = {.name = "v", .input_formats = {{}}, .output_formats = {{}}}});
    costs.push_back(cost);
  }
  void add(const std::string& backend, const std::vector<std::size_t>& nodes, std::int64_t ns) {
    add(backend, nodes, Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 9});
  }

  [[nodiscard]] CoverRequest request(std::vector<std::string> backends) const {
    return {.graph = &graph,
            .pool = &pool,
            .costs = costs,
            .backends = std::move(backends),
            .filler = "filler",
            .conversions = [](ValueId, const Place&, const Place&) { return std::optional<BoundaryChoice>(); },
            .search = {.max_states = 2000, .launch_ns = 0}};
  }

  /// "a a b": who runs each node, for covers of one step per node.
  static std::string who(const Result<SearchResult>& result) {
    if (!result) return result.error().code;
    std::string text;
    for (const CoverStep& step : result->cover.steps) text += (text.empty() ? "" : " ") + step.backend;
    return text;
  }

  static std::vector<std::string> names(const Result<std::vector<NamedCover>>& covers) {
    std::vector<std::string> list;
    if (!covers) return {covers.error().code};
    for (const NamedCover& cover : *covers) list.push_back(cover.name);
    return list;
  }

  Graph graph;
  CandidatePool pool;
  std::vector<Cost> costs;
};

TEST_F(Covers, BestIsOverAllowedBackendsAndHost) {
  for (std::size_t n = 0; n < 3; ++n) add("a", {n}, 100);
  add("b", {1}, 50);
  add("host", {2}, 20);
  EXPECT_EQ(who(best_cover(request({"a", "b"}), {"a", "b"})), "a b host");
  EXPECT_EQ(who(best_cover(request({"a", "b"}), {"a"})), "a a host");
  EXPECT_EQ(best_cover(request({"a", "b"}), {"a"})->cover.cost_ns, 220);
}

TEST_F(Covers, FillerRunsOnlyWhatAllOthersRefuse) {
  for (std::size_t n = 0; n < 3; ++n) add("filler", {n}, 1);
  add("filler", {0, 1, 2}, 1);
  add("a", {0}, 1000);
  add("a", {2}, 1000);
  EXPECT_EQ(who(best_cover(request({"a"}), {"a"})), "a filler a");
  EXPECT_EQ(best_cover(request({"filler"}), {"filler"})->cover.cost_ns, 1);
}

TEST_F(Covers, FillerHelpsOutWhereRegionsOnlyOverlap) {
  for (std::size_t n = 0; n < 3; ++n) add("filler", {n}, 10);
  add("a", {0, 1}, 5);
  add("a", {1, 2}, 5);
  EXPECT_EQ(best_cover(request({"a"}), {"a"})->cover.cost_ns, 15);
}

TEST_F(Covers, BackendsThatConflictAreNeverInOnePlan) {
  for (std::size_t n = 0; n < 3; ++n) add("a", {n}, 100 + 10 * static_cast<std::int64_t>(n));
  for (std::size_t n = 0; n < 3; ++n) add("b", {n}, 118 - 10 * static_cast<std::int64_t>(n));
  for (std::size_t n = 0; n < 3; ++n) add("c", {n}, 115);
  CoverRequest peaceful = request({"a", "b", "c"});
  EXPECT_EQ(who(best_cover(peaceful, peaceful.backends)), "a b b");
  peaceful.conflicts = {{"a", "b"}};
  const auto result = best_cover(peaceful, peaceful.backends);
  EXPECT_EQ(who(result), "c b b");
  EXPECT_EQ(result->bound_ns, result->cover.cost_ns);
  EXPECT_EQ(who(best_cover(peaceful, {"a", "b"})), "b b b");
  add("filler", {0}, 1);
  CoverRequest without_filler = request({"b"});
  without_filler.conflicts = {{"b", "filler"}};
  EXPECT_EQ(who(best_cover(without_filler, {"b"})), "b b b");
}

TEST_F(Covers, CapOfMemoryForcesASlowerCover) {
  for (std::size_t n = 0; n < 3; ++n) add("fast", {n}, 10);
  for (std::size_t n = 0; n < 3; ++n) add("frugal", {n}, 50);
  CoverRequest capped = request({"fast", "frugal"});
  capped.workspace_bytes = {1000, 100, 1000, 0, 0, 0};
  EXPECT_EQ(who(best_cover(capped, capped.backends)), "fast fast fast");
  capped.search.capacity[kHome] = 500;
  EXPECT_EQ(who(best_cover(capped, capped.backends)), "frugal fast frugal");
  capped.search.capacity[kHome] = 1;
  EXPECT_EQ(best_cover(capped, capped.backends).error().code, "search/no-cover");
}

TEST_F(Covers, MemoryThatIsWorthTimeIsSaved) {
  for (std::size_t n = 0; n < 3; ++n) add("fast", {n}, 10);
  for (std::size_t n = 0; n < 3; ++n) add("frugal", {n}, 50);
  CoverRequest weighed = request({"fast", "frugal"});
  weighed.workspace_bytes = {1000, 1000, 1000, 0, 0, 0};
  weighed.search.ns_per_byte = 0.1;
  EXPECT_EQ(who(best_cover(weighed, weighed.backends)), "fast fast fast") << "100 ns for the peak, 120 for time";
  weighed.search.ns_per_byte = 0.2;
  EXPECT_EQ(who(best_cover(weighed, weighed.backends)), "frugal frugal frugal");
}

TEST_F(Covers, RefusedAndUnknownCandidatesAreNotUsed) {
  for (std::size_t n = 0; n < 3; ++n) add("a", {n}, 100);
  add("b", {0}, Infeasible{{.reason = RefusalReason::kCrashed, .detail = ""}});
  add("b", {1}, Unknown{});
  add("b", {2}, Estimated{.ns = 10});
  EXPECT_EQ(who(best_cover(request({"a", "b"}), {"a", "b"})), "a a b");
}

TEST_F(Covers, NodeThatNobodyRunsIsNamed) {
  add("a", {0}, 100);
  add("a", {2}, 100);
  add("b", {1}, Infeasible{{.reason = RefusalReason::kWrongResult, .detail = ""}});
  const auto covers = covers_to_confirm(request({"a", "b"}));
  ASSERT_FALSE(covers);
  EXPECT_EQ(covers.error().code, "search/uncoverable");
  EXPECT_NE(covers.error().where.find("n1"), std::string::npos) << covers.error().where;
}

TEST_F(Covers, CorrectionsScaleMeasuredCostsOfTheirBackend) {
  for (std::size_t n = 0; n < 3; ++n) add("a", {n}, 100);
  for (std::size_t n = 0; n < 3; ++n) add("b", {n}, 120);
  CoverRequest corrected = request({"a", "b"});
  const Corrections corrections = {{"a", 2.0}, {"c", 0.1}};
  EXPECT_EQ(who(best_cover(corrected, {"a", "b"})), "a a a");
  corrected.costs = corrected_costs(graph, pool, costs, corrections);
  const auto result = best_cover(corrected, {"a", "b"});
  EXPECT_EQ(who(result), "b b b");
  EXPECT_EQ(result->cover.cost_ns, 360);
}

TEST_F(Covers, SmallerSetsFollowTheBestOfAll) {
  for (std::size_t n = 0; n < 3; ++n) {
    add("a", {n}, n == 0 ? 1 : 100);
    add("b", {n}, n == 1 ? 1 : 101);
    add("c", {n}, n == 2 ? 1 : 102);
  }
  EXPECT_EQ(names(covers_to_confirm(request({"a", "b", "c"}))),
            (std::vector<std::string>{"mixed", "mixed without c", "mixed without b", "mixed without a", "a alone",
                                      "b alone", "c alone"}));
}

TEST_F(Covers, OneOfFewerStepsCompetesToo) {
  for (std::size_t n = 0; n < 3; ++n) add("a", {n}, 100);
  add("a", {0, 1, 2}, 1000);
  const auto covers = covers_to_confirm(request({"a"}));
  ASSERT_EQ(names(covers), (std::vector<std::string>{"mixed", "mixed, fewer steps"}));
  EXPECT_EQ((*covers)[0].result.cover.cost_ns, 300);
  EXPECT_EQ((*covers)[1].result.cover.steps.size(), 1U);
  EXPECT_EQ((*covers)[1].result.cover.cost_ns, 1000);
}

TEST_F(Covers, ProvenBoundCountsWhatWasNeverMeasuredAsFree) {
  for (std::size_t n = 0; n < 3; ++n) add("a", {n}, 100);
  EXPECT_EQ(proven_bound_ns(request({"a", "b"})), 300);
  add("b", {0, 1}, Unknown{});
  EXPECT_EQ(proven_bound_ns(request({"a", "b"})), 100);
}

TEST_F(Covers, TheNameSaysWhereTheFillerTookTheRest) {
  for (std::size_t n = 0; n < 3; ++n) add("a", {n}, 10);
  add("b", {0}, 1);
  for (std::size_t n = 0; n < 3; ++n) add("filler", {n}, 50);
  CoverRequest wanted = request({"a", "b"});
  wanted.filler = "filler";
  EXPECT_THAT(names(covers_to_confirm(wanted)), ::testing::Contains("b alone, rest by filler"));
}

TEST_F(Covers, EqualCoversAppearOnce) {
  for (std::size_t n = 0; n < 3; ++n) add("a", {n}, 1);
  for (std::size_t n = 0; n < 3; ++n) add("b", {n}, 2);
  EXPECT_EQ(names(covers_to_confirm(request({"a", "b"}))), (std::vector<std::string>{"mixed", "b alone"}));
}

TEST_F(Covers, BackendWithoutUsableCandidatesChangesNothing) {
  for (std::size_t n = 0; n < 3; ++n) {
    add("a", {n}, 5);
    add("filler", {n}, 9);
  }
  const auto without = covers_to_confirm(request({"a", "filler"}));
  for (std::size_t n = 0; n < 3; ++n) add("broken", {n}, Infeasible{{.reason = RefusalReason::kCrashed, .detail = ""}});
  const auto with = covers_to_confirm(request({"broken", "a", "filler"}));
  ASSERT_TRUE(without && with);
  EXPECT_EQ(names(with), names(without));
  for (std::size_t c = 0; c < with->size(); ++c)
    EXPECT_EQ(to_text(graph, with->at(c).result.cover), to_text(graph, without->at(c).result.cover));
}

TEST_F(Covers, SetsThatLeaveANodeToNobodyAreLeftOut) {
  add("a", {0}, 1);
  add("b", {1}, 1);
  add("b", {2}, 1);
  EXPECT_EQ(names(covers_to_confirm(request({"a", "b"}))), (std::vector<std::string>{"mixed"}));
}

TEST_F(Covers, OfManyBackendsTheFirstFourMakeSets) {
  for (const char* backend : {"a", "b", "c", "d", "e"})
    for (std::size_t n = 0; n < 3; ++n) add(backend, {n}, backend[0] == 'e' ? 1 : 10 + static_cast<std::int64_t>(n));
  const auto found = names(covers_to_confirm(request({"a", "b", "c", "d", "e"})));
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(found[0], "mixed");
  EXPECT_EQ(found[1], "mixed without e");
}

}  // namespace
}  // namespace collage
