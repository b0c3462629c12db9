// Rules beyond the acceptance cases: growth in parallel, repeats, long regions, printing, and the closure against brute
// force.
#include "region/rules/partition_rule.h"

#include <gmock/gmock.h>

#include "region/rules/rules.h"
#include "tests/region/rule_fixture.h"
#include "tests/support/dice.h"

namespace collage::testing_support {
namespace {

using enum FusionClass;

/// Queries, keys and values of one input, and their sum.
Graph three_products() {
  GraphBuilder net({8, 16});
  const ValueId x = net.add("Relu", {net.input("x")});
  std::vector<ValueId> products;
  for (const char* name : {"q", "k", "v"}) products.push_back(net.add("MatMul", {x, net.weight(name, {16, 16})}));
  return net.take({net.add("Sum", products)});
}

TEST(PartitionRule, ProductsOfOneInputGrowSideBySide) {
  const Subject subject(three_products());
  const PartitionRule products = operators_named({"MatMul", "Gemm", "Conv"});
  EXPECT_EQ(subject.sets(combine(products, {GrowParallel{}}, 0)), (Texts{"{1}", "{2}", "{3}", "{1..3}"}));
  const PartitionRule with_sum =
      combine(singles(), {GrowParallel{}, GrowByClass{.from = kAnchor, .to = kBroadcast}}, 0);
  EXPECT_TRUE(subject.sets(with_sum).contains("{1..4}"));
}

TEST(PartitionRule, PointwiseConvolutionsGrowSideBySideWhenTheirStridesAgree) {
  GraphBuilder net;
  const ValueId x = net.input("x");
  const Attribute strides = {"strides", std::vector<std::int64_t>{2, 2}};
  const auto conv = [&](const Extents& weights, std::vector<Attribute> attributes) {
    return net.add("Conv", {x, net.weight("", weights)}, {1, 4, 2, 2}, std::move(attributes));
  };
  std::vector<ValueId> made = {conv({4, 4, 1, 1}, {}), conv({4, 4, 1, 1}, {}), conv({4, 4, 3, 3}, {}),
                               conv({4, 4, 1, 1}, {strides}), conv({4, 4, 1, 1}, {{"group", std::int64_t{4}}})};
  const Subject subject(net.take(made));
  const Texts sets = subject.sets(combine(operators_named({"Conv"}), {GrowParallel{}}, 0));
  EXPECT_EQ(sets.size(), 6U);
  EXPECT_TRUE(sets.contains("{0,1}"));
}

/// cast -> (conv, tanh): the cast is cheap and read twice.
Graph shared_cast(const std::string& producer) {
  GraphBuilder net;
  const ValueId cast = net.add(producer, {net.input("x")});
  return net.take({net.add("Conv", {cast, net.weight("w", {4, 4, 1, 1})}), net.add("Tanh", {cast})});
}

TEST(PartitionRule, ACheapProducerWithSeveralReadersMayBeComputedTwice) {
  const Subject subject(shared_cast("Cast"));
  const std::vector<Proposal> proposals = subject.proposals(with_repeats(singles()));
  std::vector<std::string> repeats;
  for (const Proposal& proposal : proposals) {
    if (proposal.repeated.universe() == 0) continue;
    const Region region = make_region(subject.graph, subject.uses, proposal.nodes, proposal.repeated);
    repeats.push_back(to_string(region.nodes) + " covers " + to_string(region.covered()) + " gives " +
                      subject.names(region.outputs) + " reads " + subject.names(region.inputs));
  }
  EXPECT_EQ(repeats,
            (std::vector<std::string>{"{0,1} covers {1} gives v1 reads x", "{0,2} covers {2} gives v2 reads x"}));
}

TEST(PartitionRule, HeavyRandomOrUnlistedProducersAreNotRepeated) {
  const auto repeats = [](const Graph& graph, const PartitionRule& rule) {
    return std::ranges::count_if(Subject(graph).proposals(rule),
                                 [](const Proposal& proposal) { return proposal.repeated.universe() != 0; });
  };
  EXPECT_EQ(repeats(shared_cast("MaxPool"), with_repeats(singles())), 0);
  EXPECT_EQ(repeats(shared_cast("RandomUniformLike"), with_repeats(singles())), 0);
  EXPECT_EQ(repeats(shared_cast("Dropout"), with_repeats(singles())), 0);
  EXPECT_EQ(repeats(shared_cast("Cast"), with_repeats(singles(), {"Expand"})), 0);
  EXPECT_EQ(repeats(shared_cast("Cast"), with_repeats(singles(), {"Cast"})), 2);
  EXPECT_EQ(repeats(graph_g1(), with_repeats(singles())), 0) << "values with one reader";
}

TEST(PartitionRule, AProducerThatReadsMoreThanItMakesIsNotRepeated) {
  GraphBuilder net;
  const ValueId sum = net.add("Add", {net.input("x"), net.input("y")});
  const ValueId shifted = net.add("Add", {sum, net.weight("w", {1, 4, 2, 2})});
  const Subject subject(net.take({net.add("Tanh", {sum}), net.add("Tanh", {shifted}), net.add("Exp", {shifted})}));
  std::set<std::string> repeated;
  for (const Proposal& proposal : subject.proposals(with_repeats(singles())))
    if (proposal.repeated.universe() != 0) repeated.insert(to_string(proposal.repeated));
  EXPECT_EQ(repeated, std::set<std::string>{"{1}"});
}

TEST(PartitionRule, ANodeInsideAMatchThatOthersReadIsRepeated) {
  const Subject subject(shared_cast("Cast"));
  const Texts sets = subject.sets(pattern_rule("cast-conv", "Cast -> Conv"));
  EXPECT_TRUE(sets.empty()) << "two values leave the match";
  const std::vector<Proposal> proposals =
      subject.proposals(with_repeats(any_of({pattern_rule("cast-conv", "Cast -> Conv")})));
  ASSERT_EQ(proposals.size(), 1U);
  EXPECT_EQ(to_string(proposals[0].nodes), "{0,1}");
  EXPECT_EQ(to_string(proposals[0].repeated), "{0}");
}

TEST(PartitionRule, RepeatsBecomeCandidatesOnlyWhereAskedForAndSupported) {
  const Subject subject(shared_cast("Cast"));
  Proposer proposer = willing("b", PartitionRules{});
  EXPECT_EQ(propose(subject.graph, subject.uses, {&proposer, 1}).candidates.size(), 3U);
  proposer.rules.repeats = RepeatStyle::kCheap;
  const CandidatePool pool = propose(subject.graph, subject.uses, {&proposer, 1});
  EXPECT_THAT(to_text(subject.graph, pool), ::testing::HasSubstr("b/default: ~n0 n1 | plain -> plain\n"));
  EXPECT_EQ(pool.candidates.size(), 5U);
  proposer.support = [](const Region& region) -> std::expected<std::vector<Variant>, Refusal> {
    if (region.nodes.count() > 1) return std::unexpected(Refusal{});
    return plain_variant(region);
  };
  EXPECT_EQ(propose(subject.graph, subject.uses, {&proposer, 1}).candidates.size(), 3U);
}

TEST(PartitionRule, MaximalRegionsFollowTheContextsWord) {
  const Subject subject(graph_g4());
  // Everything but n2, on one of two branches that lie one after the other.
  const RuleContext context{
      .graph = subject.graph, .uses = subject.uses, .reach = subject.reach, .takes = [](const NodeSet& nodes) {
        return !nodes.contains(2);
      }};
  Texts sets;
  for (const Proposal& proposal : enumerate(maximal_regions(), context)) sets.insert(to_string(proposal.nodes));
  EXPECT_EQ(sets, (Texts{"{0,1}", "{3..7}", "{0,1,4..6}", "{3,7}"}));
}

TEST(PartitionRule, MaximalRunsAreCutIntoSoManyPartsAtNarrowPlaces) {
  GraphBuilder net;
  ValueId value = net.input("x");
  for (int i = 0; i < 12; ++i) value = net.add("Relu", {value});
  const Subject subject(net.take({value}));
  EXPECT_EQ(subject.sets(maximal_regions(0)), (Texts{"{0..11}"}));
  EXPECT_EQ(subject.sets(maximal_regions(1)), (Texts{"{0..11}", "{0..5}", "{6..11}"}));
  EXPECT_EQ(subject.sets(maximal_regions(2)), (Texts{"{0..11}", "{0..5}", "{6..11}", "{0..3}", "{4..7}", "{8..11}"}));
}

TEST(PartitionRule, FollowsTheOnlyReaderWhileTheContextTakesIt) {
  GraphBuilder net;
  ValueId value = net.input("x");
  for (int i = 0; i < 4; ++i) value = net.add("Relu", {value});
  const Subject subject(net.take({value}));
  EXPECT_EQ(subject.sets(follow(operators_named({"Relu"}), 2)),
            (Texts{"{0}", "{1}", "{2}", "{3}", "{0,1}", "{1,2}", "{2,3}"}));
}

TEST(PartitionRule, NamedNodesAreOneRegion) {
  EXPECT_EQ(Subject(graph_g1()).sets(nodes_named("x", {"n[01]"})), (Texts{"{0,1}"}));
  EXPECT_EQ(Subject(graph_g1()).sets(nodes_named("x", {"m*"})), Texts{});
}

TEST(PartitionRule, PredicatesChooseNodesByTheirOwnWordOrTheContexts) {
  const Subject subject(graph_g2());
  const auto is_add = [](const Graph&, const Node& node) { return node.op_type == "Add"; };
  EXPECT_EQ(subject.sets(nodes_where("adds", is_add)), (Texts{"{1}"}));
  const RuleContext context{
      .graph = subject.graph, .uses = subject.uses, .reach = subject.reach, .takes = [](const NodeSet& nodes) {
        return nodes.contains(0);
      }};
  EXPECT_EQ(enumerate(taken_nodes(), context).size(), 1U);
}

TEST(PartitionRule, TwoPatternsOnTheSameNodesAreTwoProposals) {
  const Subject subject(graph_g1());
  const auto proposals = subject.proposals(
      any_of({pattern_rule("a", "Relu(Relu)"), pattern_rule("b", "Relu -> Relu"), pattern_rule("a", "Relu(Relu)")}));
  ASSERT_EQ(proposals.size(), 2U);
  EXPECT_EQ(proposals[0].nodes, proposals[1].nodes);
  EXPECT_NE(proposals[0].matches, proposals[1].matches);
}

TEST(PartitionRule, PrintsOnOneLineAndComparesByValue) {
  const auto grown = [](std::string_view silu) {
    return combine(any_of({operators_up_to(kAnchor), pattern_rule("silu", silu)}),
                   {GrowByClass{.from = kAnchor, .to = kBroadcast}, GrowParallel{}, GrowOperands{kInjective}}, 8);
  };
  const PartitionRule rule = only_valid(grown("Mul(a=*, Sigmoid($a))"), {.max_outputs = 1});
  EXPECT_EQ(to_text(rule),
            "valid(outputs<=1, no taps; combine(union(class<=anchor, pattern(silu: Mul(a=*, Sigmoid($a)))); "
            "anchor->broadcast, parallel, operands<=injective; depth<=8))");
  EXPECT_EQ(rule, only_valid(grown("Mul(a=*,Sigmoid($a))"), {.max_outputs = 1}));
  EXPECT_NE(rule, only_valid(operators_up_to(kAnchor), {.max_outputs = 1}));
  EXPECT_EQ(to_text(with_repeats(labelled("l", follow(maximal_regions(2), 8)), {"Cast"})),
            "repeats(label(l; follow(maximal(splits<=2); nodes<=8)); Cast; nodes<=12)");
}

TEST(PartitionRule, WhatWouldReadBackAsAnotherRuleIsRefused) {
  for (const char* text : {R"(label(gate; named(: a "[;( b", c)))", R"(union(named(a: "), named(b: ")))"})
    EXPECT_FALSE(parse_rule(text, "here")) << text;
}

TEST(PartitionRule, PrintedRulesReadBack) {
  for (const char* text :
       {"singles", "taken", "class<=reduce", "operators(Conv|com.microsoft::FusedConv)",
        "pattern(silu: Mul(a=*, Sigmoid($a)))", "pattern(: Conv{@group?=1} -> Relu?; outputs<=2)",
        "named(head: /classifier/* n[01])", "maximal", "maximal(splits<=3)",
        "union(singles, follow(operators(Relu); nodes<=8))", "label(mine; union(singles, taken))",
        "combine(operators(MatMul|Gemm); parallel)",
        "valid(outputs<=1, no taps; combine(class<=anchor; anchor->broadcast, operands<=injective; depth<=8))"}) {
    const auto rule = parse_rule(text, "rules.txt:1");
    ASSERT_TRUE(rule) << text << ": " << to_string(rule.error());
    EXPECT_EQ(to_text(*rule), text);
  }
}

TEST(PartitionRule, MalformedTextIsRefusedWithWhatIsAllowed) {
  for (const auto& [text, saw] : {std::pair{"", ""},
                                  {"single", "single"},
                                  {"class<=heavy", "heavy"},
                                  {"union(singles", "union(singles"},
                                  {"combine(singles; heavy->broadcast)", "heavy"},
                                  {"combine(singles; sideways)", "sideways"},
                                  {"combine(singles)", "singles"},
                                  {"valid(width<=3; singles)", "width<=3"},
                                  {"follow(singles)", "singles"},
                                  {"operators(Conv||Relu)", "Conv||Relu"},
                                  {"label(; singles)", "singles"},
                                  {"maximal(splits<=0)", "splits<=0"}}) {
    const auto rule = parse_rule(text, "rules.txt:7");
    ASSERT_FALSE(rule) << text;
    EXPECT_EQ(rule.error().where, "rules.txt:7");
    EXPECT_EQ(rule.error().code, "region/bad-rule");
    EXPECT_EQ(rule.error().saw, saw);
  }
  std::string deep = "singles";
  for (int i = 0; i < 300; ++i) deep = "union(" + deep + ")";
  EXPECT_FALSE(parse_rule(deep, "rules.txt:1"));
}

TEST(PartitionRule, OperandsOfManyMembersGrowWithoutLosingTheirPlace) {
  // Enough members to move them in memory while the makers of one Concat are being chosen.
  GraphBuilder net;
  std::vector<ValueId> parts;
  for (int i = 0; i < 4; ++i) {
    const ValueId first = net.add("Relu", {net.input("x" + std::to_string(i))});
    parts.push_back(net.add("Neg", {net.add("Abs", {first})}));
  }
  const Subject subject(net.take({net.add("Concat", parts, {4, 4, 2, 2}, {{"axis", std::int64_t{0}}})}));
  const std::vector<GrowRule> grow = {GrowByClass{.from = kBroadcast, .to = kBroadcast}, GrowOperands{kInjective}};
  EXPECT_EQ(subject.sets(combine(singles(), grow, 0)).size(), 4U * 6U + 1U + 3U * 3U * 3U * 3U);
}

/// The sets that growing pairwise reaches, by trying all pairs over and over.
Texts closed_by_force(const Subject& subject, const GrowByClass& grow, std::size_t max_depth) {
  std::vector<NodeSet> sets;
  for (std::size_t n = 0; n < subject.graph.nodes.size(); ++n) sets.push_back(node_set(subject.graph, {n}));
  const auto reads = [&](const NodeSet& down, const NodeSet& up) {
    for (const ValueId id : make_region(subject.graph, subject.uses, down).inputs)
      if (const NodeId maker = subject.uses.producer[id.index]; maker.valid() && up.contains(maker.index)) return true;
    return false;
  };
  for (bool grew = true; std::exchange(grew, false);)
    for (std::size_t a = 0; a < sets.size(); ++a)
      for (std::size_t b = 0; b < sets.size(); ++b) {
        if (sets[a].intersects(sets[b]) || !reads(sets[b], sets[a])) continue;
        if (fusion_class_of(subject.graph, sets[a]) > grow.from || fusion_class_of(subject.graph, sets[b]) > grow.to)
          continue;
        const NodeSet both = sets[a] | sets[b];
        if (std::ranges::find(sets, both) != sets.end() || !subject.reach.is_convex(both)) continue;
        if (depth_of(subject.graph, subject.uses, both) > max_depth) continue;
        sets.push_back(both);
        grew = true;
      }
  Texts texts;
  for (const NodeSet& nodes : sets) texts.insert(to_string(nodes));
  return texts;
}

TEST(PartitionRule, ClosureEqualsTryingAllPairsOverAndOver) {
  const std::vector<std::string> operators = {"Relu", "Add", "Mul", "Conv", "Reshape", "ReduceSum", "Odd"};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    GraphBuilder net;
    std::vector<ValueId> values = {net.input("x")};
    for (std::size_t n = 0; n < 3 + dice.below(6); ++n) {
      const std::size_t near = values.size() > 3 ? values.size() - 3 : 0;
      std::vector<ValueId> operands = {values[near + dice.below(values.size() - near)]};
      if (dice.one_in(2)) operands.push_back(dice.pick(values));
      values.push_back(net.add(dice.pick(operators), operands));
    }
    const Subject subject(net.take({values.back()}));
    for (const GrowByClass grow :
         {GrowByClass{.from = kAnchor, .to = kBroadcast}, GrowByClass{.from = kAnchor, .to = kAnchor}})
      for (const std::size_t depth : {2, 4})
        EXPECT_EQ(subject.sets(combine(singles(), {grow}, depth)), closed_by_force(subject, grow, depth));
  }
}

}  // namespace
}  // namespace collage::testing_support
