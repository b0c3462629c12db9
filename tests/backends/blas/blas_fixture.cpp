#include "blas_fixture.h"

namespace collage::test {

std::vector<std::string> usable_instances() {
  std::vector<std::string> usable;
  for (const std::string instance : {"blas", "blas:lib=blis", "blas:lib=mkl"})
    if (is_usable(instance)) usable.push_back(instance);
  return usable;
}

LoadRequest request_of(const Graph& graph, const Artifact& artifact) {
  return request_of(graph, plain_variant(region_of(graph)), artifact);
}

std::vector<float> run_variant(const std::string& instance, const Graph& graph, const Variant& variant, int threads) {
  const Artifact artifact = artifact_of(compiling(instance), graph, variant.name, threads);
  EXPECT_EQ(artifact.workspace_bytes, 0U);
  const std::vector<Tensor> outputs = VariantRunner(instance, graph, inputs_of(graph)).run(variant, artifact, threads);
  if (outputs.empty()) return {};
  const auto numbers = outputs[0].data.as<float>();
  return {numbers.begin(), numbers.end()};
}

std::vector<std::string> expect_right(const std::string& text, const std::string& same) {
  const Graph graph = graph_of(text);
  const Numbers expected = expected_of(same.empty() ? graph : graph_of(same));
  std::vector<std::string> names;
  for (const std::string& instance : usable_instances()) {
    const auto variants = compiling(instance).support(graph, region_of(graph), {});
    EXPECT_TRUE(variants) << text << ": " << variants.error().detail;
    if (!variants) return {};
    names.clear();
    for (const Variant& variant : *variants) {
      names.push_back(variant.name);
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(text + '\n' + instance + ' ' + variant.name + ' ' + std::to_string(threads));
        expect_close(run_variant(instance, graph, variant, threads), expected);
      }
    }
  }
  return names;
}

std::string refusal_of(const std::string& text) { return refusal_of("blas", text); }

}  // namespace collage::test
