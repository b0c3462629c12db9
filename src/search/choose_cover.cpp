#include <algorithm>

#include "search/lattice.h"
#include "search/path_cover.h"
#include "search/search.h"
#include "search/state_search.h"

namespace collage {
namespace {

constexpr std::size_t kWiden = 8;

std::unexpected<Error> no_cover(const Graph& graph, const SearchOptions& options) {
  if (!options.capacity.empty())
    return fail(ExitCode::kLimit, "search/no-cover", "graph " + graph.name,
                "no schedule found within the limits of memory", "larger limits");
  return fail(ExitCode::kUnsupported, "search/no-cover", "graph " + graph.name,
              "candidates for every node but no legal schedule with the conversions at hand",
              "a conversion between the formats of neighbouring candidates");
}

/// A last pass that is hardly wider than the one before would find hardly more.
std::size_t next_width(std::size_t width, std::size_t most) {
  return 2 * kWiden * width > most ? most : kWiden * width;
}

/// The objective of a finished path.
std::int64_t objective(const PassResult& pass, const SearchOptions& options) {
  return pass.cost.ns + static_cast<std::int64_t>(options.ns_per_byte * static_cast<double>(pass.peak_bytes) + 0.5);
}

}  // namespace

Result<SearchResult> choose_cover(const Graph& graph, const Uses& uses, std::span<const SearchCandidate> candidates,
                                  const BoundaryTable& boundaries, const SearchOptions& options) {
  if (graph.nodes.empty()) return SearchResult{};
  COLLAGE_TRY(const Problem problem, make_problem(graph, uses, candidates, boundaries, options));
  const std::size_t most_width = std::max<std::size_t>(1, options.max_states / problem.size());
  const Lattice lattice = make_lattice(problem, std::max<std::size_t>(16, most_width));
  SearchResult result;
  std::optional<PassResult> best;
  // Every pass proves that no cover costs less than the least of what it reached and dropped.
  std::int64_t dropped = 0;
  for (std::size_t width = std::min(options.first_width, most_width);; width = next_width(width, most_width)) {
    PassResult pass = search_states(problem, lattice, width, best ? objective(*best, options) : kImpossible - 1);
    result.states += pass.states;
    dropped = std::max(dropped, pass.dropped_ns);
    if (pass.path &&
        (!best || std::pair(objective(pass, options), pass.cost) < std::pair(objective(*best, options), best->cost)))
      best = std::move(pass);
    if (dropped >= kImpossible || (best && dropped >= objective(*best, options)) || width >= most_width) break;
  }
  if (!best) return no_cover(graph, options);
  dropped = std::min(dropped, lattice.dropped_ns);
  const std::int64_t reached = objective(*best, options);
  result.exact = dropped >= reached && !problem.minds_memory;
  result.bound_ns = std::min(reached, dropped);
  if (problem.minds_memory) result.bound_ns = std::min(result.bound_ns, lattice.sets[0].rest_ns);
  result.peak_bytes = best->peak_bytes;
  result.cover = write_cover(problem, *best->path);
  result.cover.cost_ns = best->cost.ns;
  return result;
}

}  // namespace collage
