// Loaded kernels: threads, scratch, packed constants, and what is refused.
#include "native_fixture.h"
#include "program.h"
#include "tests/support/long_run.h"
#include "tests/support/prepare_one.h"

namespace collage::test {
namespace {

constexpr const char* kConvolution =
    "graph(%x: f32[1,32,24,20], %w: f32[48,32,3,3], %wb: f32[48], %r: f32[1,48,24,20]) -> (%y) { "
    "%c: f32[1,48,24,20] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} "
    "%s: f32[1,48,24,20] = Add(%c, %r) %y: f32[1,48,24,20] = Relu(%s) }";
constexpr const char* kProduct =
    "graph(%a: f32[7,24], %w: f32[24,19], %wb: f32[19]) -> (%y) { %m: f32[7,19] = MatMul(%a, %w) "
    "%y: f32[7,19] = Add(%m, %wb) }";
constexpr const char* kLong =
    "graph(%a: f32[1048577], %b: f32[1048577]) -> (%y) { %s: f32[1048577] = Add(%a, %b) %t: f32[1048577] = Sigmoid(%s) "
    "%y: f32[1048577] = Mul(%t, %a) }";

constexpr CompileOptions kOne{.threads = 1};
constexpr CompileOptions kTwo{.threads = 2};

/// Outputs of the variants with two threads are those with one, to the bit.
void expect_same_with_threads(const std::string& text) {
  const Graph graph = graph_of(text);
  for (const Variant& variant : sample_of(variants_of(compiling(), graph, kTwo), 3))
    EXPECT_EQ(run_variant(graph, variant, kTwo), run_variant(graph, variant, kOne)) << variant.name;
}

TEST(NativeKernel, GivesTheSameNumbersWithTwoThreads) {
  expect_same_with_threads(kConvolution);
  expect_same_with_threads(kProduct);
}

TEST(NativeKernel, GivesTheSameNumbersWithTwoThreadsInOneLongLoop) { expect_same_with_threads(kLong); }

TEST(NativeKernel, SplitsALongLoopAmongThreads) {
  const Graph graph = graph_of(kLong);
  const Variant variant = variants_of(compiling(), graph).at(0);
  // The same code would be the same bytes.
  const auto code_for = [&](const CompileOptions& options) {
    return std::string(
        native::program_of(artifact_of(compiling(), graph, variant, options).bytes)->codes.at(0).shared_object);
  };
  EXPECT_NE(code_for(kTwo), code_for(kOne));
}

TEST(NativeKernel, WorksInTheScratchItDeclares) {
  const Graph graph = graph_of(kConvolution);
  for (const CompileOptions& options : {kOne, kTwo}) {
    const Variant variant = variant_of(compiling(), graph, "winograd", options);
    const Artifact artifact = artifact_of(compiling(), graph, variant, options);
    ASSERT_GT(artifact.workspace_bytes, 0U);
    EXPECT_EQ(artifact.workspace_bytes, native::program_of(artifact.bytes)->program.workspace_bytes());
    // Guard zones are checked by the run.
    EXPECT_FALSE(run_variant(graph, variant, options).empty());
  }
}

TEST(NativeKernel, NeedsNoWorkspaceForElementWiseWork) {
  const Graph graph = graph_of(kLong);
  for (const Variant& variant : variants_of(compiling(), graph, kTwo))
    EXPECT_EQ(artifact_of(compiling(), graph, variant, kTwo).workspace_bytes, 0U) << variant.name;
}

std::string load_error(const Graph& graph, const Variant& variant, const Artifact& artifact, int threads) {
  const auto kernel = loading().load(request_of(graph, variant, artifact, threads));
  return kernel ? "" : kernel.error().code;
}

TEST(NativeKernel, IsRefusedForAnotherNumberOfThreads) {
  const Graph graph = graph_of(kProduct);
  const Variant variant = variants_of(compiling(), graph).at(0);
  const Artifact artifact = artifact_of(compiling(), graph, variant, kTwo);
  EXPECT_EQ(load_error(graph, variant, artifact, 2), "");
  EXPECT_EQ(load_error(graph, variant, artifact, 1), "backend/other-threads");
  EXPECT_EQ(load_error(graph, variant, artifact, 3), "backend/other-threads");
}

TEST(NativeKernel, IsRefusedWhenForeignOrDamaged) {
  const Graph graph = graph_of(kConvolution);
  const Variant variant = variant_of(compiling(), graph, "winograd");
  const Artifact whole = artifact_of(compiling(), graph, variant);
  ASSERT_FALSE(whole.bytes.empty());
  const auto changed = [&](auto change) {
    Artifact artifact = whole;
    change(artifact);
    return load_error(graph, variant, artifact, 1);
  };
  EXPECT_EQ(changed([](Artifact&) {}), "");
  EXPECT_EQ(changed([](Artifact& a) { a.compatibility = "native/0 avx2"; }), "backend/incompatible-artifact");
  EXPECT_EQ(changed([](Artifact& a) { a.compatibility = ""; }), "backend/incompatible-artifact");
  EXPECT_EQ(changed([](Artifact& a) { a.workspace_bytes -= 64; }), "backend/bad-artifact");
  EXPECT_EQ(changed([](Artifact& a) { a.bytes.resize(100); }), "backend/bad-artifact");
  EXPECT_EQ(changed([](Artifact& a) { a.bytes = ""; }), "backend/bad-artifact");
  EXPECT_EQ(changed([](Artifact& a) {
              const native::CodeBytes nothing;
              a.bytes = native::to_bytes(native::program_of(a.bytes)->program, {&nothing, 1});
            }),
            "backend/bad-artifact");
  EXPECT_EQ(changed([](Artifact& a) {
              auto stored = *native::program_of(a.bytes);
              stored.program.symbol = "other";
              a.bytes = native::to_bytes(stored.program, stored.codes);
            }),
            "backend/bad-artifact");
}

TEST(NativeKernel, IsRefusedWithoutItsConstantsAndPorts) {
  const Graph graph = graph_of(kProduct);
  const Variant variant = variants_of(compiling(), graph).at(0);
  const Artifact artifact = artifact_of(compiling(), graph, variant);
  const LoadRequest whole = request_of(graph, variant, artifact);
  const auto changed = [&](auto change) {
    LoadRequest request = whole;
    change(request);
    const auto kernel = loading().load(request);
    return kernel ? "" : kernel.error().code;
  };
  EXPECT_EQ(changed([](LoadRequest&) {}), "");
  EXPECT_EQ(changed([](LoadRequest& r) { r.constants.clear(); }), "backend/bad-artifact");
  EXPECT_EQ(changed([](LoadRequest& r) { r.constants.pop_back(); }), "backend/bad-artifact");
  EXPECT_EQ(changed([](LoadRequest& r) { r.inputs.clear(); }), "backend/bad-artifact");
  EXPECT_EQ(changed([](LoadRequest& r) { r.outputs.clear(); }), "backend/bad-artifact");
  EXPECT_EQ(changed([](LoadRequest& r) {
              for (Tensor& constant : r.constants) constant = make_tensor<float>(ElementType::kFloat32, {1}, {1});
            }),
            "backend/bad-artifact");
}

TEST(NativeKernel, WithPreparedConstantsGivesTheSameNumbers) {
  for (const std::string text : {kConvolution, kProduct}) {
    const Graph graph = graph_of(text);
    for (const Variant& variant : sample_of(variants_of(compiling(), graph), 3)) {
      SCOPED_TRACE(variant.name);
      if (variant.name.starts_with("sgemm")) continue;  // reads its weights as they are
      const Artifact artifact = artifact_of(compiling(), graph, variant);
      if (artifact.bytes.empty()) continue;
      const LoadRequest original = request_of(graph, variant, artifact);
      const auto prepared = test::prepare_one(loading(), original);
      ASSERT_TRUE(prepared && prepared->has_value());
      const auto stored = native::program_of((*prepared)->bytes);
      ASSERT_TRUE(stored);
      for (const native::ConstantPart& part : stored->program.constants) EXPECT_TRUE(part.is_packed);
      const LoadRequest request = prepared_request(original, **prepared);
      const auto kernel = loading().load(request);
      ASSERT_TRUE(kernel) << to_string(kernel.error());
      EXPECT_EQ(run_kernel(**kernel, graph, variant, artifact.workspace_bytes), run_variant(graph, variant));
      const auto again = test::prepare_one(loading(), request);
      ASSERT_TRUE(again);
      EXPECT_FALSE(again->has_value()) << "nothing is left to gain";
    }
  }
}

TEST(NativeKernel, ReadsPreparedConstantsWhereTheyLie) {
  const Graph graph = graph_of("graph(%a: f32[3,8], %w: f32[8,5]) -> (%y) { %y: f32[3,5] = MatMul(%a, %w) }");
  const Variant variant = variants_of(compiling(), graph).at(0);
  const Artifact artifact = artifact_of(compiling(), graph, variant);
  const LoadRequest original = request_of(graph, variant, artifact);
  const auto prepared = test::prepare_one(loading(), original);
  ASSERT_TRUE(prepared && prepared->has_value());
  LoadRequest request = prepared_request(original, **prepared);
  ASSERT_EQ(request.constants.size(), 1U);
  std::span<std::byte> writable;
  request.constants[0].data =
      Buffer::make(request.constants[0].data.size(), [&](std::span<std::byte> bytes) { writable = bytes; });
  const auto kernel = loading().load(request);
  ASSERT_TRUE(kernel);
  // Packing at load would have kept the zeros.
  std::ranges::copy(std::get<Buffer>((*prepared)->constants[0]).bytes(), writable.begin());
  EXPECT_EQ(run_kernel(**kernel, graph, variant, artifact.workspace_bytes), run_variant(graph, variant));
}

TEST(NativeKernel, HasNothingToPrepareWithoutWeights) {
  const Graph graph = graph_of("graph(%a: f32[5], %w: f32[5]) -> (%y) { %y: f32[5] = Add(%a, %w) }");
  const Variant variant = variants_of(compiling(), graph).at(0);
  const Artifact artifact = artifact_of(compiling(), graph, variant);
  const auto prepared = test::prepare_one(loading(), request_of(graph, variant, artifact));
  ASSERT_TRUE(prepared);
  EXPECT_FALSE(prepared->has_value());
}

// Equal kernels are stored once, and what was measured is what a later compilation gives.
TEST(NativeBackend, CompilesTheSameCodeToTheSameBytes) {
  const std::string chain =
      "graph(%a: f32[4,50], %b: f32[4,50]) -> (%y) { %s: f32[4,50] = Sigmoid(%a) %y: f32[4,50] = Mul(%s, %b) }";
  for (const std::string& text : {std::string(kConvolution), std::string(kProduct), chain}) {
    const Graph graph = graph_of(text);
    for (const Variant& variant : sample_of(variants_of(compiling(), graph), 3)) {
      const Artifact first = artifact_of(compiling(), graph, variant);
      (void)artifact_of(compiling(), graph_of(chain), variants_of(compiling(), graph_of(chain)).at(0));
      EXPECT_EQ(artifact_of(compiling(), graph, variant), first) << variant.name;
    }
  }
}

TEST(NativeBackend, RefusesVariantsItDoesNotOffer) {
  const Graph graph = graph_of(kProduct);
  CompileRequest request{
      .graph = &graph, .region = region_of(graph), .variant = variants_of(compiling(), graph).at(0), .model_bytes = {}};
  request.variant.name = "nothing.plain";
  EXPECT_EQ(compiling().compile({&request, 1}, {})[0].error().reason, RefusalReason::kCompile);
  request.model_bytes = "a model";
  EXPECT_EQ(compiling().compile({&request, 1}, {})[0].error().reason, RefusalReason::kStructure);
}

}  // namespace
}  // namespace collage::test
