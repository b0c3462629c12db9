#include "tests/conformance/expectations.h"

#include <gtest/gtest.h>

namespace collage::conformance {
namespace {

Outcome refused(const std::string& reason) { return {.kind = Outcome::Kind::kRefused, .reason = reason, .detail = {}}; }

const Outcomes& three() {
  static const Outcomes kThree = {
      {"pool/max-1d", refused("shape")}, {"pool/max-2d", {}}, {"pool/mean-1d", refused("shape")}};
  return kThree;
}

TEST(Expectations, AcceptWhatIsListedOnly) {
  EXPECT_TRUE(problems({{"pool/max-1d", "shape"}, {"pool/mean*", "shape"}}, three()).empty());
}

TEST(Expectations, RejectARefusalThatIsNotListed) {
  EXPECT_EQ(problems({{"pool/max-1d", "shape"}}, three()).size(), 1U);
}

TEST(Expectations, RejectAListedCaseThatPasses) {
  EXPECT_EQ(problems({{"pool/max-*", "shape"}, {"pool/mean*", "shape"}}, three()).size(), 1U);
}

TEST(Expectations, RejectAnotherReason) {
  EXPECT_EQ(problems({{"pool/max-1d", "type"}, {"pool/mean*", "shape"}}, three()).size(), 1U);
}

TEST(Expectations, RejectALineThatMatchesNoCase) {
  EXPECT_EQ(problems({{"pool/m*-1d", "shape"}, {"pool/lp*", "shape"}}, three()).size(), 1U);
}

TEST(Expectations, AcceptALineForACaseThatDidNotRun) {
  const std::vector<Expectation> lines = {{"pool/max-1d", "shape"}, {"pool/mean*", "shape"}, {"pool/lp", "shape"}};
  EXPECT_EQ(problems(lines, three()).size(), 1U);
  EXPECT_TRUE(problems(lines, three(), {"pool/lp"}).empty());
}

TEST(Expectations, RejectAFailureWhateverIsListed) {
  const Outcomes failure = {{"pool/max", {.kind = Outcome::Kind::kFailed, .reason = {}, .detail = "off by one"}}};
  EXPECT_EQ(problems({}, failure).size(), 1U);
  EXPECT_EQ(problems({{"pool/max", "shape"}}, failure).size(), 2U);
}

TEST(Expectations, SummariseWholeGroupsOnly) {
  const std::vector<Expectation> lines = summarised(three());
  EXPECT_EQ(lines, (std::vector<Expectation>{{"pool/max-1d", "shape"}, {"pool/mean-1d", "shape"}}));
  EXPECT_TRUE(problems(lines, three()).empty());
  const Outcomes all = {{"pool/max-1d", refused("shape")}, {"pool/mean-1d", refused("shape")}};
  EXPECT_EQ(summarised(all), (std::vector<Expectation>{{"pool/*", "shape"}}));
  const Outcomes official = {
      {"test_adam", refused("operator")}, {"test_adam_2", refused("operator")}, {"test_add", {}}};
  EXPECT_EQ(summarised(official), (std::vector<Expectation>{{"test_adam*", "operator"}}));
}

TEST(Expectations, UpdateOneFamilyAndKeepTheRest) {
  const std::string text = "# head\n\nconv/a: type\npool/max: shape\ntest_abs: type\n";
  const auto result = updated(text, "pool", {{"pool/lp", "operator"}});
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, "# head\nconv/a: type\npool/lp: operator\ntest_abs: type\n");
}

TEST(Expectations, LinesWithoutAReasonAreMalformed) {
  EXPECT_FALSE(parse_expectations("conv/a type\n"));
  const auto lines = parse_expectations("# nothing\n conv/a: type # why\n\n");
  ASSERT_TRUE(lines);
  EXPECT_EQ(*lines, (std::vector<Expectation>{{"conv/a", "type"}}));
}

TEST(Expectations, StarsMatchAnyText) {
  EXPECT_TRUE(matches("a*c", "abc"));
  EXPECT_TRUE(matches("a*c*", "abcbcd"));
  EXPECT_TRUE(matches("a*", "a"));
  EXPECT_FALSE(matches("a*c", "abd"));
  EXPECT_FALSE(matches("abc", "abcd"));
}

TEST(Expectations, FamiliesOfOfficialTestsGoByLetter) {
  EXPECT_EQ(family_of("test_abs"), "official_a");
  EXPECT_EQ(family_of("test_xor2d*"), "official_t_z");
  EXPECT_EQ(family_of("conv/*"), "conv");
}

}  // namespace
}  // namespace collage::conformance
