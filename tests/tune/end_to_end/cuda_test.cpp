// Whole tunes with the backends for NVIDIA's GPUs, whose GPU is the processor (tests/support/cuda): plans at "cuda"
// alone and beside home, several steps started as one, a device that is lost.
#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "api/tune/verify.h"
#include "plan/file/plan_file.h"
#include "tests/support/cuda/on_host.h"
#include "tests/support/dice.h"
#include "tests/support/graph_builder.h"
#include "tests/support/long_run.h"
#include "tests/support/scoped_variable.h"
#include "tests/tune/tune_fixture.h"

namespace collage {
namespace {

/// x[4,96] -> product with bias and Relu -> LayerNormalization -> Softmax -> product. Products are cublaslt's, rows are
/// nvrtc's.
Graph two_products() {
  testing_support::GraphBuilder builder({4, 96});
  const ValueId x = builder.input("x");
  const auto weight = [&](const std::string& name, const Extents& extents, float scale) {
    return builder.constant(name, test::numbers(extents, scale));
  };
  const ValueId a = builder.add("MatMul", {x, weight("w", {96, 96}, 0.1F)});
  const ValueId b = builder.add("Relu", {builder.add("Add", {a, weight("bias", {96}, 0.3F)})});
  const ValueId c = builder.add("LayerNormalization", {b, weight("scale", {96}, 0.9F), weight("shift", {96}, 0.2F)});
  const ValueId d = builder.add("Softmax", {c});
  return builder.take({builder.add("MatMul", {d, weight("v", {96, 96}, 0.2F)})});
}

/// A graph of operators that the GPU's backends take, drawn at random: every value is [4, 24], every one that nothing
/// reads is an output.
Graph random_work(std::uint64_t seed) {
  Dice dice(seed);
  const Extents usual = {4, 24};
  testing_support::GraphBuilder builder(usual);
  std::vector<ValueId> values = {builder.input("x"), builder.input("y")};
  std::set<ValueId> unread;
  int constants = 0;
  const auto draw = [&] {
    const ValueId drawn = dice.pick(values);
    unread.erase(drawn);
    return drawn;
  };
  const auto weight = [&](const Extents& extents) {
    const std::string name = "c" + std::to_string(constants++);
    return builder.constant(name, test::numbers(extents, 0.1F + 0.01F * static_cast<float>(values.size())));
  };
  const auto integers = [&](const std::vector<std::int64_t>& numbers) {
    const std::string name = "c" + std::to_string(constants++);
    return builder.constant(name, make_tensor<std::int64_t>(ElementType::kInt64, {1}, numbers));
  };
  const auto axis = [](std::int64_t at) { return Attribute{.name = "axis", .value = at}; };
  for (std::size_t left = 3 + dice.below(8); left > 0; --left) {
    ValueId made;
    switch (dice.below(7)) {
      case 0:
        made = builder.add(dice.pick<std::string>({"Relu", "Sigmoid", "Tanh", "Abs"}), {draw()});
        break;
      case 1:
        made = builder.add(dice.pick<std::string>({"Add", "Mul", "Max", "Sub"}), {draw(), draw()});
        break;
      case 2:
        made = builder.add("MatMul", {draw(), weight({24, 24})});
        break;
      case 3:
        made = builder.add("Softmax", {draw()}, usual, {axis(dice.one_in(2) ? 0 : 1)});
        break;
      case 4:
        made = builder.add("LayerNormalization", {draw(), weight({24}), weight({24})});
        break;
      case 5: {
        const ValueId of = draw();
        made = builder.add("Sub", {of, builder.add("ReduceMax", {of, integers({1})}, {4, 1})});
        break;
      }
      default: {
        const ValueId both = builder.add("Concat", {draw(), draw()}, {4, 48}, {axis(1)});
        made = builder.add("Slice", {both, integers({5}), integers({29}), integers({1})});
      }
    }
    values.push_back(made);
    unread.insert(made);
  }
  return builder.take({unread.begin(), unread.end()});
}

class CudaTune : public ::testing::Test {
 protected:
  CudaTune() { test::write_model(two_products(), scratch.file("model.onnx")); }

  [[nodiscard]] TuneOptions options() const {
    return test::small_tune(scratch, {test::nvrtc_on_host(), test::cublaslt_on_host(), "onnxruntime"});
  }

  static NodeRule pin(const std::string& glob, const std::string& to) {
    return {.kind = NodeRule::Kind::kPin, .glob = glob, .backend = to};
  }

  /// Kinds of the backends of the plan's kernels.
  static std::vector<std::string> makers(const Plan& plan) {
    std::vector<std::string> kinds;
    for (const PlanStep& step : plan.steps)
      if (is_kernel(step)) kinds.push_back(step.backend.substr(0, step.backend.find(':')));
    return kinds;
  }

  void expect_verified(const std::string& plan) {
    const auto verified = verify_plan({.plan = plan, .model = scratch.file("model.onnx"), .seeds = 2}, registry);
    ASSERT_TRUE(verified) << to_string(verified.error());
    EXPECT_TRUE(verified->ok);
  }

  test::Scratch scratch;
  Registry registry{test::module_folders()};
};

TEST_F(CudaTune, AModelRunsOnTheGpuAlone) {
  TuneOptions wanted = options();
  wanted.only = "cuda";
  wanted.rules = {pin("n0", test::cublaslt_on_host()), pin("n3", test::nvrtc_on_host()),
                  pin("n4", test::nvrtc_on_host()), pin("n5", test::cublaslt_on_host())};
  const auto report = tune(wanted, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_THAT(makers(plan->plan), ::testing::IsSupersetOf({"cublaslt", "nvrtc", "cublaslt"}));
  EXPECT_GT(plan->plan.device_arena_bytes.at("cuda"), 0U);
  expect_verified(report->plan);
}

TEST_F(CudaTune, RandomGraphsGiveTheNumbersOfTheReference) {
  const auto count = test::by_length<std::uint64_t>(2, 100);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::write_model(random_work(seed), scratch.file("model.onnx"));
    TuneOptions wanted = options();
    wanted.only = "cuda";
    const auto report = tune(wanted, registry);
    ASSERT_TRUE(report) << to_string(report.error());
    const auto plan = load_plan(report->plan);
    ASSERT_TRUE(plan) << to_string(plan.error());
    EXPECT_FALSE(plan->plan.device_arena_bytes.empty());
    expect_verified(report->plan);
  }
}

TEST_F(CudaTune, SessionsOfAPlanRunBesideEachOther) {
  TuneOptions wanted = options();
  wanted.only = "cuda";
  const auto report = tune(wanted, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto loaded = LoadedPlan::load(report->plan, registry);
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const Tensor x = test::numbers({4, 96}, 0.4F);
  const auto outputs_of = [&](int runs) {
    auto session = loaded->make_session().value();
    Result<std::vector<Tensor>> outputs;
    for (int run = 0; run < runs; ++run) {
      EXPECT_TRUE(session.set_inputs(std::vector{x}));
      EXPECT_TRUE(session.run());
      outputs = session.copy_outputs();
    }
    return outputs.value();
  };
  const std::vector<Tensor> alone = outputs_of(1);
  std::vector<std::thread> threads;
  std::vector<std::vector<Tensor>> seen(4);
  for (std::vector<Tensor>& mine : seen) threads.emplace_back([&] { mine = outputs_of(25); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Tensor>& mine : seen) EXPECT_EQ(mine, alone);
}

TEST_F(CudaTune, APlanMayUseTheGpuAndTheProcessor) {
  TuneOptions wanted = options();
  wanted.rules = {pin("n0", "cuda"), pin("n4", "onnxruntime")};
  const auto report = tune(wanted, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_THAT(makers(plan->plan), ::testing::Contains("onnxruntime"));
  EXPECT_GT(plan->plan.device_arena_bytes.at("cuda"), 0U);
  expect_verified(report->plan);
}

TEST_F(CudaTune, AKernelThatEndsTheDeviceEndsItsWorkerAlone) {
  const test::ScopedVariable fault("CUDA_ON_HOST_FAULT", "kernel_");
  const auto report = tune(options(), registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_THAT(makers(plan->plan), ::testing::Not(::testing::Contains("nvrtc")));
  expect_verified(report->plan);
}

TEST_F(CudaTune, AGpuWithoutMemoryGetsNothing) {
  const test::ScopedVariable few("CUDA_ON_HOST_BYTES", "64");
  const auto report = tune(options(), registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_TRUE(plan->plan.device_arena_bytes.empty());
  expect_verified(report->plan);
}

}  // namespace
}  // namespace collage
