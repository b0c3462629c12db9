// Patterns and proposals of several backends, as the op-level placement of the paper's system should have made them.
#include <gmock/gmock.h>

#include "tests/region/rule_fixture.h"

namespace collage::testing_support {
namespace {

using enum FusionClass;

/// A compiler's growth over all operators it knows, with one output.
PartitionRule native() { return only_valid(grown_like_native(operators_up_to(kAnchor), 8), kOneOutput); }

Texts holding(const Texts& sets, const std::string& node) {
  Texts found;
  for (const std::string& set : sets)
    if (set.starts_with("{" + node + ",") || set.starts_with("{" + node + ".") || set == "{" + node + "}")
      found.insert(set);
  return found;
}

TEST(Acceptance, GrowthTakesElementWiseWorkAndChainsTakeMovesAndTheFinalReduction) {
  GraphBuilder net;
  const ValueId conv = net.add("Conv", {net.input("x"), net.weight("w", {4, 4, 1, 1})});
  const ValueId relu = net.add("Relu", {net.add("Add", {conv, net.weight("b", {4, 1, 1})})});
  const ValueId flat = net.add("Reshape", {relu, net.integers({4, 4})}, {4, 4});
  const Subject subject(net.take({net.add("ReduceMean", {flat, net.integers({1})}, {4, 1})}));
  const Texts sets = subject.sets(native());
  EXPECT_EQ(holding(sets, "0"), (Texts{"{0}", "{0,1}", "{0..2}"}));
  EXPECT_EQ(holding(sets, "1"), (Texts{"{1}", "{1,2}"}));
  EXPECT_EQ(holding(sets, "2"), (Texts{"{2}"}));
  EXPECT_EQ(holding(sets, "3"), (Texts{"{3}"}));
  EXPECT_EQ(holding(sets, "4"), (Texts{"{4}"}));
  EXPECT_EQ(subject.sets(follow(operators_up_to(kBroadcast), 8)),
            (Texts{"{1}", "{1,2}", "{1..3}", "{1..4}", "{2}", "{2,3}", "{2..4}"}));
}

TEST(Acceptance, ADiamondIsTakenWholeOrNotAtAllByItsHead) {
  GraphBuilder net;
  const ValueId conv = net.add("Conv", {net.input("x"), net.weight("w", {4, 4, 1, 1})});
  const ValueId relu = net.add("Relu", {conv});
  const ValueId sigmoid = net.add("Sigmoid", {net.add("Tanh", {conv})});
  const Subject subject(net.take({net.add("Add", {relu, sigmoid})}));
  const Texts sets = subject.sets(native());
  EXPECT_EQ(holding(sets, "0"), (Texts{"{0}", "{0..4}"}));
  EXPECT_TRUE(sets.contains("{1,4}")) << "relu and add";
}

/// r -> conv -> add(r, .)
Graph residual() {
  GraphBuilder net;
  const ValueId r = net.add("Relu", {net.input("x")});
  const ValueId conv = net.add("Conv", {r, net.weight("w", {4, 4, 1, 1})});
  return net.take({net.add("Add", {r, conv})});
}

TEST(Acceptance, AResidualWithoutItsBranchIsNeverProposed) {
  const Subject subject(residual());
  EXPECT_EQ(subject.sets(pattern_rule("cycle", "Add(Relu, *)", 2)), Texts{});
  EXPECT_EQ(subject.sets(pattern_rule("cycle", "Relu -> Add", 2)), Texts{});
  EXPECT_EQ(subject.sets(pattern_rule("whole", "Add(r=Relu, Conv($r, const))")), (Texts{"{0..2}"}));
  EXPECT_FALSE(subject.sets(native()).contains("{0,2}"));
}

TEST(Acceptance, AMatchNeverHidesAValueThatIsNeededOutside) {
  GraphBuilder net;
  const ValueId conv = net.add("Conv", {net.input("x"), net.weight("w", {4, 4, 1, 1})});
  const ValueId relu = net.add("Relu", {conv});
  const Subject subject(net.take({net.add("Add", {relu, net.add("Tanh", {conv})})}));
  EXPECT_EQ(subject.sets(pattern_rule("conv-relu", "Relu(Conv)")), Texts{});
  EXPECT_EQ(subject.sets(pattern_rule("conv-relu", "Conv -> Relu")), Texts{});
  EXPECT_EQ(subject.sets(pattern_rule("conv-relu", "Relu(Conv)", 2)), (Texts{"{0,1}"}));
  EXPECT_EQ(subject.names(subject.region({0, 1}).outputs), "v0,v1") << "with two outputs both values leave";
}

TEST(Acceptance, TheSkipOfABottleneckIsAnInput) {
  GraphBuilder net;
  const ValueId x = net.input("x");
  const ValueId conv = net.add("Conv", {x, net.weight("w", {4, 4, 1, 1})});
  const ValueId sum = net.add("Add", {conv, net.input("skip")});
  const Subject subject(net.take({net.add("Relu", {sum})}));
  EXPECT_EQ(subject.sets(pattern_rule("tail", "Relu(Add(Conv, *))")), (Texts{"{0..2}"}));
  EXPECT_EQ(subject.names(subject.region({0, 1, 2}).inputs), "x,skip");
}

TEST(Acceptance, OneProducerReadTwiceDiffersFromTwoProducers) {
  GraphBuilder once;
  const ValueId pool = once.add("AveragePool", {once.input("x")});
  const Subject shared(once.take({once.add("Add", {pool, pool})}));
  GraphBuilder twice;
  const ValueId left = twice.add("AveragePool", {twice.input("x")});
  const Subject separate(twice.take({twice.add("Add", {left, twice.add("AveragePool", {twice.input("y")})})}));
  const PartitionRule same = pattern_rule("same", "Add(p=AveragePool, $p)");
  const PartitionRule pools = pattern_rule("pools", "Add(AveragePool, AveragePool)");
  EXPECT_EQ(shared.sets(same), (Texts{"{0,1}"}));
  EXPECT_EQ(separate.sets(same), Texts{});
  EXPECT_EQ(shared.sets(pools), (Texts{"{0,1}"}));
  EXPECT_EQ(separate.sets(pools), (Texts{"{0..2}"}));
  EXPECT_EQ(shared.region({0, 1}).inputs.size(), 1U);
  EXPECT_NE(structure_key(shared.graph, shared.region({0, 1})),
            structure_key(separate.graph, separate.region({0, 1, 2})));
}

TEST(Acceptance, OperandsOfACommutativeOperatorMatchInAnyOrder) {
  GraphBuilder net;
  const ValueId x = net.input("x");
  const ValueId conv = net.add("Conv", {x, net.weight("w", {4, 4, 1, 1})});
  const Subject subject(net.take({net.add("Add", {x, conv})}));
  EXPECT_EQ(subject.sets(pattern_rule("conv-add", "Add(Conv, *)")), (Texts{"{0,1}"}));
  EXPECT_EQ(subject.sets(pattern_rule("conv-sub", "Sub(Conv, *)")), Texts{});
}

TEST(Acceptance, ABackendForMatricesIsNeverAskedAboutHigherRanks) {
  GraphBuilder net({2, 4, 4});
  const ValueId high = net.add("MatMul", {net.input("x"), net.weight("w", {4, 4})});
  const ValueId flat = net.add("Reshape", {high, net.integers({8, 4})}, {8, 4});
  const Subject subject(net.take({net.add("MatMul", {flat, net.weight("u", {4, 4})}, {8, 4})}));
  const std::vector<Proposer> proposers = {
      willing("matrices", pattern_rule("product", "MatMul{in0.rank=2, in1.rank=2}")), willing("native", singles())};
  const CandidatePool pool = propose(subject.graph, subject.uses, proposers);
  EXPECT_EQ(candidates_of(pool), (Texts{"matrices {2}", "native {0}", "native {1}", "native {2}"}));
  EXPECT_TRUE(nodes_without_candidate(subject.graph, pool).empty());
}

TEST(Acceptance, AConditionHoldsForItsOwnOperatorOnly) {
  GraphBuilder net;
  const ValueId conv = net.add("Conv", {net.input("x"), net.weight("w", {4, 4, 1, 1})});
  const Subject subject(net.take({net.add("Relu", {conv})}));
  EXPECT_EQ(subject.sets(any_of({pattern_rule("conv", "Conv{in0.rank=2, in1.rank=2}"), pattern_rule("relu", "Relu")})),
            (Texts{"{1}"}));
}

TEST(Acceptance, ACustomRuleOfSeedsAndFollowers) {
  GraphBuilder net;
  const auto convolution = [&](ValueId from) {
    const ValueId conv = net.add("ConvTranspose", {from, net.weight("", {4, 4, 1, 1})});
    return net.add("Add", {conv, net.weight("", {4, 1, 1})});
  };
  const ValueId hidden = net.add("Relu", {convolution(net.input("x"))});
  const Subject subject(net.take({net.add("Tanh", {convolution(hidden)})}));
  const std::string seed = "Conv|ConvTranspose";
  const std::string followers = "Relu|Tanh|Add";
  const Texts sets =
      subject.sets(any_of({pattern_rule("", seed + " -> " + followers + "*"), pattern_rule("", followers)}));
  EXPECT_EQ(sets, (Texts{"{0}", "{0,1}", "{0..2}", "{1}", "{2}", "{3}", "{3,4}", "{3..5}", "{4}", "{5}"}))
      << "no add with its activation alone";
}

TEST(Acceptance, OnlyTheBackendsChosenPropose) {
  const Subject subject(residual());
  const std::vector<Proposer> all = {willing("unique", pattern_rule("whole", "Add(r=Relu, Conv($r, const))")),
                                     willing("native", singles())};
  const CandidatePool chosen = propose(subject.graph, subject.uses, std::span(all).subspan(1));
  EXPECT_EQ(candidates_of(chosen), (Texts{"native {0}", "native {1}", "native {2}"}));
  EXPECT_TRUE(candidates_of(propose(subject.graph, subject.uses, all)).contains("unique {0..2}"));
}

TEST(Acceptance, AnOperatorThatNobodyCoversIsNamed) {
  const Subject subject(residual());
  const Proposer narrow = willing("narrow", pattern_rule("relu", "Relu"));
  const CandidatePool pool = propose(subject.graph, subject.uses, {&narrow, 1});
  const std::vector<std::size_t> bare = nodes_without_candidate(subject.graph, pool);
  ASSERT_EQ(bare, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(subject.graph.nodes[bare.front()].op_type, "Conv");
  const std::vector<Proposer> with_fallback = {narrow, willing("fallback", singles())};
  EXPECT_TRUE(nodes_without_candidate(subject.graph, propose(subject.graph, subject.uses, with_fallback)).empty());
}

TEST(Acceptance, AReshapeThatMovesTheBatchIsNotProposedWhereABackendKeepsIt) {
  GraphBuilder net({8, 64, 32});
  const ValueId kept = net.add("Reshape", {net.input("x"), net.integers({8, 32, 64})}, {8, 32, 64});
  const Subject subject(net.take({net.add("Reshape", {kept, net.integers({1, 8, 64, 32})}, {1, 8, 64, 32})}));
  const std::vector<Proposer> proposers = {
      willing("keeps-batch", pattern_rule("reshape", "Reshape{in0.dim0=out0.dim0}")), willing("native", singles())};
  EXPECT_EQ(candidates_of(propose(subject.graph, subject.uses, proposers)),
            (Texts{"keeps-batch {0}", "native {0}", "native {1}"}));
}

}  // namespace
}  // namespace collage::testing_support
