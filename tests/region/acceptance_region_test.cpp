// Regions: what crosses their border, how deep they are, when they are legal.
#include "tests/region/rule_fixture.h"

namespace collage::testing_support {
namespace {

/// Nodes of the region that read one of its inputs.
NodeSet entries_of(const Subject& subject, const Region& region) {
  NodeSet entries(region.nodes.universe());
  for (const ValueId input : region.inputs)
    for (const NodeId reader : subject.uses.consumers[input.index])
      if (region.nodes.contains(reader.index)) entries.insert(reader.index);
  return entries;
}

/// Nodes that make an output of the region.
NodeSet exits_of(const Subject& subject, const Region& region) {
  NodeSet exits(region.nodes.universe());
  for (const ValueId output : region.outputs) exits.insert(subject.uses.producer[output.index].index);
  return exits;
}

/// Nodes outside of the region that read an output of it.
NodeSet readers_of(const Subject& subject, const Region& region) {
  NodeSet readers(region.nodes.universe());
  for (const ValueId output : region.outputs)
    for (const NodeId reader : subject.uses.consumers[output.index]) readers.insert(reader.index);
  return readers -= region.nodes;
}

/// "entries / exits / inputs / readers / depth" of a region.
std::string facts(const Subject& subject, const std::vector<std::size_t>& nodes) {
  const Region region = subject.region(nodes);
  return to_string(entries_of(subject, region)) + " / " + to_string(exits_of(subject, region)) + " / " +
         subject.names(region.inputs) + " / " + to_string(readers_of(subject, region)) + " / " +
         std::to_string(depth_of(subject.graph, subject.uses, region.nodes));
}

/// Inputs and outputs of the region as a graph of its own.
std::string signature(const Subject& subject, const std::vector<std::size_t>& nodes) {
  const Graph part = extract(subject.graph, subject.region(nodes));
  EXPECT_TRUE(verify(part)) << to_string(verify(part).error());
  std::string text = "(";
  for (const ValueId id : part.inputs) text += part.value(id).name + " ";
  text += "->";
  for (const ValueId id : part.outputs) text += " " + part.value(id).name;
  return text + ")";
}

Subject two_sums() {
  GraphBuilder net;
  const ValueId a = net.input("a");
  const ValueId b = net.input("b");
  const ValueId c = net.input("c");
  const ValueId d = net.input("d");
  const ValueId left = net.add("Add", {a, b});
  const ValueId right = net.add("Add", {c, d});
  return Subject(net.take({net.add("Sub", {left, right})}));
}

Subject convolution_and_difference() {
  GraphBuilder net;
  const ValueId a = net.input("a");
  const ValueId b = net.input("b");
  const ValueId c = net.input("c");
  const ValueId relu = net.add("Relu", {net.add("Add", {net.add("Conv", {a, b}), c})});
  return Subject(net.take({net.add("Sub", {relu, net.input("d")})}));
}

Subject diamond() {
  GraphBuilder net;
  const ValueId a = net.input("a");
  const ValueId conv = net.add("Conv", {a, net.input("b")});
  const ValueId left = net.add("Relu", {net.add("Relu", {conv})});
  return Subject(net.take({net.add("Add", {left, net.add("LeakyRelu", {conv})})}));
}

Subject tapped() {
  GraphBuilder net;
  const ValueId a = net.input("a");
  const ValueId conv = net.add("Conv", {a, net.input("b")});
  const ValueId relu = net.add("Relu", {conv});
  return Subject(net.take({net.add("Add", {relu, conv})}));
}

Subject three_sums() {
  GraphBuilder net;
  const ValueId a = net.input("a");
  const ValueId b = net.input("b");
  return Subject(net.take({net.add("Add", {net.add("Add", {net.add("Add", {a, b}), b}), b})}));
}

/// Two diamonds in a row; the last node reads n7, or n2 and n7.
Subject two_diamonds(bool last_adds) {
  GraphBuilder net;
  const ValueId n1 = net.add("Relu", {net.add("Relu", {net.input("a")})});
  const ValueId n2 = net.add("Relu", {n1});
  const ValueId n4 = net.add("Add", {n2, net.add("Relu", {n1})});
  const ValueId n5 = net.add("Relu", {n4});
  const ValueId n7 = net.add("Add", {n5, net.add("Relu", {n4})});
  return Subject(net.take({last_adds ? net.add("Add", {n2, n7}) : net.add("Relu", {n7})}));
}

TEST(Acceptance, OneNodeIsOneStepWithItsOperands) {
  const Subject subject = two_sums();
  EXPECT_EQ(facts(subject, {1}), "{1} / {1} / c,d / {2} / 1");
  EXPECT_EQ(subject.verdict({1}, {.max_outputs = 1}), "legal");
  EXPECT_EQ(signature(subject, {1}), "(c d -> v1)");
}

TEST(Acceptance, TwoOutputsNeedALimitOfTwo) {
  const Subject subject = two_sums();
  EXPECT_EQ(facts(subject, {0, 1}), "{0,1} / {0,1} / a,b,c,d / {2} / 1");
  EXPECT_EQ(subject.verdict({0, 1}, {.max_outputs = 1}), "outputs");
  EXPECT_EQ(subject.verdict({0, 1}, {.max_outputs = 2}), "legal");
  EXPECT_EQ(signature(subject, {0, 1}), "(a b c d -> v0 v1)");
}

TEST(Acceptance, AChainIsAsDeepAsItIsLong) {
  const Subject subject = convolution_and_difference();
  EXPECT_EQ(facts(subject, {0, 1, 2}), "{0,1} / {2} / a,b,c / {3} / 3");
  EXPECT_EQ(subject.verdict({0, 1, 2}, {.max_outputs = 1}), "legal");
  EXPECT_EQ(signature(subject, {0, 1, 2}), "(a b c -> v2)");
}

TEST(Acceptance, AWholeDiamondHasOneOutput) {
  const Subject subject = diamond();
  EXPECT_EQ(facts(subject, {0, 1, 2, 3, 4}), "{0} / {4} / a,b / {} / 4");
  EXPECT_EQ(subject.verdict({0, 1, 2, 3, 4}, {.max_outputs = 1}), "legal");
}

TEST(Acceptance, ADiamondWithoutItsEndHasTwoOutputs) {
  const Subject subject = diamond();
  EXPECT_EQ(facts(subject, {0, 1, 2, 3}), "{0} / {2,3} / a,b / {4} / 3");
  EXPECT_EQ(subject.verdict({0, 1, 2, 3}, {.max_outputs = 2}), "legal");
  EXPECT_EQ(signature(subject, {0, 1, 2, 3}), "(a b -> v2 v3)");
}

TEST(Acceptance, AnOutputReadInsideIsATapAndNeedsPermission) {
  const Subject subject = tapped();
  EXPECT_EQ(facts(subject, {0, 1}), "{0} / {0,1} / a,b / {2} / 2");
  EXPECT_EQ(subject.names(taps_of(subject.uses, subject.region({0, 1}))), "v0");
  EXPECT_EQ(subject.verdict({0, 1}, {.max_outputs = 2}), "taps");
  EXPECT_EQ(subject.verdict({0, 1}, {.max_outputs = 2, .allow_taps = true}), "legal");
  EXPECT_EQ(signature(subject, {0, 1}), "(a b -> v0 v1)");
}

TEST(Acceptance, ASetThatWouldWaitForItselfIsNotConvex) {
  const Subject subject = three_sums();
  EXPECT_EQ(facts(subject, {0, 2}), "{0,2} / {0,2} / a,b,v1 / {1} / 1");
  EXPECT_EQ(subject.verdict({0, 2}, {.max_outputs = 2}), "convexity");
  EXPECT_EQ(subject.verdict({0, 1, 2}, {.max_outputs = 2}), "legal");
  EXPECT_EQ(facts(subject, {0, 1, 2}), "{0..2} / {2} / a,b / {} / 3");
}

TEST(Acceptance, OneRegionHoldsLabelledMatchesAndLooseNodes) {
  const Subject subject = two_diamonds(false);
  const std::vector<std::size_t> all = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(facts(subject, all), "{0} / {8} / a / {} / 7");
  EXPECT_EQ(facts(subject, {1, 2, 3, 4}), "{1} / {4} / v0 / {5,6} / 3");
  EXPECT_EQ(facts(subject, {5, 6, 7}), "{5,6} / {7} / v4 / {8} / 2");
  const std::vector<Match> matches = {subject.match("a", {1, 2, 3, 4}), subject.match("b", {5, 6, 7})};
  EXPECT_EQ(subject.verdict(all, {.max_outputs = 1}, matches), "legal");
}

TEST(Acceptance, MatchesMayGiveValuesToEachOtherAndOutside) {
  const Subject subject = two_diamonds(true);
  const std::vector<std::size_t> middle = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(facts(subject, middle), "{1} / {2,7} / v0 / {8} / 5");
  EXPECT_EQ(facts(subject, {1, 2, 3, 4}), "{1} / {2,4} / v0 / {5,6,8} / 3");
  const std::vector<Match> matches = {subject.match("a", {1, 2, 3, 4}), subject.match("b", {5, 6, 7})};
  EXPECT_EQ(subject.verdict(middle, {.max_outputs = 2, .allow_taps = true}, matches), "legal");
  EXPECT_EQ(subject.verdict(middle, {.max_outputs = 2}, matches), "taps");
  EXPECT_EQ(signature(subject, middle), "(v0 -> v2 v7)");
  EXPECT_EQ(signature(subject, {1, 2, 3, 4}), "(v0 -> v2 v4)");
}

TEST(Acceptance, ARegionFedByConstantsOnlyHasADepth) {
  GraphBuilder net;
  const ValueId sum = net.add("Add", {net.weight("C0", {80}), net.weight("C1", {80})}, {80});
  const Subject subject(net.take({net.add("Relu", {sum}, {80})}));
  EXPECT_EQ(facts(subject, {0}), "{} / {0} /  / {1} / 1");
  EXPECT_EQ(facts(subject, {0, 1}), "{} / {1} /  / {} / 2");
}

TEST(Acceptance, OutputsAreCountedAsValues) {
  GraphBuilder net;
  const std::vector<ValueId> parts = net.add_outputs("Split", {net.input("x", {9})}, {{3}, {3}, {3}});
  const Subject subject(net.take({net.add("Add", {parts[1], parts[2]}, {3})}));
  EXPECT_EQ(subject.region({0}).outputs.size(), 2U) << "the first part is unused";
  EXPECT_EQ(subject.verdict({0}, {.max_outputs = 1}), "outputs");
  EXPECT_EQ(subject.verdict({0}, {.max_outputs = 2}), "legal");
}

TEST(Acceptance, OverlappingMatchesAreAFault) {
  const Subject subject = two_diamonds(false);
  const std::vector<std::size_t> all = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<Match> overlapping = {subject.match("a", {1, 2, 3, 4}), subject.match("b", {4, 5, 6, 7})};
  EXPECT_EQ(subject.verdict(all, {.max_outputs = 1}, overlapping), "matches");
  const auto checked = subject.check(all, {}, overlapping);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().detail, "b overlaps another match in {4}");
  EXPECT_EQ(subject.verdict({5, 6, 7}, {}, {subject.match("a", {4, 5})}), "matches") << "a match leaves the region";
}

}  // namespace
}  // namespace collage::testing_support
