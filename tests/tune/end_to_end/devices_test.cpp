// A whole tune with two made-up devices beside home: memory that home cannot read, transfers that take time, limits of
// memory, a queue that works while the caller goes on.
#include <gmock/gmock.h>

#include <set>

#include "api/tune/verify.h"
#include "base/json_numbers.h"
#include "plan/file/plan_file.h"
#include "plan/file/plan_json.h"
#include "search/search.h"
#include "tests/tune/tune_fixture.h"

namespace collage {
namespace {

const std::string kNear = "test:device=near,transfer_us=20";
const std::string kFar = "test:device=far,delay_us=50,transfer_us=3000";
const std::string kSmall = "test:device=small,memory=128";

class DeviceTune : public ::testing::Test {
 protected:
  DeviceTune() { test::write_model(test::small_graph(), scratch.file("model.onnx")); }

  [[nodiscard]] TuneOptions options(std::vector<std::string> backends) const {
    return test::small_tune(scratch, std::move(backends));
  }

  /// Twice: what the first run left must not matter.
  void expect_right_numbers(const std::string& plan) {
    test::expect_small_graph_numbers(plan, registry, {2.0F, -3.0F});
  }

  static NodeRule pin(const std::string& glob, const std::string& to) {
    return {.kind = NodeRule::Kind::kPin, .glob = glob, .backend = to};
  }

  /// "LOCATION" of kernels, "from>to" of transfers, in order.
  static std::vector<std::string> route(const Plan& plan) {
    std::vector<std::string> steps;
    for (const PlanStep& step : plan.steps) {
      if (is_transfer(step))
        steps.push_back(plan.values[step.inputs[0]].place.location + ">" + plan.values[step.outputs[0]].place.location);
      else if (is_kernel(step))
        steps.push_back(location_of(step));
    }
    return steps;
  }

  test::Scratch scratch;
  Registry registry{test::module_folders()};
};

TEST_F(DeviceTune, OnlyOneDeviceTakesAllWithATransferThereAndOneBack) {
  TuneOptions wanted = options({kNear, kFar});
  wanted.only = "near";
  const auto report = tune(wanted, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const std::vector<std::string> steps = route(plan->plan);
  ASSERT_GE(steps.size(), 3U);
  EXPECT_EQ(steps.front(), "cpu>near");
  EXPECT_EQ(steps.back(), "near>cpu");
  EXPECT_THAT(std::vector(steps.begin() + 1, steps.end() - 1), ::testing::Each("near"));
  EXPECT_GT(plan->plan.device_arena_bytes.at("near"), 0U);
  expect_right_numbers(report->plan);
}

TEST_F(DeviceTune, TransfersAreMeasuredAndPaidFor) {
  TuneOptions wanted = options({kNear, kFar});
  wanted.only = "far";
  const auto report = tune(wanted, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan);
  int transfers = 0;
  for (const PlanStep& step : plan->plan.steps) {
    if (!is_transfer(step)) continue;
    ++transfers;
    // Far below what the device waits: measured times are scaled to a quiet moment of the processor.
    EXPECT_GE(step.cost_low_ns, 50'000) << "a transfer of the far device takes 3 ms";
  }
  EXPECT_EQ(transfers, 2);
  EXPECT_GE(report->cover_us, 100);
}

TEST_F(DeviceTune, PinsToDevicesMoveValuesThroughHome) {
  TuneOptions wanted = options({kNear, kFar});
  wanted.rules = {pin("a_node", "near"), pin("b_node", "far"), pin("c_node", "near"), pin("y_node", "onnxruntime")};
  wanted.backends.emplace_back("onnxruntime");
  const auto report = tune(wanted, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_THAT(route(plan->plan), ::testing::ElementsAre("cpu>near", "near", "near>cpu", "cpu>far", "far", "far>cpu",
                                                        "cpu>near", "near", "near>cpu", "cpu"));
  expect_right_numbers(report->plan);
  const auto verified = verify_plan({.plan = report->plan, .model = std::nullopt, .seeds = 2}, registry);
  ASSERT_TRUE(verified) << to_string(verified.error());
  EXPECT_TRUE(verified->ok);
}

TEST_F(DeviceTune, ExplanationsCountTransfers) {
  TuneOptions wanted = options({kNear, "onnxruntime"});
  wanted.rules = {pin("*", "near")};
  const auto report = tune(wanted, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan);
  std::int64_t sum = 0;
  for (const PlanStep& step : plan->plan.steps) sum += step.cost_ns + SearchOptions().launch_ns;
  const auto story = nlohmann::json::parse(to_json(plan->plan)).at("explanation");
  ASSERT_TRUE(story.contains("cover_ns")) << story.dump().substr(0, 400);
  EXPECT_EQ(story.at("cover_ns").get<std::int64_t>(), sum);
}

TEST_F(DeviceTune, ADeviceThatIsTooSmallGetsNothing) {
  TuneOptions wanted = options({kSmall});
  wanted.only = "small";
  const auto report = tune(wanted, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan);
  EXPECT_THAT(route(plan->plan), ::testing::Each("cpu"));
  expect_right_numbers(report->plan);
}

TEST_F(DeviceTune, ReplayTakesDevicesAsThePlanHasThem) {
  TuneOptions wanted = options({kNear});
  wanted.only = "near";
  const auto first = tune(wanted, registry);
  ASSERT_TRUE(first) << to_string(first.error());
  TuneOptions again = options({kNear});
  again.replay = first->plan;
  again.output = scratch.file("again.collage");
  const auto second = tune(again, registry);
  ASSERT_TRUE(second) << to_string(second.error());
  const auto before = load_plan(first->plan);
  const auto after = load_plan(second->plan);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(route(before->plan), route(after->plan));
  expect_right_numbers(second->plan);
}

}  // namespace
}  // namespace collage
