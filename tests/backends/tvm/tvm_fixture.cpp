#include "tvm_fixture.h"

#include <cstdlib>

namespace collage::test {

std::expected<Artifact, Refusal> compiled(Backend& backend, const Graph& graph, int threads) {
  const auto variants = backend.support(graph, region_of(graph), {});
  if (!variants) return std::unexpected(variants.error());
  const CompileRequest request{
      .graph = &graph, .region = region_of(graph), .variant = variants->front(), .model_bytes = {}};
  return backend.compile({&request, 1}, {.threads = threads})[0];
}

Artifact artifact_of(const std::string& instance, const Graph& graph, int threads) {
  const auto artifact = compiled(compiling(instance), graph, threads);
  COLLAGE_CHECK(artifact.has_value(), artifact ? "" : artifact.error().detail);
  return *artifact;
}

std::vector<std::string> expect_right(const std::string& instance, const std::string& text) {
  const Graph graph = graph_of(text);
  const Numbers expected = expected_of(graph);
  const VariantRunner runner(instance, graph, inputs_of(graph));
  std::vector<std::string> names;
  for (const VariantRun& run : runner.run_all()) {
    SCOPED_TRACE(text + '\n' + run.variant.name);
    names.emplace_back(way_of(run.variant.name));
    expect_close(run.outputs.at(0), expected);
    const std::vector<Tensor> prepared = runner.run_prepared(run.variant, run.artifact);
    if (!prepared.empty()) {
      EXPECT_EQ(prepared[0], run.outputs[0]) << "of prepared constants";
    }
  }
  return names;
}

std::string refusal_of(const std::string& text) { return refusal_of(kUntuned, text); }

Setting::Setting(std::string name, const std::string& value) : name_(std::move(name)) {
  if (const char* before = std::getenv(name_.c_str())) before_ = before;
  ::setenv(name_.c_str(), value.c_str(), 1);
}

Setting::~Setting() {
  if (before_)
    ::setenv(name_.c_str(), before_->c_str(), 1);
  else
    ::unsetenv(name_.c_str());
}

}  // namespace collage::test
