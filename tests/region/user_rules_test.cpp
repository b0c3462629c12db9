#include "region/rules/user_rules.h"

#include <gmock/gmock.h>

#include "tests/region/rule_fixture.h"
#include "tests/support/dice.h"

namespace collage::testing_support {
namespace {

using ::testing::HasSubstr;

/// a/conv -> a/relu -> b/conv -> b/relu, with a skip from a/relu to the last sum.
Graph blocks() {
  GraphBuilder net;
  const ValueId first = net.add("Relu", {net.add("Conv", {net.input("x"), net.weight("w", {4, 4, 1, 1})})});
  const ValueId second = net.add("Relu", {net.add("Conv", {first, net.weight("u", {4, 4, 1, 1})})});
  Graph graph = net.take({net.add("Add", {first, second})});
  const std::vector<std::string> names = {"a/conv", "a/relu", "b/conv", "b/relu", "sum"};
  for (std::size_t n = 0; n < names.size(); ++n) graph.nodes[n].name = names[n];
  return graph;
}

UserRules rules_of(std::string_view text) {
  auto rules = parse_user_rules(text, "my.rules");
  EXPECT_TRUE(rules) << to_string(rules.error());
  return rules.value_or(UserRules{});
}

struct Outcome {
  Texts candidates;
  std::string error;
};

/// The candidates of two backends under the rules, or what was wrong.
Outcome proposed(std::string_view text) {
  const Subject subject(blocks());
  std::vector<Proposer> proposers = {willing("fast:mode=1", PartitionRules{}), willing("slow", PartitionRules{})};
  const std::vector<std::string> names = {"fast:mode=1", "slow"};
  const UserRules rules = rules_of(text);
  if (const auto checked = check_user_rules(subject.graph, subject.uses, rules, names); !checked)
    return {.candidates = {}, .error = to_string(checked.error())};
  add_user_rules(subject.graph, rules, proposers);
  CandidatePool pool = propose(subject.graph, subject.uses, proposers);
  if (const auto kept = keep_forced_regions(subject.graph, rules, pool); !kept)
    return {.candidates = {}, .error = to_string(kept.error())};
  return {.candidates = candidates_of(pool), .error = {}};
}

Texts longer_than_one(Texts candidates) {
  std::erase_if(candidates, [](const std::string& text) { return text.find_first_of(",.") == std::string::npos; });
  return candidates;
}

TEST(UserRules, APatternIsProposedToItsBackend) {
  EXPECT_EQ(longer_than_one(proposed("pattern fast block: Conv -> Relu").candidates),
            (Texts{"fast:mode=1 {0,1}", "fast:mode=1 {2,3}"}));
  EXPECT_EQ(longer_than_one(proposed("pattern * block: Conv -> Relu ; outputs<=2").candidates),
            (Texts{"fast:mode=1 {0,1}", "fast:mode=1 {2,3}", "slow {0,1}", "slow {2,3}"}));
  EXPECT_EQ(longer_than_one(proposed("pattern fast:mode=1 block: Relu(Conv(*, const))").candidates),
            (Texts{"fast:mode=1 {0,1}", "fast:mode=1 {2,3}"}));
}

TEST(UserRules, FusedNodesAreOneStepAndNothingElseTouchesThem) {
  const Outcome outcome = proposed("pattern slow all: Conv -> Relu\nfuse slow block: b/* sum");
  EXPECT_EQ(outcome.candidates,
            (Texts{"fast:mode=1 {0}", "fast:mode=1 {1}", "slow {0,1}", "slow {0}", "slow {1}", "slow {2..4}"}));
}

TEST(UserRules, NodesThatCannotBeOneStepAreAnError) {
  EXPECT_THAT(proposed("\nfuse slow x: a/relu sum").error, HasSubstr("my.rules:2: saw nodes with a path between them"));
  EXPECT_THAT(proposed("fuse slow x: c/*").error, HasSubstr("saw no node with a name like c/*"));
  EXPECT_THAT(proposed("fuse slow x: a/*\nfuse slow y: a/relu").error, HasSubstr("saw node a/relu a second time"));
  EXPECT_THAT(proposed("fuse slow x: b/*\nban slow: Conv").error, HasSubstr("slow: operator (Conv by my.rules:2)"));
}

TEST(UserRules, ABackendThatIsNotThereIsAnError) {
  EXPECT_THAT(proposed("ban fats: Conv").error,
              HasSubstr("saw backend fats; did you mean fast?; allowed *, fast:mode=1, slow"));
}

TEST(UserRules, RulesAreAskedAboutTooOrInPlaceOfTheBackendsOwn) {
  EXPECT_EQ(longer_than_one(proposed("rule fast: follow(operators(Conv); nodes<=2)").candidates),
            (Texts{"fast:mode=1 {0,1}", "fast:mode=1 {2,3}"}));
  const Texts replaced = proposed(
                             "pattern fast end: Relu -> Add\nreplace fast: operators(Conv)\n"
                             "replace fast: named(whole: *)\nrule fast: class<=broadcast")
                             .candidates;
  EXPECT_EQ(replaced,
            (Texts{"fast:mode=1 {0}", "fast:mode=1 {2}", "fast:mode=1 {0..4}", "fast:mode=1 {3,4}", "fast:mode=1 {1}",
                   "fast:mode=1 {3}", "fast:mode=1 {4}", "slow {0}", "slow {1}", "slow {2}", "slow {3}", "slow {4}"}))
      << "whatever the order of the lines";
}

TEST(UserRules, LimitsAndBansBecomeRefusals) {
  const std::string patterns =
      "pattern slow block: Conv -> Relu -> Add ; outputs<=3\npattern slow pair: Conv -> Relu\n";
  EXPECT_EQ(longer_than_one(proposed(patterns).candidates), (Texts{"slow {0,1}", "slow {2,3}", "slow {2..4}"}));
  EXPECT_EQ(longer_than_one(proposed(patterns + "limit slow: nodes<=2").candidates),
            (Texts{"slow {0,1}", "slow {2,3}"}));
  EXPECT_EQ(longer_than_one(proposed(patterns + "limit *: depth<=2, no taps").candidates),
            (Texts{"slow {0,1}", "slow {2,3}"}));
  EXPECT_EQ(proposed("ban slow: Conv|Relu\nban fast: Add").candidates,
            (Texts{"fast:mode=1 {0}", "fast:mode=1 {1}", "fast:mode=1 {2}", "fast:mode=1 {3}", "slow {4}"}));
}

TEST(UserRules, WholePlansAreJudgedByTheSameRules) {
  const Subject subject(blocks());
  const NodeSet all = node_set(subject.graph, {0, 1, 2, 3, 4});
  const auto allowed = [&](std::string_view text, std::string_view backend) {
    return allows(subject.graph, subject.uses, rules_of(text), all, backend);
  };
  EXPECT_TRUE(allowed("pattern * p: Conv", "slow"));
  EXPECT_FALSE(allowed("fuse slow x: b/*", "slow"));
  EXPECT_TRUE(allowed("fuse slow x: *", "slow"));
  EXPECT_FALSE(allowed("fuse slow x: *", "fast:mode=1"));
  EXPECT_FALSE(allowed("limit fast: nodes<=4", "fast:mode=1"));
  EXPECT_TRUE(allowed("limit fast: nodes<=4", "slow"));
  EXPECT_FALSE(allowed("ban *: Add", "slow"));
}

TEST(UserRules, CommentsBlankLinesAndQuotesAreRead) {
  const UserRules rules = rules_of("# a comment\n\n  fuse  onnx:opt=basic  head:  \"final pool\" /classifier/*\r\n");
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].backend, "onnx:opt=basic");
  EXPECT_EQ(rules[0].label, "head");
  EXPECT_EQ(rules[0].globs, (std::vector<std::string>{"final pool", "/classifier/*"}));
  EXPECT_EQ(rules[0].where, "my.rules:3");
}

TEST(UserRules, MalformedLinesSayWhereAndWhatIsAllowed) {
  for (const auto& [line, saw] : {std::pair{"pattern slow: Conv", "pattern slow: Conv"},
                                  {"fuse slow", "fuse slow"},
                                  {"fuse slow x:", "fuse slow x:"},
                                  {"melt slow: x", "melt"},
                                  {"limit slow: nodes<=0", "nodes<=0"},
                                  {"limit slow: nodes<=-3", "nodes<=-3"},
                                  {"limit slow: colour", "colour"},
                                  {"ban slow: Conv, Relu", "Conv, Relu"},
                                  {"ban slow: |", "|"},
                                  {"pattern slow p: Conv ->", "\"the end\" at column 8"},
                                  {"pattern slow p: Conv ; inputs<=2", "inputs<=2"}}) {
    const auto rules = parse_user_rules(std::string("\n\n") + line, "my.rules");
    ASSERT_FALSE(rules) << line;
    EXPECT_EQ(rules.error().code, "region/bad-rule");
    EXPECT_EQ(rules.error().where, "my.rules:3");
    EXPECT_EQ(rules.error().saw, saw);
    EXPECT_FALSE(rules.error().allowed.empty());
  }
}

TEST(UserRules, RandomTextNeverCrashes) {
  const std::vector<std::string> pieces = {
      "pattern", "fuse",    "limit", "ban", " ", " ",    ": ", ":", "slow", "*", "\"",
      "\n",      "nodes<=", "9",     "|",   ",", "Conv", "->", "(", "#",    ";", std::string(1, '\0'),
      "\xfe"};
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    std::string text;
    for (std::size_t i = 0; i < 1 + dice.below(16); ++i) text += dice.pick(pieces);
    const auto rules = parse_user_rules(text, "f");
    EXPECT_TRUE(rules || rules.error().code == "region/bad-rule") << text;
  }
}

TEST(UserRules, AFileThatCannotBeReadIsAnError) {
  const auto rules = read_user_rules("/nowhere/at/all.rules");
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, "region/cannot-read");
  EXPECT_FALSE(read_user_rules("/"));
}

TEST(MaximalRegions, OfEndlessSplitsAreThoseOfOneNodeEach) {
  const Graph graph = parse_graph(
                          "graph(%x: f32[2]) -> (%c) { opset ai.onnx 26 %a: f32[2] = Relu(%x) %b: f32[2] = Neg(%a) "
                          "%c: f32[2] = Abs(%b) }")
                          .value();
  const Uses uses = uses_of(graph);
  const Reachability reach(graph, uses);
  const RuleContext context{.graph = graph, .uses = uses, .reach = reach};
  EXPECT_EQ(enumerate(maximal_regions(std::size_t{1} << 40), context).size(),
            enumerate(maximal_regions(3), context).size());
}

TEST(Globs, MatchNamesAsAShellDoes) {
  struct Case {
    const char* glob;
    const char* name;
    bool fits;
  };
  for (const Case& one : std::vector<Case>{{"*", "", true},
                                           {"?", "", false},
                                           {"conv*1", "conv_0/1", true},
                                           {"conv*1", "conv_0/12", false},
                                           {"*a*b", "aab", true},
                                           {"[ab]c", "bc", true},
                                           {"[!ab]c", "bc", false},
                                           {"[a-c]?", "b1", true},
                                           {"[]]", "]", true},
                                           {"[a", "[a", true},
                                           {"\\*", "*", true},
                                           {"\\*", "a", false},
                                           {"a", "ab", false}})
    EXPECT_EQ(matches_glob(one.name, {one.glob}), one.fits) << one.glob << " " << one.name;
  EXPECT_TRUE(matches_glob("b", {"a", "b"}));
  EXPECT_FALSE(matches_glob("b", {}));
}

// With a search through all ways to divide the name this takes longer than anybody lives.
TEST(Globs, OfManyStarsTakeNoTime) {
  std::string glob;
  for (int i = 0; i < 100; ++i) glob += "*a";
  EXPECT_FALSE(matches_glob(std::string(10'000, 'a'), {glob + "b"}));
}

}  // namespace
}  // namespace collage::testing_support
