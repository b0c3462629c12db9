#include "xnnpack_fixture.h"

namespace collage::test {

std::vector<Variant> variants_of(const Graph& graph) { return variants_of("xnnpack", graph); }

std::vector<std::string> expect_right(const std::string& text, const std::string& same) {
  const Graph graph = graph_of(text);
  const Numbers expected = expected_of(same.empty() ? graph : graph_of(same));
  std::vector<std::string> names;
  for (const Variant& variant : variants_of(graph)) {
    names.push_back(variant.name);
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(text + '\n' + variant.name + ' ' + std::to_string(threads));
      const Artifact artifact = artifact_of(compiling("xnnpack"), graph, variant.name, threads);
      const std::vector<Tensor> outputs =
          VariantRunner("xnnpack", graph, inputs_of(graph)).run(variant, artifact, threads);
      if (outputs.empty()) continue;
      expect_close(outputs[0], expected);
      const std::vector<Tensor> prepared =
          VariantRunner("xnnpack", graph, inputs_of(graph)).run_prepared(variant, artifact);
      if (threads > 1 || prepared.empty()) continue;
      EXPECT_EQ(prepared[0], outputs[0]) << "of prepared constants";
    }
  }
  return names;
}

std::string refusal_of(const std::string& text) { return refusal_of("xnnpack", text); }

std::size_t count_of(const Artifact& artifact, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = artifact.bytes.find(word); at != std::string::npos; at = artifact.bytes.find(word, at + 1))
    ++count;
  return count;
}

}  // namespace collage::test
