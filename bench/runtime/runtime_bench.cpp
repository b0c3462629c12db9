// What a run costs beside its kernels: a chain of steps that do nothing (the budget is 1 us per step), and finding the
// case of a shape.
#include <benchmark/benchmark.h>

#include <memory>

#include "api/run/case_table.h"
#include "api/run/loaded_plan.h"
#include "plan/realise.h"
#include "runtime/executable.h"
#include "tests/support/load_only_backend.h"
#include "tests/support/shape_cases.h"

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
    const Variant variant{"null", {plain()}, {plain()}};
    cover.steps.push_back({.backend = "null", .work = CoverKernel{make_region(graph, uses, nodes), variant}});
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
  const Executable executable = Executable::load(null_chain(steps), source, {}).value();
  ExecutionContext context = executable.make_context().value();
  for (auto _ : state)
    if (!context.run()) state.SkipWithError("a step failed");
  state.counters["ns_per_step"] = benchmark::Counter(
      static_cast<double>(steps) * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(run_null_steps)->Arg(10)->Arg(100)->Arg(1000);

void make_contexts(benchmark::State& state) {
  NullBackend backend;
  const BackendSource source = [&](const std::string&) -> Result<Backend*> { return &backend; };
  const Executable executable =
      Executable::load(null_chain(static_cast<std::size_t>(state.range(0))), source, {}).value();
  for (auto _ : state) benchmark::DoNotOptimize(executable.make_context());
}
BENCHMARK(make_contexts)->Arg(100);

/// A grid of `side` x `side` cases, n and m from 1.
PlanCases grid_of_cases(std::int64_t side) {
  PlanCases cases{.domain = {{{"m", 1, side}, {"n", 1, side}}}};
  for (std::int64_t m = 1; m <= side; ++m)
    for (std::int64_t n = 1; n <= side; ++n) cases.cases.push_back({.point = {m, n}, .plan = {}});
  return cases;
}

/// Picks the case of one shape after the other. The budget is 100 ns.
void find_cases(benchmark::State& state) {
  const CaseTable table(grid_of_cases(state.range(0)));
  std::int64_t next = 0;
  for (auto _ : state) {
    const std::int64_t point[] = {1 + next % state.range(0), 1 + next / 7 % state.range(0)};
    ++next;
    benchmark::DoNotOptimize(table.find(point));
  }
}
BENCHMARK(find_cases)->Arg(2)->Arg(4)->Arg(8);

/// The same and on to the context that is ready to run; `known` of the shapes are cases, the others are generic.
void set_shapes(benchmark::State& state) {
  test::RowsBackend backend;
  const BackendSource source = [&](const std::string&) -> Result<Backend*> { return &backend; };
  std::vector<std::int64_t> points;
  for (std::int64_t n = 1; n <= state.range(0); ++n) points.push_back(n);
  PlanCases cases = test::rows_cases(points, true);
  if (!share_weights(cases, relocate_external_data)) return state.SkipWithError("no shared weights");
  const LoadedPlan plan = LoadedPlan::load(std::move(cases), source).value();
  Session session = plan.make_session().value();
  std::vector<Extents> extents = {{1, test::kCaseWidth}};
  std::int64_t next = 0;
  for (auto _ : state) {
    extents.front().front() = 1 + next++ % 16;
    benchmark::DoNotOptimize(session.set_shapes(extents));
  }
}
BENCHMARK(set_shapes)->Arg(16)->Arg(1);

}  // namespace
}  // namespace collage
