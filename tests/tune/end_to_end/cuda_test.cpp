// Whole tunes with the backends for NVIDIA's GPUs, whose GPU is the processor (tests/support/cuda): plans at "cuda"
// alone and beside home, several steps started as one, a device that is lost.
#include <gmock/gmock.h>

#include "api/tune/verify.h"
#include "plan/file/plan_file.h"
#include "tests/support/cuda/on_host.h"
#include "tests/support/graph_builder.h"
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
  wanted.rules = {pin("n0", test::cublaslt_on_host()), pin("n5", test::cublaslt_on_host())};
  const auto report = tune(wanted, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_THAT(makers(plan->plan), ::testing::IsSupersetOf({"cublaslt", "nvrtc", "cublaslt"}));
  EXPECT_THAT(makers(plan->plan), ::testing::Not(::testing::Contains("onnxruntime")));
  EXPECT_GT(plan->plan.device_arena_bytes.at("cuda"), 0U);
  expect_verified(report->plan);
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
