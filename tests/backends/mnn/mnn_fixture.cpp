#include "mnn_fixture.h"

#include <algorithm>
#include <cmath>

namespace collage::test {
namespace {

constexpr const char* kInstance = "mnn";

}  // namespace

std::vector<std::string> variants_of(const std::string& text, Accuracy accuracy) {
  const Graph graph = graph_of(text);
  std::vector<std::string> names;
  for (const Variant& variant : variants_of(kInstance, graph, {.accuracy = accuracy})) names.push_back(variant.name);
  return names;
}

LoadRequest request_of(const Graph& graph, const Artifact& artifact, int threads) {
  return request_of(graph, plain_variant(region_of(graph)), artifact, threads);
}

std::vector<std::string> expect_right(const std::string& text) {
  const Graph graph = graph_of(text);
  const std::vector<Numbers> expected = expected_by_port(graph);
  std::vector<std::string> names;
  for (const int threads : {1, 2}) {
    const VariantRunner runner(kInstance, graph, inputs_of(graph), {.threads = threads});
    const auto offered = runner.offered();
    EXPECT_TRUE(offered) << text << ": " << offered.error().detail;
    if (!offered) return {};
    names.clear();
    for (const Variant& variant : *offered) {
      SCOPED_TRACE(text + '\n' + variant.name + ' ' + std::to_string(threads));
      names.push_back(variant.name);
      const auto run = runner.run(variant);
      EXPECT_TRUE(run) << run.error().detail;
      if (!run || run->outputs.size() != expected.size()) continue;
      for (std::size_t i = 0; i < expected.size(); ++i) expect_close(run->outputs[i], expected[i]);
    }
  }
  return names;
}

double error_of(const std::string& text, const std::string& variant, Accuracy accuracy) {
  const Graph graph = graph_of(text);
  const Numbers expected = expected_of(graph);
  Variant wanted = plain_variant(region_of(graph));
  wanted.name = variant;
  const auto run = VariantRunner(kInstance, graph, inputs_of(graph), {.accuracy = accuracy}).run(wanted);
  EXPECT_TRUE(run) << run.error().detail;
  if (!run || run->outputs.empty()) return 1;
  const auto floats = run->outputs[0].data.as<float>();
  double error = 0;
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error = std::max(error, std::abs(static_cast<double>(floats[i]) - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return error / largest;
}

std::string refusal_of(const std::string& text) { return refusal_of(kInstance, text); }

}  // namespace collage::test
