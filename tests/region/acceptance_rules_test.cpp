// Rules: which sets of nodes they name.
#include <gmock/gmock.h>

#include "tests/region/rule_fixture.h"

namespace collage::testing_support {
namespace {

using enum FusionClass;

const GrowRule kAnchorToBroadcast = GrowByClass{.from = kAnchor, .to = kBroadcast};
const std::vector<GrowRule> kNativeClasses = {kAnchorToBroadcast, GrowByClass{.from = kBroadcast, .to = kReduce},
                                              GrowByClass{.from = kInjective, .to = kInjective}};
PartitionRule relus() { return pattern_rule("relu", "Relu(*)"); }

Texts singles_of(std::size_t nodes) {
  Texts texts;
  for (std::size_t n = 0; n < nodes; ++n) texts.insert("{" + std::to_string(n) + "}");
  return texts;
}

Texts both(Texts a, const Texts& b) {
  a.insert(b.begin(), b.end());
  return a;
}

/// What closing G3 under "anchors take element-wise work along" to depth 3 adds to the singles.
const Texts kGrownG3 = {"{0,1}",  "{2,3}",  "{2,8}",   "{2,3,8}",  "{2..4}",  "{2..4,8}", "{3,4}",
                        "{4,5}",  "{5,6}",  "{6,7}",   "{7,9}",    "{8,10}",  "{9,10}",   "{3..5}",
                        "{4..6}", "{5..7}", "{6,7,9}", "{7,9,10}", "{8..10}", "{7..10}"};

TEST(Acceptance, APatternGivesEveryMatch) { EXPECT_EQ(Subject(graph_g1()).sets(relus()), (Texts{"{1}", "{2}"})); }

TEST(Acceptance, OverlappingMatchesAreKept) {
  EXPECT_EQ(Subject(graph_g1()).sets(pattern_rule("two", "Relu(Relu|Abs(*))")), (Texts{"{0,1}", "{1,2}"}));
}

TEST(Acceptance, ALabelIsAMatchInsideTheProposal) {
  const Subject subject(graph_g1());
  const std::vector<Proposal> proposals = subject.proposals(labelled("composite", pattern_rule("", "Relu(*)")));
  ASSERT_EQ(proposals.size(), 2U);
  for (std::size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(proposals[p].matches, (std::vector<Match>{subject.match("composite", {p + 1})}));
    const Graph part = extract(subject.graph, make_region(subject.graph, subject.uses, proposals[p].matches[0].nodes));
    ASSERT_EQ(part.nodes.size(), 1U);
    EXPECT_EQ(part.nodes[0].op_type, "Relu");
  }
}

/// The candidates of one backend with that name and the rule of every match.
void expect_relus_of(const std::string& backend) {
  const Subject subject(graph_g1());
  const Proposer proposer = willing(backend, relus());
  const CandidatePool pool = propose(subject.graph, subject.uses, {&proposer, 1});
  EXPECT_EQ(candidates_of(pool), (Texts{backend + " {1}", backend + " {2}"}));
  for (const Candidate& candidate : pool.candidates) {
    ASSERT_EQ(candidate.matches.size(), 1U);
    EXPECT_EQ(candidate.matches[0].label, "relu");
    EXPECT_EQ(candidate.origin, "pattern relu");
  }
}

TEST(Acceptance, ProposalsBecomeCandidatesOfANativeBackend) { expect_relus_of("native"); }

TEST(Acceptance, ProposalsBecomeCandidatesOfAnExternalBackend) { expect_relus_of("test_ext_codegen"); }

TEST(Acceptance, AUnionGivesWhatItsRulesGive) {
  EXPECT_EQ(Subject(graph_g1()).sets(any_of({pattern_rule("abs", "Abs(*)"), relus()})), singles_of(3));
}

TEST(Acceptance, TheOperatorTableLeavesOpaqueOperatorsOut) {
  EXPECT_EQ(Subject(graph_g2()).sets(operators_up_to(kAnchor)), (Texts{"{0}", "{1}"}));
}

TEST(Acceptance, GrowingByClassIsClosed) {
  const Texts sets = Subject(graph_g3()).sets(combine(operators_up_to(kAnchor), {kAnchorToBroadcast}, 3));
  EXPECT_EQ(sets.size(), 31U);
  EXPECT_EQ(sets, both(singles_of(11), kGrownG3));
}

TEST(Acceptance, OnlyValidKeepsOneOutputTwoDeep) {
  const Texts sets = Subject(graph_g3())
                         .sets(only_valid(combine(operators_up_to(kAnchor), {kAnchorToBroadcast}, 3),
                                          {.max_outputs = 1, .max_depth = 2}));
  EXPECT_EQ(sets, both(singles_of(11),
                       {"{0,1}", "{3,4}", "{4,5}", "{5,6}", "{6,7}", "{7,9}", "{8,10}", "{9,10}", "{8..10}"}));
}

TEST(Acceptance, SeveralClassesGrowTogether) {
  EXPECT_EQ(Subject(graph_g3()).sets(combine(operators_up_to(kAnchor), kNativeClasses, 3)),
            both(both(singles_of(11), kGrownG3), {"{1,2}", "{1,2,8}", "{1..3}", "{1..3,8}"}));
}

TEST(Acceptance, AConcatTakesInAllMakersOfItsOperands) {
  EXPECT_EQ(Subject(graph_g4()).sets(combine(operators_up_to(kAnchor), {GrowOperands{kInjective}}, 3)),
            both(singles_of(8), {"{3,6,7}"}));
}

TEST(Acceptance, OutputsOfASplitNeedNoNodesOfTheirOwn) {
  const Subject subject(graph_g4());
  EXPECT_EQ(subject.sets(operators_up_to(kAnchor)), singles_of(8));
  EXPECT_EQ(subject.names(subject.region({0}).outputs), "v0.1,v0.2") << "v0 is unused";
}

TEST(Acceptance, InputsConstantsAndOutputsNeedNoCover) {
  const Subject subject(graph_g4());
  EXPECT_EQ(subject.sets(singles()), singles_of(8));
  const Proposer proposer = willing("b", singles());
  const CandidatePool pool = propose(subject.graph, subject.uses, {&proposer, 1});
  EXPECT_TRUE(nodes_without_candidate(subject.graph, pool).empty());
}

TEST(Acceptance, TheClosureTriesEveryPairWithANewMember) {
  const Subject subject(graph_g3());
  const Texts grown = subject.sets(combine(operators_up_to(kAnchor), {kAnchorToBroadcast}, 3));
  EXPECT_TRUE(grown.contains("{8..10}"));
  EXPECT_TRUE(grown.contains("{7..10}"));
  EXPECT_EQ(grown.size(), 31U);
  EXPECT_EQ(subject
                .sets(only_valid(combine(operators_up_to(kAnchor), {kAnchorToBroadcast}, 3),
                                 {.max_outputs = 1, .max_depth = 2}))
                .size(),
            20U);
  const Texts all = subject.sets(combine(operators_up_to(kAnchor), kNativeClasses, 3));
  EXPECT_EQ(all.size(), 35U);
  for (const char* set : {"{8..10}", "{7..10}", "{1..3,8}"}) EXPECT_TRUE(all.contains(set));
}

TEST(Acceptance, ConcatOfOneValueTwiceNeverAborts) {
  GraphBuilder net;
  const ValueId relu = net.add("Relu", {net.input("x")});
  const Subject subject(net.take({net.add("Concat", {relu, relu}, {2, 4, 2, 2}, {{"axis", std::int64_t{0}}})}));
  EXPECT_EQ(subject.sets(combine(singles(), {GrowOperands{kInjective}}, 3)), (Texts{"{0}", "{1}", "{0,1}"}));
}

TEST(Acceptance, OpaqueOperatorsAreCoverable) {
  GraphBuilder net;
  const ValueId x = net.input("x", {10});
  const std::vector<ValueId> top = net.add_outputs("TopK", {x, net.integers({3})}, {{3}, {3}});
  const Subject subject(net.take({net.add("Relu", {top[0]}, {3}), top[1]}));
  EXPECT_EQ(subject.sets(operators_up_to(kAnchor)), (Texts{"{1}"}));
  EXPECT_EQ(subject.sets(singles()), singles_of(2));
  const Proposer native = willing("native", PartitionRules{.growth = Growth::kLikeNative});
  const CandidatePool pool = propose(subject.graph, subject.uses, {&native, 1});
  EXPECT_TRUE(nodes_without_candidate(subject.graph, pool).empty());
}

TEST(Acceptance, OperandsAreTakenInAllOrNotAtAll) {
  GraphBuilder net;
  const ValueId x = net.input("x");
  const ValueId relu = net.add("Relu", {x});
  const ValueId conv = net.add("Conv", {x, net.weight("w", {4, 4, 1, 1})});
  const Subject subject(net.take({net.add("Concat", {relu, conv}, {1, 8, 2, 2}, {{"axis", std::int64_t{1}}})}));
  EXPECT_EQ(subject.sets(combine(singles(), {GrowOperands{kInjective}}, 3)), singles_of(3))
      << "the convolution is too heavy a maker, so nothing joins";
  EXPECT_EQ(subject.sets(combine(singles(), {GrowByClass{.from = kInjective, .to = kInjective}}, 3)),
            both(singles_of(3), {"{0,2}"}))
      << "by class, part of the operands may join";
}

/// Everything but opaque operators joins what reads it.
PartitionRule joined(PartitionRule base, std::size_t depth) {
  return combine(std::move(base), {GrowByClass{.from = kAnchor, .to = kAnchor}}, depth);
}

struct GrowthFigures {
  std::size_t all = 0;
  std::size_t valid = 0;
};

GrowthFigures figures(const PartitionRule& rule) {
  const Subject subject(graph_g3());
  return {.all = subject.sets(rule).size(), .valid = subject.sets(only_valid(rule, kOneOutput)).size()};
}

TEST(Acceptance, GrowthFiguresOfTwoStyles) {
  const PartitionRule base = operators_up_to(kAnchor);
  for (const auto& [rule, all, valid] : {std::tuple{grown_like_native(base, 3), 31U, 26U},
                                         {grown_like_native(base, 8), 54U, 41U},
                                         {joined(base, 3), 36U, 28U},
                                         {joined(base, 8), 80U, 43U}}) {
    EXPECT_EQ(figures(rule).all, all) << to_text(rule);
    EXPECT_EQ(figures(rule).valid, valid) << to_text(rule);
  }
  for (const PartitionRule& rule : {grown_like_native(base, 8), joined(base, 8)}) {
    std::size_t largest = 0;
    std::string set;
    for (const Proposal& proposal : Subject(graph_g3()).proposals(only_valid(rule, kOneOutput)))
      if (proposal.nodes.count() > largest) {
        largest = proposal.nodes.count();
        set = to_string(proposal.nodes);
      }
    EXPECT_EQ(set, "{2..10}");
  }
}

}  // namespace
}  // namespace collage::testing_support
