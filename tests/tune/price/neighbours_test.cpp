#include "tune/price/neighbours.h"

#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace collage {
namespace {

/// Four operators in a chain, each a step of its own: a, a, b, b.
class Neighbours : public ::testing::Test {
 protected:
  Neighbours() {
    testing_support::GraphBuilder net;
    ValueId last = net.input("x");
    for (int n = 0; n < 4; ++n) last = net.add("Relu", {last});
    graph = net.take({last});
    uses = uses_of(graph);
    for (std::size_t n = 0; n < 4; ++n)
      cover.steps.push_back({.backend = n < 2 ? "a" : "b", .work = CoverKernel{region({n}), {.name = "v"}}});
  }

  [[nodiscard]] Region region(const std::vector<std::size_t>& nodes) const {
    NodeSet set(graph.nodes.size());
    for (const std::size_t n : nodes) set.insert(n);
    return make_region(graph, uses, set);
  }
  [[nodiscard]] static Proposer willing(std::string name) {
    return {.backend = std::move(name), .rules = {}, .support = [](const Region&) {
              return std::expected<std::vector<Variant>, Refusal>(std::vector<Variant>{{.name = "v"}});
            }};
  }
  [[nodiscard]] CandidatePool ask(const MayRun& may_run, std::size_t most = 9) const {
    return neighbour_candidates(graph, uses, cover, proposers, may_run, known, most);
  }

  Graph graph;
  Uses uses;
  Cover cover;
  CandidatePool known;
  std::vector<Proposer> proposers = {willing("a"), willing("b")};
};

bool anybody(const NodeSet& /*nodes*/, const std::string& /*backend*/) { return true; }

TEST_F(Neighbours, StepsOfOneBackendThatTouchBecomeOneCandidate) {
  const CandidatePool fresh = ask(anybody);
  ASSERT_EQ(fresh.candidates.size(), 2U);
  EXPECT_EQ(fresh.candidates[0].backend, "a");
  EXPECT_EQ(fresh.regions[fresh.candidates[0].region].nodes, region({0, 1}).nodes);
  EXPECT_EQ(fresh.candidates[1].backend, "b");
  EXPECT_EQ(fresh.candidates[1].origin, "neighbours");
  EXPECT_EQ(ask(anybody, 1).candidates.size(), 1U);
}

TEST_F(Neighbours, WhatIsKnownOrForbiddenIsNotAskedAgain) {
  CandidatePool fresh = ask(anybody);
  append(std::move(fresh), known);
  EXPECT_TRUE(ask(anybody).regions.empty());
  known = {};
  const CandidatePool allowed = ask([](const NodeSet&, const std::string& backend) { return backend == "b"; });
  ASSERT_EQ(allowed.candidates.size(), 1U);
  EXPECT_EQ(allowed.candidates[0].backend, "b");
}

TEST_F(Neighbours, RefusalsAreKeptWithTheirRegion) {
  proposers[0].support = [](const Region&) -> std::expected<std::vector<Variant>, Refusal> {
    return std::unexpected(Refusal{.reason = RefusalReason::kStructure, .detail = "two"});
  };
  append(ask(anybody), known);
  ASSERT_EQ(known.refusals.size(), 1U);
  EXPECT_EQ(known.regions[known.refusals[0].region].nodes, region({0, 1}).nodes);
  EXPECT_EQ(known.candidates.size(), 1U);
  EXPECT_TRUE(ask(anybody).regions.empty()) << "a refusal is an answer";
}

}  // namespace
}  // namespace collage
