// What one call of the library can be, and what is refused. Numbers are those of the conformance cases.
#include <gmock/gmock.h>

#include "tests/support/cuda/mutants.h"
#include "tests/support/cuda/on_host.h"
#include "tests/support/written_graph.h"

namespace collage::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> names;
  for (const Variant& variant : variants_of(cublaslt_on_host(), graph_of(text))) names.push_back(variant.name);
  return names;
}

TEST(CublasLt, ProposalsOfTheLibraryAreVariants) {
  EXPECT_THAT(names_of("graph(%x: f32[4,8], %w: f32[8,6]) -> (%z) { %z: f32[4,6] = MatMul(%x, %w) }"),
              ElementsAre("gemm.plain@0", "gemm.plain@1", "gemm.plain@2"));
}

TEST(CublasLt, TheBiasOfAConvolutionIsOneWhereChannelsComeLast) {
  const std::string with_bias =
      "graph(%x: f32[1,8,5,5], %w: f32[6,8,1,1], %wb: f32[6]) -> (%z) { "
      "%z: f32[1,6,5,5] = Conv(%x, %w, %wb) }";
  EXPECT_THAT(names_of(with_bias), ElementsAre("gemm.nhwc@0", "gemm.nhwc@1", "gemm.nhwc@2"));
}

TEST(CublasLt, WhatIsMoreThanOneCallIsRefused) {
  EXPECT_THAT(refusal_of(cublaslt_on_host(),
                         "graph(%x: f32[4,8], %w: f32[8,6], %a: f32[4,1], %b: f32[4,6]) -> (%z) { "
                         "%p: f32[4,6] = MatMul(%x, %w) %q: f32[4,6] = Add(%p, %a) %z: f32[4,6] = Add(%q, %b) }"),
              HasSubstr("more than one call"));
}

// A plan's memory begins at multiples of 64 bytes, the library's workspace at multiples of 256.
TEST(CublasLt, AWorkspaceHasRoomForItsAlignment) {
  const Graph graph = graph_of("graph(%x: f32[4,8], %w: f32[8,6]) -> (%z) { %z: f32[4,6] = MatMul(%x, %w) }");
  Backend& backend = compiling(cublaslt_on_host());
  EXPECT_EQ(artifact_of(backend, graph, "gemm.plain@0").workspace_bytes, 0U);
  EXPECT_EQ(artifact_of(backend, graph, "gemm.plain@1").workspace_bytes, 512U + 192U);
}

TEST(CublasLt, ArtifactsOfStrangersAreRefusedOrLoaded) {
  const Graph graph = graph_of("graph(%x: f32[4,8], %w: f32[8,6]) -> (%z) { %z: f32[4,6] = MatMul(%x, %w) }");
  const Variant variant = variants_of(cublaslt_on_host(), graph).at(0);
  Artifact artifact = artifact_of(compiling(cublaslt_on_host()), graph, variant);
  expect_mutants_end_well(artifact, [&](const Artifact& mutant) {
    return loading(cublaslt_on_host()).load(request_of(graph, variant, mutant)).has_value();
  });
}

}  // namespace
}  // namespace collage::test
