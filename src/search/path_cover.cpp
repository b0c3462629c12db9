#include "search/path_cover.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace collage {
namespace {

/// One conversion that a path needs, from a place where the value is.
struct Hop {
  ValueId value;
  std::uint8_t from = 0;
  std::uint8_t to = 0;
};

/// The places of values along a path, in which conversions are chosen as the search chose them.
class PathPlaces {
 public:
  explicit PathPlaces(const Problem& problem);
  /// Conversions before the kernel and, for model outputs, after it, in order; false when there is no way.
  [[nodiscard]] bool take(const Group& group, const Option& option, const std::vector<Stop>& stops,
                          std::vector<Hop>& before, std::vector<Hop>& after);

 private:
  [[nodiscard]] bool require(std::uint32_t value, std::uint8_t place, std::vector<Hop>& hops);

  const Problem& problem_;
  std::vector<PlaceMask> held_;  ///< by value
};

PathPlaces::PathPlaces(const Problem& problem) : problem_(problem), held_(problem.routes.size(), 0) {
  for (const ValueId input : problem.graph->inputs) held_[input.index] = mask_of(0);
}

bool PathPlaces::take(const Group& group, const Option& option, const std::vector<Stop>& stops,
                      std::vector<Hop>& before, std::vector<Hop>& after) {
  const auto is_made = [&](const Stop& stop) {
    return std::ranges::find(group.outputs, stop.value) != group.outputs.end();
  };
  for (const Stop& stop : stops)
    if (!is_made(stop) && !require(stop.value, stop.place, before)) return false;
  for (std::size_t i = 0; i < group.inputs.size(); ++i)
    if (!require(group.inputs[i], option.in[i], before)) return false;
  for (std::size_t o = 0; o < group.outputs.size(); ++o) held_[group.outputs[o]] |= mask_of(option.out[o]);
  for (const Stop& stop : stops)
    if (is_made(stop) && !require(stop.value, stop.place, after)) return false;
  for (const std::uint32_t output : group.outputs)
    if (problem_.uses->is_output[output] && !require(output, 0, after)) return false;
  return true;
}

bool PathPlaces::require(std::uint32_t value, std::uint8_t place, std::vector<Hop>& hops) {
  PlaceMask& held = held_[value];
  if (held & mask_of(place)) return true;
  const ValueRoutes& routes = problem_.routes[value];
  const auto [way, start] = routes.cheapest(held, place);
  if (way.ns >= kImpossible) return false;
  for (std::uint8_t at = start; at != place;) {
    const std::uint8_t next = routes.next[at * routes.places.size() + place];
    hops.push_back({.value = ValueId{value}, .from = at, .to = next});
    held |= mask_of(next);
    at = next;
  }
  return true;
}

/// Writes a path down as steps.
class CoverWriter {
 public:
  explicit CoverWriter(const Problem& problem) : problem_(problem), places_(problem) {}

  Cover write(std::span<const ChosenOption> path) {
    for (const ChosenOption& chosen : path) {
      const Group& group = problem_.groups[chosen.group];
      const Option& option = group.options[chosen.option];
      std::vector<Hop> before;
      std::vector<Hop> after;
      COLLAGE_CHECK(places_.take(group, option, chosen.stops, before, after), "a path without a way between places");
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
  PathPlaces places_;
  Cover cover_;
};

}  // namespace

Cover write_cover(const Problem& problem, std::span<const ChosenOption> path) {
  return CoverWriter(problem).write(path);
}

}  // namespace collage
