// Proposing and choosing with made-up costs: seconds and the gap that stays, for long, wide and repeating networks.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "search/search.h"
#include "synthetic.h"
#include "workload/workload.h"

namespace collage::bench {
namespace {

void place(benchmark::State& state, const Graph& graph) {
  const Uses uses = uses_of(graph);
  SearchResult result;
  std::size_t candidates = 0;
  for (auto _ : state) {
    const CandidatePool pool = propose(graph, uses, proposers(graph));
    const std::vector<SearchCandidate> costed = priced(graph, pool);
    candidates = costed.size();
    result = choose_cover(graph, uses, costed, boundaries(graph)).value();
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto cost = static_cast<double>(result.cover.cost_ns);
  state.counters["nodes"] = static_cast<double>(graph.nodes.size());
  state.counters["candidates"] = static_cast<double>(candidates);
  state.counters["states"] = static_cast<double>(result.states);
  state.counters["gap_percent"] = 100 * (cost - static_cast<double>(result.bound_ns)) / cost;
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void residual(benchmark::State& state) { place(state, residual_chain(static_cast<std::size_t>(state.range(0)))); }

void network(benchmark::State& state, const char* name, std::int64_t layers) {
  place(state, make_workload(name, {.layers = layers}).value());
}

BENCHMARK(residual)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK_CAPTURE(network, resnet50, "resnet50", 0)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK_CAPTURE(network, nasneta, "nasneta", 0)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK_CAPTURE(network, densenet121, "densenet121", 0)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK_CAPTURE(network, transformer_24, "bert_base", 24)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK_CAPTURE(network, unet, "unet", 0)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace collage::bench
