#include "region/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "region/pool_json.h"

namespace collage {
namespace {

/// A chain or diamond of operators on one shape; "op:input,input" with inputs by position, -1 = the graph input.
struct OpSpec {
  std::string op_type;
  std::vector<int> inputs;
};

Graph graph_of(const std::vector<OpSpec>& ops) {
  Graph graph;
  graph.opsets[""] = 26;
  const ValueType type = ValueType::tensor(ElementType::kFloat32, {1, 4, 2, 2});
  const ValueId input = add_value(graph, "x", type);
  graph.inputs.push_back(input);
  std::vector<ValueId> made;
  for (const OpSpec& spec : ops) {
    Node node;
    node.op_type = spec.op_type;
    node.name = "n" + std::to_string(made.size());
    for (int i : spec.inputs) node.inputs.push_back(i < 0 ? input : made[static_cast<std::size_t>(i)]);
    made.push_back(add_value(graph, "v" + std::to_string(made.size()), type));
    node.outputs.push_back(made.back());
    add_node(graph, std::move(node));
  }
  graph.outputs.push_back(made.back());
  return graph;
}

std::vector<Variant> plain_variant(const Region& region) {
  return {{.name = "default",
           .input_formats = std::vector<Format>(region.inputs.size()),
           .output_formats = std::vector<Format>(region.outputs.size())}};
}

Proposer proposer_with(std::vector<Pattern> patterns, Growth growth = Growth::kNone) {
  return {.backend = "b",
          .rules = {.patterns = std::move(patterns), .growth = growth, .max_region_nodes = 8},
          .support = [](const Region& region) -> std::expected<std::vector<Variant>, Refusal> {
            return plain_variant(region);
          }};
}

/// Proposed node sets with more than one node, as sorted strings "0 1 2".
std::vector<std::string> groups(const Graph& graph, const Proposer& proposer) {
  const CandidatePool pool = propose(graph, uses_of(graph), {&proposer, 1});
  std::vector<std::string> result;
  for (const Candidate& candidate : pool.candidates) {
    const auto members = pool.regions[candidate.region].nodes.members();
    if (members.size() < 2) continue;
    std::string text;
    for (std::size_t m : members) text += (text.empty() ? "" : " ") + std::to_string(m);
    result.push_back(text);
  }
  std::sort(result.begin(), result.end());
  return result;
}

using Groups = std::vector<std::string>;

TEST(Propose, AsksAboutEverySingleNode) {
  const Graph graph = graph_of({{"Conv", {-1}}, {"Relu", {0}}});
  const Proposer proposer = proposer_with({});
  EXPECT_EQ(propose(graph, uses_of(graph), {&proposer, 1}).candidates.size(), 2U);
}

TEST(Propose, MatchesEveryPrefixOfAChainWithOptionalEntries) {
  const Graph graph = graph_of({{"Conv", {-1}}, {"Add", {0}}, {"Relu", {1}}});
  EXPECT_EQ(groups(graph, proposer_with({{"conv", "Conv -> Add? -> Relu?"}})), (Groups{"0 1", "0 1 2"}));
  EXPECT_EQ(groups(graph, proposer_with({{"conv", "Conv -> Add -> Relu"}})), (Groups{"0 1 2"}));
  EXPECT_EQ(groups(graph, proposer_with({{"conv", "Conv -> Relu|Add*"}})), (Groups{"0 1", "0 1 2"}));
}

TEST(Propose, MatchesAValueUsedTwiceInsideTheChain) {
  const Graph graph = graph_of({{"Conv", {-1}}, {"Sigmoid", {0}}, {"Mul", {0, 1}}, {"Relu", {2}}});
  EXPECT_EQ(groups(graph, proposer_with({{"silu", "Conv -> Sigmoid -> Mul"}})), (Groups{"0 1 2"}));
}

TEST(Propose, DoesNotHideAValueThatIsNeededOutside) {
  const Graph graph = graph_of({{"Conv", {-1}}, {"Relu", {0}}, {"Tanh", {0}}, {"Add", {1, 2}}});
  EXPECT_EQ(groups(graph, proposer_with({{"conv", "Conv -> Relu"}})), Groups{});
}

TEST(Propose, RejectsSetsThatWouldWaitForThemselves) {
  // v0 feeds both the Add and the Conv between them.
  const Graph graph = graph_of({{"Relu", {-1}}, {"Conv", {0}}, {"Add", {0, 1}}});
  EXPECT_EQ(groups(graph, proposer_with({{"bad", "Relu -> Add"}})), Groups{});
}

TEST(Propose, GivesAnEngineTheWholeGraphAndRangesBetweenNarrowPlaces) {
  const Graph graph = graph_of({{"Relu", {-1}}, {"Relu", {0}}, {"Relu", {1}}, {"Relu", {2}}});
  EXPECT_EQ(groups(graph, proposer_with({}, Growth::kAny)), (Groups{"0 1", "0 1 2 3", "2 3"}));
}

/// Takes chains, as one variant for each label.
std::expected<std::vector<Variant>, Refusal> variant_by_label(const Region& region) {
  if (region.matches.empty()) return std::unexpected(Refusal{RefusalReason::kOperator, "no label"});
  std::vector<Variant> variants = plain_variant(region);
  variants[0].name = region.matches[0].label;
  return variants;
}

TEST(Propose, AsksOncePerSetOfLabels) {
  const Graph graph = graph_of({{"Conv", {-1}}, {"Relu", {0}}});
  Proposer proposer = proposer_with({{"first", "Conv -> Relu"}, {"second", "Relu(Conv)"}});
  proposer.support = variant_by_label;
  const CandidatePool pool = propose(graph, uses_of(graph), {&proposer, 1});
  ASSERT_EQ(pool.candidates.size(), 2U) << to_text(graph, pool);
  EXPECT_EQ(pool.candidates[0].variant.name, "first");
  EXPECT_EQ(pool.candidates[1].variant.name, "second");
  EXPECT_EQ(region_of(pool, pool.candidates[1]).matches, (std::vector<Match>{{"second", node_set(graph, {0, 1})}}));
  EXPECT_EQ(pool.refusals.size(), 2U) << "of the single nodes, which no pattern labels";
}

TEST(LabelsFor, AreThoseOfRulesThatProposeTheWholeRegion) {
  const Graph graph = graph_of({{"Relu", {-1}}, {"Conv", {0}}, {"Relu", {1}}});
  const PartitionRules rules{.patterns = {{"conv", "Conv -> Relu?"}, {"relu", "Relu"}}};
  const Region region = make_region(graph, uses_of(graph), node_set(graph, {1, 2}));
  EXPECT_EQ(labels_for(rules, graph, region), (std::vector<std::vector<Match>>{{{"conv", node_set(graph, {1, 2})}}}));
}

TEST(Propose, FusesADiamondOfElementWiseWorkLikeNative) {
  const Graph graph = graph_of({{"Relu", {-1}}, {"Tanh", {0}}, {"Abs", {0}}, {"Add", {1, 2}}, {"Softmax", {3}}});
  EXPECT_EQ(groups(graph, proposer_with({}, Growth::kLikeNative)),
            (Groups{"0 1 2 3", "1 2 3", "1 3", "1 3 4", "2 3", "2 3 4", "3 4"}));
}

TEST(NarrowPlaces, AreWhereOneValueIsLive) {
  const Graph graph = graph_of({{"Relu", {-1}}, {"Relu", {0}}, {"Tanh", {0}}, {"Add", {1, 2}}, {"Relu", {3}}});
  EXPECT_EQ(narrow_places(graph, uses_of(graph), 1), (std::vector<std::size_t>{0, 1, 4, 5}));
}

/// Three backends of different taste, one of which refuses and one of which repeats cheap nodes.
std::vector<Proposer> different_proposers() {
  Proposer fuser = proposer_with({{"conv", "Conv -> Add? -> Relu?"}}, Growth::kLikeNative);
  fuser.backend = "fuser";
  fuser.rules.repeats = RepeatStyle::kCheap;
  Proposer engine = proposer_with({}, Growth::kAny);
  engine.backend = "engine";
  Proposer picky = proposer_with({{"tail", "Add -> Relu"}});
  picky.backend = "picky";
  picky.support = [](const Region& region) -> std::expected<std::vector<Variant>, Refusal> {
    if (region.nodes.contains(0)) return std::unexpected(Refusal{RefusalReason::kType, "\xff no text"});
    return plain_variant(region);
  };
  return {picky, fuser, engine};
}

TEST(Propose, KnownProposalsMakeTheSamePool) {
  const Graph graph = graph_of({{"Conv", {-1}}, {"Add", {0, -1}}, {"Relu", {1}}, {"Identity", {-1}}, {"Add", {2, 3}}});
  const Uses uses = uses_of(graph);
  const std::vector<Proposer> proposers = different_proposers();
  const Json expected = to_json(propose(graph, uses, proposers));
  ASSERT_FALSE(expected["refusals"].empty());
  for (std::size_t known_ones = 1; known_ones < 8; ++known_ones) {
    KnownProposals known;
    for (std::size_t p = 0; p < proposers.size(); ++p) {
      if (((known_ones >> p) & 1U) == 0) continue;
      const CandidatePool alone = propose(graph, uses, {&proposers[p], 1});
      known[proposers[p].backend] = pool_from(Json::from_cbor(Json::to_cbor(to_json(alone))), graph, uses);
    }
    // Not EXPECT_EQ: what it prints must be UTF-8.
    EXPECT_TRUE(to_json(propose(graph, uses, proposers, {}, known)) == expected) << known_ones;
  }
}

TEST(Propose, PoolOfAnotherGraphIsNotRead) {
  const Graph graph = graph_of({{"Conv", {-1}}, {"Relu", {0}}});
  const Graph smaller = graph_of({{"Conv", {-1}}});
  const Proposer proposer = proposer_with({});
  const Json json = to_json(propose(graph, uses_of(graph), {&proposer, 1}));
  const auto read = [&](const Json& from) {
    return read_json("pool", [&] { return pool_from(from, smaller, uses_of(smaller)); });
  };
  EXPECT_FALSE(read(json));
  Json broken = json;
  broken["regions"] = Json::array();
  EXPECT_FALSE(read(broken));
  EXPECT_FALSE(read(Json::array()));
}

}  // namespace
}  // namespace collage
