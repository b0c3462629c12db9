// Which regions the backends are asked about, by their own rules and by those of --rules.
#include "tests/cli/cli_fixture.h"
#include "tests/onnx/model_text.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// a is read by b and c, which d joins.
std::string diamond() {
  return opset_model(17,
                     "diamond (float[6,16] x) => (float[6,16] y) { "
                     "[a] v = Relu (x) [b] l = Tanh (v) [c] r = Abs (v) [d] y = Add (l, r) }");
}

class Rules : public CliTest {
 protected:
  /// The candidates of `check --dump candidates` under this text of --rules.
  std::string candidates(const std::string& model, const std::string& rules, std::vector<std::string> more) {
    more.insert(more.begin(), {"check", given("model.onnx", model), "--dump", "candidates"});
    if (!rules.empty()) more.insert(more.end(), {"--rules", given("my.rules", rules)});
    const Ended ended = run(more);
    expect_good(ended);
    return ended.out;
  }

  std::string of_native(const std::string& rules) { return candidates(diamond(), rules, {"--backends", "native"}); }
};

/// Some line has this backend and exactly these nodes.
auto lists(const std::string& backend, const std::string& nodes) {
  return ::testing::ContainsRegex("(^|\n)" + backend + "/[^\n:]*: " + nodes + " \\|");
}

TEST_F(Rules, ADiamondOfElementWiseWorkIsACandidateAtOnce) {
  const std::string text = of_native("");
  EXPECT_THAT(text, lists("native", "a b c d"));
  EXPECT_THAT(text, lists("host", "a b c d"));
}

TEST_F(Rules, ReplaceTakesTheBackendsOwnRulesAway) {
  const std::string singles = of_native("replace native: singles\n");
  EXPECT_THAT(singles, lists("native", "b"));
  EXPECT_THAT(singles, Not(lists("native", "b d")));
  EXPECT_THAT(singles, Not(lists("native", "a b c d")));
  EXPECT_THAT(singles, lists("host", "a b c d")) << "of the other backend nothing is taken";
}

TEST_F(Rules, EveryFormOfARuleChangesWhatIsListed) {
  const std::string combined =
      of_native("replace native: valid(nodes<=2; combine(class<=anchor; anchor->broadcast; depth<=8))\n");
  EXPECT_THAT(combined, lists("native", "b d"));
  EXPECT_THAT(combined, lists("native", "c d"));
  EXPECT_THAT(combined, Not(lists("native", "a b c d")));

  const std::string followed = of_native("replace native: follow(operators(Tanh); nodes<=2)\n");
  EXPECT_THAT(followed, lists("native", "b d"));
  EXPECT_THAT(followed, Not(lists("native", "c d")));

  const std::string named = of_native("replace native: union(operators(Relu), named(end: c d))\n");
  EXPECT_THAT(named, lists("native", "a"));
  EXPECT_THAT(named, lists("native", "c d"));
  EXPECT_THAT(named, Not(lists("native", "b")));

  const std::string matched = of_native("replace native: taken\nrule native: pattern(end: Tanh -> Add)\n");
  EXPECT_THAT(matched, lists("native", "c"));
  EXPECT_THAT(matched, lists("native", "b d"));
  EXPECT_THAT(matched, Not(lists("native", "c d")));

  const std::string limited = of_native("replace native: maximal\nlimit native: nodes<=3\n");
  EXPECT_THAT(limited, Not(lists("native", "a b c d")));
  EXPECT_THAT(of_native("replace native: maximal\n"), lists("native", "a b c d"));
}

TEST_F(Rules, ALabelReachesTheBackend) {
  const std::string model =
      opset_model(17, "label (float[4] x) => (float[4] y) { [a] n = Neg (x) [b] y = Max (x, n) }");
  const std::string grown = "combine(singles; broadcast->broadcast)";
  const std::vector<std::string> library = {
      "--backend-library", collage::test::build_path("/tests/modules/examples/libcollage_backend_example_chain.so")};
  EXPECT_THAT(candidates(model, "replace example_chain: " + grown + "\n", library), lists("example_chain", "a b"));
  const std::string labelled = candidates(model, "replace example_chain: label(magnitude; " + grown + ")\n", library);
  EXPECT_THAT(labelled, HasSubstr("example_chain/magnitude: a b"));
  EXPECT_THAT(labelled, Not(HasSubstr("example_chain/default"))) << "its pattern of one Neg has another label";
}

TEST_F(Rules, AMalformedRuleSaysWhereAndWhatIsAllowed) {
  const std::string model = given("model.onnx", diamond());
  const auto check = [&](const std::string& rules) {
    return run({"check", model, "--dump", "candidates", "--rules", given("my.rules", rules)});
  };
  expect_error(check("rule native: combine(singles; heavy->broadcast)\n"), 2, "region/bad-rule", "heavy");
  expect_error(check("\nreplace native: everything\n"), 2, "region/bad-rule", "my.rules:2");
}

}  // namespace
}  // namespace collage::testing
