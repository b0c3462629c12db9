// What a bench says of who gives wrong numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "api/tune/bench_shapes.h"
#include "base/json_numbers.h"

namespace collage {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Tensor tensor(const std::vector<float>& values) {
  return make_tensor<float>(ElementType::kFloat32, {static_cast<std::int64_t>(values.size())}, values);
}

/// The plan, a quick rival and a slow one.
BenchReport report() {
  BenchReport made{.model = "m.onnx"};
  for (const auto& [name, ns] : {std::pair{"collage", 1000}, {"quick", 500}, {"slow", 3000}}) {
    made.contenders.push_back({.name = name, .version = "1", .precision = "f32"});
    made.contenders.back().lane = {.name = name, .samples_ns = {ns, ns, ns}};
    made.contenders.back().numbers.verdict = NumbersCheck::Verdict::kRight;
  }
  made.ratios = {{.against = "quick", .ratio = {.ratio = 0.5, .low = 0.5, .high = 0.5}},
                 {.against = "slow", .ratio = {.ratio = 3, .low = 2.9, .high = 3.1}}};
  return made;
}

void make_wrong(BenchReport& report, std::size_t contender) {
  report.contenders[contender].numbers = {
      .verdict = NumbersCheck::Verdict::kWrong, .output = "y", .max_abs = 2, .detail = "element 1: saw 3, expected 1"};
  if (contender > 0) report.ratios[contender - 1].counts = false;
}

TEST(BenchReportTest, TheBestRivalIsTheHardestToBeat) {
  EXPECT_EQ(best_rival(report())->against, "quick");
  EXPECT_FALSE(has_wrong_plan(report()));
  EXPECT_THAT(to_text(report()), HasSubstr("against the best rival, quick: 0.50x"));
}

TEST(BenchReportTest, ARivalWithWrongNumbersIsNamedAndCountsNowhere) {
  BenchReport wrong = report();
  make_wrong(wrong, 1);
  EXPECT_EQ(best_rival(wrong)->against, "slow");
  EXPECT_THAT(to_text(wrong), HasSubstr("WRONG NUMBERS\n  output y: element 1: saw 3, expected 1"));
  const auto json = nlohmann::json::parse(to_json(wrong));
  EXPECT_EQ(json["contenders"][1]["numbers"]["verdict"], "wrong");
  EXPECT_EQ(json["best_rival"]["against"], "slow");
  // Over shapes, too: only the one where its numbers are right is in the mean.
  const auto shapes = nlohmann::json::parse(to_json(std::vector{wrong, report()}));
  EXPECT_NEAR(shapes["ratios"]["quick"], 0.5, 1e-9);
  EXPECT_THAT(to_text(std::vector{wrong, report()}), HasSubstr("WRONG NUMBERS, output y"));
}

TEST(BenchReportTest, APlanWithWrongNumbersIsInNoMean) {
  BenchReport wrong = report();
  make_wrong(wrong, 0);
  EXPECT_TRUE(has_wrong_plan(wrong));
  EXPECT_THAT(to_text(wrong), HasSubstr("WRONG NUMBERS"));
  const auto shapes = nlohmann::json::parse(to_json(std::vector{wrong, wrong}));
  EXPECT_TRUE(shapes["ratios"].empty());
}

TEST(BenchReportTest, AnInterruptionIsSaid) {
  BenchReport stopped = report();
  EXPECT_THAT(to_text(stopped), Not(HasSubstr("stopped by a signal")));
  stopped.interrupted = true;
  EXPECT_THAT(to_text(stopped), HasSubstr("stopped by a signal after 3 rounds"));
}

TEST(ContenderCheck, NamesTheWorstOutput) {
  const ExpectedNumbers expected{
      .names = {"a", "b", "c"},
      .outputs = {.tensors = {tensor({1}), tensor({1, 2}), tensor({5})}, .slacks = {0, 0, 0}}};
  const NumbersCheck right = check_numbers({tensor({1}), tensor({1, 2}), tensor({5})}, expected);
  EXPECT_EQ(right.verdict, NumbersCheck::Verdict::kRight);
  const NumbersCheck wrong = check_numbers({tensor({1}), tensor({1, 4}), tensor({6})}, expected);
  EXPECT_EQ(wrong.verdict, NumbersCheck::Verdict::kWrong);
  EXPECT_EQ(wrong.output, "b");
  EXPECT_EQ(wrong.max_abs, 2);
  EXPECT_THAT(wrong.detail, HasSubstr("element 1"));
  EXPECT_TRUE(check_numbers({tensor({1})}, expected).is_wrong()) << "outputs are missing";
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const NumbersCheck none = check_numbers({tensor({1}), tensor({nan, 2}), tensor({9})}, expected);
  EXPECT_EQ(none.output, "b") << "no number is worse than a wrong one";
  EXPECT_TRUE(std::isinf(none.max_abs));
}

}  // namespace
}  // namespace collage
