// Which of the library's proposals become variants, and what is refused. Numbers are those of the conformance cases.
#include <gmock/gmock.h>

#include "tests/support/cuda/mutants.h"
#include "tests/support/cuda/on_host.h"
#include "tests/support/scoped_variable.h"
#include "tests/support/written_graph.h"

namespace collage::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kConvolution = R"(graph(%x: f32[1,3,6,6], %w: f32[4,3,3,3]) -> (%z) {
  %y: f32[1,4,4,4] = Conv(%x, %w)
  %z: f32[1,4,4,4] = Relu(%y)
})";

/// By variant: "" when it is compiled, else why not.
std::map<std::string, std::string> compiled(const std::string& text, Accuracy accuracy) {
  const Graph graph = graph_of(text);
  const CompileOptions options{.accuracy = accuracy};
  Backend& backend = compiling(cudnn_on_host());
  std::map<std::string, std::string> outcomes;
  for (const Variant& variant : variants_of(cudnn_on_host(), graph, options)) {
    const CompileRequest request{.graph = &graph, .region = region_of(graph), .variant = variant, .model_bytes = {}};
    const auto artifacts = backend.compile({&request, 1}, options);
    outcomes[variant.name] = artifacts[0] ? "" : artifacts[0].error().detail;
  }
  return outcomes;
}

// Of five proposals one multiplies TF32, one is not made after all, one gives other sums in every run.
TEST(CudnnPlans, ProposalsThatRoundMoreThanAllowedAreLeftOut) {
  const auto standard = compiled(kConvolution, Accuracy::kStandard);
  EXPECT_EQ(standard.at("conv.plain@0"), "");
  EXPECT_EQ(standard.at("conv.plain@1"), "");
  EXPECT_EQ(standard.at("conv.plain@2"), "the library proposes no plan 2");
  EXPECT_EQ(compiled(kConvolution, Accuracy::kFast).at("conv.plain@2"), "");
}

TEST(CudnnPlans, ImagesComeInTwoFormats) {
  std::vector<std::string> formats;
  for (const Variant& variant : variants_of(cudnn_on_host(), graph_of(kConvolution)))
    formats.push_back(variant.input_formats[0].name + ' ' + variant.output_formats[0].name);
  EXPECT_THAT(formats, ElementsAre("plain plain", "plain plain", "plain plain", "channels_last channels_last",
                                   "channels_last channels_last", "channels_last channels_last"));
}

TEST(CudnnPlans, RegionsOfOtherOperatorsAreRefused) {
  EXPECT_THAT(refusal_of(cudnn_on_host(), "graph(%x: f32[3]) -> (%z) { %z: f32[3] = Relu(%x) }"),
              HasSubstr("no convolution"));
  EXPECT_THAT(refusal_of(cudnn_on_host(),
                         "graph(%x: f32[1,3,6,6], %v: f32[4,3,3,3]) -> (%z) { %z: f32[1,4,4,4] = Conv(%x, %v) }"),
              HasSubstr("computed weights"));
}

TEST(CudnnPlans, ArtifactsOfOthersAreRefused) {
  const Graph graph = graph_of(kConvolution);
  const Variant variant = variants_of(cudnn_on_host(), graph).at(0);
  Artifact artifact = artifact_of(compiling(cudnn_on_host()), graph, variant);
  const auto code_of = [&] {
    const auto kernel = loading(cudnn_on_host()).load(request_of(graph, variant, artifact));
    return kernel ? "" : kernel.error().code;
  };
  EXPECT_EQ(code_of(), "");
  const std::string bytes = std::exchange(artifact.bytes, artifact.bytes.substr(0, artifact.bytes.size() / 2));
  EXPECT_EQ(code_of(), "backend/bad-artifact");
  artifact.bytes = bytes;
  artifact.compatibility += " of another GPU";
  EXPECT_EQ(code_of(), "backend/incompatible-artifact");
}

TEST(CudnnPlans, ArtifactsOfStrangersAreRefusedOrLoaded) {
  const Graph graph = graph_of(kConvolution);
  const Variant variant = variants_of(cudnn_on_host(), graph).at(0);
  Artifact artifact = artifact_of(compiling(cudnn_on_host()), graph, variant);
  expect_mutants_end_well(artifact, [&](const Artifact& mutant) {
    return loading(cudnn_on_host()).load(request_of(graph, variant, mutant)).has_value();
  });
}

}  // namespace
}  // namespace collage::test
