// What a run costs beside its kernels: a chain of steps that do nothing. The budget is 1 us per step.
#include <benchmark/benchmark.h>

#include <memory>

#include "plan/realise.h"
#include "runtime/session.h"
#include "tests/support/load_only_backend.h"

namespace collage {
namespace {

class NullCall final : public Call {
 public:
  Result<void> run() override { return {}; }
};

class NullKernel final : public Kernel {
 public:
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers&) const override {
    return std::make_unique<NullCall>();
  }
};

class NullBackend final : public test::LoadOnlyBackend {
 public:
  NullBackend() : LoadOnlyBackend({.name = "null", .kind = "null", .version = "1", .build = "1"}) {}
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest&) override {
    return std::make_unique<NullKernel>();
  }
};

RealisedPlan null_chain(std::size_t length) {
  Graph graph;
  Cover cover;
  const ValueType type = ValueType::tensor(ElementType::kFloat32, {16});
  ValueId value = add_value(graph, "x", type);
  graph.inputs = {value};
  for (std::size_t i = 0; i < length; ++i) {
    Node node{.name = {}, .domain = {}, .op_type = "Null", .inputs = {value}, .outputs = {add_value(graph, "", type)}};
    value = node.outputs[0];
    add_node(graph, std::move(node));
  }
  graph.outputs = {value};
  const Uses uses = uses_of(graph);
  const Artifact artifact{.bytes = "null", .compatibility = "1"};
  RealiseRequest request;
  for (std::size_t i = 0; i < length; ++i) {
    NodeSet nodes(length);
    nodes.insert(i);
    CoverStep step;
    step.backend = "null";
    step.region = make_region(graph, uses, nodes);
    step.variant = {"null", {plain()}, {plain()}};
    cover.steps.push_back(std::move(step));
    request.artifacts.push_back(&artifact);
  }
  request.graph = &graph;
  request.cover = &cover;
  return realise(request).value();
}

void run_null_steps(benchmark::State& state) {
  NullBackend backend;
  const BackendSource source = [&](const std::string&) -> Result<Backend*> { return &backend; };
  const auto steps = static_cast<std::size_t>(state.range(0));
  const Session session = Session::load(null_chain(steps), source, {}).value();
  Context context = session.make_context().value();
  for (auto _ : state)
    if (!context.run()) state.SkipWithError("a step failed");
  state.counters["ns_per_step"] = benchmark::Counter(
      static_cast<double>(steps) * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(run_null_steps)->Arg(10)->Arg(100)->Arg(1000);

void make_contexts(benchmark::State& state) {
  NullBackend backend;
  const BackendSource source = [&](const std::string&) -> Result<Backend*> { return &backend; };
  const Session session = Session::load(null_chain(static_cast<std::size_t>(state.range(0))), source, {}).value();
  for (auto _ : state) benchmark::DoNotOptimize(session.make_context());
}
BENCHMARK(make_contexts)->Arg(100);

}  // namespace
}  // namespace collage
