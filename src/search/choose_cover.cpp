#include <algorithm>

#include <fmt/format.h>

#include "search/lattice.h"
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

/// Writes a path down as steps.
class CoverWriter {
 public:
  explicit CoverWriter(const Problem& problem) : problem_(problem), state_(problem) {}

  Cover write(const std::vector<ChosenOption>& path) {
    for (const ChosenOption& chosen : path) {
      const Group& group = problem_.groups[chosen.group];
      const Option& option = group.options[chosen.option];
      std::vector<Hop> before;
      std::vector<Hop> after;
      COLLAGE_CHECK(state_.take(group, option, chosen.stops, before, after), "a path without a way between places");
      for (const Hop& hop : before) append(hop);
      append(group, option);
      for (const Hop& hop : after) append(hop);
    }
    return std::move(cover_);
  }

 private:
  void append(const Hop& hop) {
    const std::vector<Place>& places = problem_.routes[hop.value.index].places;
    const auto choice = (*problem_.boundaries)(hop.value, places[hop.from], places[hop.to]);
    COLLAGE_CHECK(choice.has_value(), "a conversion that has gone");
    CoverStep step{.backend = choice->backend, .cost = choice->cost};
    const Place& from = places[hop.from];
    const Place& to = places[hop.to];
    if (from.location != to.location)
      step.work = CoverTransfer{hop.value, from.format, from.location, to.location};
    else if (nanoseconds_of(choice->cost) == 0)
      step.work = CoverRename{hop.value, from.location, from.format, to.format};
    else
      step.work = CoverConversion{hop.value, from.location, from.format, to.format};
    cover_.steps.push_back(std::move(step));
  }

  void append(const Group& group, const Option& option) {
    const SearchCandidate& candidate = problem_.candidates[option.candidate];
    CoverStep step{.backend = candidate.backend, .cost = candidate.cost, .runner_up = runner_up(group, option)};
    Region region = *candidate.region;
    region.matches.assign(candidate.matches.begin(), candidate.matches.end());
    if (candidate.variant.name == "view")
      step.work = CoverView{std::move(region), candidate.variant, candidate.location};
    else if (candidate.backend == kControlBackend)
      step.work = CoverControl{std::move(region), candidate.variant, {}};
    else
      step.work = CoverKernel{std::move(region), candidate.variant, candidate.location};
    cover_.steps.push_back(std::move(step));
  }

  /// The best other candidate of the same region and how much slower it is alone.
  std::string runner_up(const Group& group, const Option& option) const {
    const auto ns = [&](std::uint32_t c) { return nanoseconds_of(problem_.candidates[c].cost).value_or(kImpossible); };
    std::optional<std::uint32_t> second;
    for (const std::uint32_t c : group.candidates)
      if (c != option.candidate && (!second || ns(c) < ns(*second))) second = c;
    if (!second || option.cost.ns == 0) return {};
    const auto launch = problem_.options.launch_ns;
    const double margin =
        static_cast<double>(ns(*second) + launch) / static_cast<double>(ns(option.candidate) + launch) - 1.0;
    const SearchCandidate& other = problem_.candidates[*second];
    return fmt::format("{}/{} {:+.0f}%", other.backend, other.variant.name, margin * 100);
  }

  const Problem& problem_;
  PathState state_;
  Cover cover_;
};

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
  result.cover = CoverWriter(problem).write(*best->path);
  result.cover.cost_ns = best->cost.ns;
  return result;
}

}  // namespace collage
