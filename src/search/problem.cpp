#include "search/problem.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "search/order.h"

namespace collage {
namespace {

/// Keeps sums of what cannot be reached in range.
constexpr std::int64_t kMostWanted = 64;

void sort_unique(std::vector<std::uint32_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Regions are one group when they compute, repeat and give the same.
struct RegionHash {
  std::size_t operator()(const Region* region) const { return region->nodes.hash(); }
};
struct SameRegion {
  bool operator()(const Region* a, const Region* b) const { return *a == *b && a->outputs == b->outputs; }
};

class ProblemBuilder {
 public:
  ProblemBuilder(const Graph& graph, const Uses& uses, std::span<const SearchCandidate> candidates,
                 const BoundaryTable& boundaries, const SearchOptions& options) {
    problem_.graph = &graph;
    problem_.uses = &uses;
    problem_.candidates = candidates;
    problem_.boundaries = &boundaries;
    problem_.options = options;
  }

  Result<Problem> run() {
    number_nodes();
    number_locations();
    problem_.routes.resize(graph().values.size());
    for (const auto* list : {&graph().inputs, &graph().outputs})
      for (const ValueId id : *list)
        if (!graph().value(id).constant) (void)place_of(id, kHome, plain());
    for (std::uint32_t c = 0; c < problem_.candidates.size(); ++c) add_candidate(c);
    add_readers();
    for (std::size_t v = 0; v < problem_.routes.size(); ++v) close_routes(v);
    for (Group& group : problem_.groups) keep_best_options(group);
    note_wanted();
    add_shares();
    COLLAGE_TRY_VOID(check_coverable());
    return std::move(problem_);
  }

 private:
  const Graph& graph() const { return *problem_.graph; }

  void number_nodes() {
    problem_.node_at = search_order(graph(), *problem_.uses);
    problem_.position_of.resize(problem_.node_at.size());
    for (std::uint32_t p = 0; p < problem_.node_at.size(); ++p) problem_.position_of[problem_.node_at[p]] = p;
    problem_.groups_at.resize(problem_.node_at.size());
  }

  void number_locations() {
    problem_.locations = {kHome};
    for (const SearchCandidate& candidate : problem_.candidates)
      if (std::ranges::find(problem_.locations, candidate.location) == problem_.locations.end())
        problem_.locations.push_back(candidate.location);
    for (const std::string& location : problem_.locations) {
      const auto limit = problem_.options.capacity.find(location);
      problem_.capacity.push_back(limit == problem_.options.capacity.end() ? kImpossible : limit->second);
    }
    problem_.minds_memory = !problem_.options.capacity.empty() || problem_.options.ns_per_byte > 0;
  }

  /// The number of a place among the value's.
  std::uint8_t place_of(ValueId id, const std::string& location, const Format& format) {
    std::vector<Place>& places = problem_.routes[id.index].places;
    if (places.empty()) places.emplace_back();
    // Ways between formats of different owners, and between devices, lead through the plain format.
    if (location != kHome && !format.is_plain()) (void)insert(places, location, plain());
    return insert(places, location, format);
  }

  static std::uint8_t insert(std::vector<Place>& places, const std::string& location, const Format& format) {
    const auto found = std::ranges::find_if(
        places, [&](const Place& place) { return place.format == format && place.location == location; });
    const auto index = static_cast<std::uint8_t>(found - places.begin());
    if (found == places.end()) {
      COLLAGE_CHECK(places.size() < kMostPlaces, "more than 32 places of one value");
      places.push_back({.location = location, .format = format});
    }
    return index;
  }

  void add_candidate(std::uint32_t c) {
    const SearchCandidate& candidate = problem_.candidates[c];
    const Region& region = *candidate.region;
    Group& group = problem_.groups[group_of(region)];
    group.candidates.push_back(c);
    Option option{.candidate = c, .cost = cost_of(candidate), .workspace = candidate.workspace_bytes};
    option.location = static_cast<std::size_t>(std::ranges::find(problem_.locations, candidate.location) -
                                               problem_.locations.begin());
    for (std::size_t i = 0; i < region.inputs.size(); ++i)
      option.in.push_back(place_of(region.inputs[i], candidate.location, candidate.variant.input_formats[i]));
    for (std::size_t o = 0; o < region.outputs.size(); ++o)
      option.out.push_back(place_of(region.outputs[o], candidate.location, candidate.variant.output_formats[o]));
    group.least_ns = std::min(group.least_ns, option.cost.ns);
    group.options.push_back(std::move(option));
  }

  std::uint32_t group_of(const Region& region) {
    if (&region == last_region_) return last_group_;  // candidates of a region mostly follow one another
    const auto [found, added] = index_.emplace(&region, static_cast<std::uint32_t>(problem_.groups.size()));
    if (added) add_group(region);
    last_region_ = &region;
    last_group_ = found->second;
    return last_group_;
  }

  PathCost cost_of(const SearchCandidate& candidate) const {
    const std::int64_t ns = nanoseconds_of(candidate.cost).value_or(kImpossible);
    if (candidate.variant.name == "view") return {.ns = ns, .steps = 1};
    return {.ns = ns + problem_.options.launch_ns, .steps = 1, .conversions = 0, .bytes = candidate.workspace_bytes};
  }

  void add_group(const Region& region) {
    const auto id = static_cast<std::uint32_t>(problem_.groups.size());
    Group& group = problem_.groups.emplace_back();
    for (const std::size_t node : region.covered().members()) group.covers.push_back(problem_.position_of[node]);
    std::sort(group.covers.begin(), group.covers.end());
    for (const std::uint32_t position : group.covers) problem_.groups_at[position].push_back(id);
    for (const ValueId input : region.inputs) {
      group.inputs.push_back(input.index);
      if (const NodeId maker = problem_.uses->producer[input.index]; maker.valid())
        group.producers.push_back(problem_.position_of[maker.index]);
    }
    sort_unique(group.producers);
    for (const ValueId output : region.outputs) group.outputs.push_back(output.index);
  }

  /// Who may still read a value: its consumers, and candidates that repeat them.
  void add_readers() {
    problem_.readers.resize(graph().values.size());
    for (std::size_t v = 0; v < problem_.readers.size(); ++v)
      for (const NodeId reader : problem_.uses->consumers[v])
        problem_.readers[v].push_back(problem_.position_of[reader.index]);
    for (const auto& [region, g] : index_)
      if (!region->repeated.empty())
        for (const std::uint32_t input : problem_.groups[g].inputs)
          problem_.readers[input].push_back(problem_.groups[g].covers.front());
    for (std::vector<std::uint32_t>& list : problem_.readers) sort_unique(list);
    for (Group& group : problem_.groups) add_alive(group);
  }

  void add_alive(Group& group) {
    for (const std::uint32_t position : group.covers)
      for (const ValueId id : graph().nodes[problem_.node_at[position]].outputs) {
        if (!id.valid()) continue;
        const std::vector<std::uint32_t>& readers = problem_.readers[id.index];
        const bool is_read = std::ranges::any_of(
            readers, [&](std::uint32_t reader) { return !std::ranges::binary_search(group.covers, reader); });
        if (is_read) group.alive.push_back(id.index);
      }
  }

  /// Direct conversions, then shortest ways over them (Floyd and Warshall).
  void close_routes(std::size_t v) {
    ValueRoutes& routes = problem_.routes[v];
    const ValueId id{static_cast<std::uint32_t>(v)};
    const ValueType& type = graph().value(id).type;
    for (const Place& place : routes.places) {
      const ElementType element = stored_element(type, place.format);
      routes.bytes.push_back(type.is_static() ? static_cast<std::int64_t>(byte_count(element, type.extents())) : 0);
    }
    routes.is_ours = problem_.uses->producer[v].valid() && !problem_.uses->is_output[v];
    const std::size_t n = routes.places.size();
    routes.cost.assign(n * n, {.ns = kImpossible});
    routes.next.resize(n * n);
    for (std::size_t from = 0; from < n; ++from)
      for (std::size_t to = 0; to < n; ++to) {
        routes.next[from * n + to] = static_cast<std::uint8_t>(to);
        if (from == to) routes.cost[from * n + to] = {};
        if (from != to) routes.cost[from * n + to] = direct(id, routes, from, to);
      }
    for (std::size_t by = 0; by < n; ++by)
      for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = 0; to < n; ++to) {
          if (from == by || by == to) continue;
          PathCost way = routes.cost[from * n + by];
          way += routes.cost[by * n + to];
          if (way.ns >= kImpossible || way >= routes.cost[from * n + to]) continue;
          routes.cost[from * n + to] = way;
          routes.next[from * n + to] = routes.next[from * n + by];
        }
    for (std::size_t to = 0; to < n; ++to)
      for (std::size_t from = 0; from < n; ++from) routes.ns.push_back(routes.cost[from * n + to].ns);
  }

  PathCost direct(ValueId id, const ValueRoutes& routes, std::size_t from, std::size_t to) const {
    const auto choice = (*problem_.boundaries)(id, routes.places[from], routes.places[to]);
    const auto ns = boundary_ns(choice, problem_.options.launch_ns);
    if (!ns) return {.ns = kImpossible};
    return *ns == 0 ? PathCost{} : PathCost{.ns = *ns, .steps = 1, .conversions = 1, .bytes = routes.bytes[to]};
  }

  /// Of the candidates with the same places only the cheapest counts; where memory counts, the frugal ones too.
  void keep_best_options(Group& group) const {
    std::stable_sort(group.options.begin(), group.options.end(),
                     [](const Option& a, const Option& b) { return a.cost < b.cost; });
    std::vector<Option> kept;
    for (Option& option : group.options) {
      if (option.cost.ns >= kImpossible) continue;
      const bool beaten = std::ranges::any_of(kept, [&](const Option& better) {
        return better.location == option.location && better.in == option.in && better.out == option.out &&
               (!problem_.minds_memory || better.workspace <= option.workspace);
      });
      if (!beaten) kept.push_back(std::move(option));
    }
    group.options = std::move(kept);
  }

  void note_wanted() {
    for (const Group& group : problem_.groups)
      for (const Option& option : group.options)
        for (std::size_t i = 0; i < group.inputs.size(); ++i)
          problem_.routes[group.inputs[i]].wanted |= mask_of(option.in[i]);
    for (const ValueId output : graph().outputs) problem_.routes[output.index].wanted |= mask_of(0);
  }

  void add_shares() {
    problem_.share_ns.assign(problem_.size(), kImpossible);
    for (const Group& group : problem_.groups)
      for (const std::uint32_t position : group.covers)
        problem_.share_ns[position] =
            std::min(problem_.share_ns[position], group.least_ns / static_cast<std::int64_t>(group.covers.size()));
  }

  Result<void> check_coverable() const {
    for (std::size_t n = 0; n < graph().nodes.size(); ++n)
      if (problem_.share_ns[problem_.position_of[n]] >= kImpossible / static_cast<std::int64_t>(problem_.size()))
        return fail(ExitCode::kUnsupported, kUncoverable, "node " + graph().nodes[n].name,
                    "operator " + graph().nodes[n].op_type + " that no chosen backend could run",
                    "at least one usable candidate for every node");
    return {};
  }

  Problem problem_;
  std::unordered_map<const Region*, std::uint32_t, RegionHash, SameRegion> index_;
  const Region* last_region_ = nullptr;
  std::uint32_t last_group_ = 0;
};

}  // namespace

std::pair<PathCost, std::uint8_t> ValueRoutes::cheapest(PlaceMask held, std::uint8_t to) const {
  const PathCost* best = nullptr;
  std::uint8_t start = 0;
  for (; held != 0; held &= held - 1) {
    const auto from = static_cast<std::uint8_t>(std::countr_zero(held));
    const PathCost& way = cost[from * places.size() + to];
    // Times alone decide almost always.
    if (best != nullptr && (way.ns > best->ns || (way.ns == best->ns && way >= *best))) continue;
    best = &way;
    start = from;
  }
  if (best == nullptr || best->ns >= kImpossible) return {{.ns = kImpossible}, 0};
  return {*best, start};
}

PlaceMask ValueRoutes::on_way(std::uint8_t from, std::uint8_t to) const {
  PlaceMask way = 0;
  for (std::uint8_t at = from; at != to;) {
    at = next[at * places.size() + to];
    way |= mask_of(at);
  }
  return way;
}

std::int64_t ValueRoutes::most_saved(PlaceMask held, std::uint8_t stop) const {
  std::int64_t saved = 0;
  for (PlaceMask left = wanted & ~held; left != 0; left &= left - 1) {
    const auto place = static_cast<std::uint8_t>(std::countr_zero(left));
    const std::int64_t without = cheapest_ns(held, place);
    const std::int64_t with = place == stop ? 0 : ns[place * places.size() + stop];
    saved += std::max<std::int64_t>(0, std::min(without, kImpossible / kMostWanted) - with);
  }
  return saved;
}

void ValueRoutes::add_detours(PlaceMask held, std::uint8_t to, std::vector<Stops>& detours) const {
  const PlaceMask asked = mask_of(to);
  const auto way_ns = [&](PlaceMask from, std::uint8_t place) { return cheapest_ns(from, place); };
  const auto [way, start] = cheapest(held, to);
  if (way.ns >= kImpossible) return;
  const std::int64_t direct = way.ns;
  const PlaceMask passed = on_way(start, to);
  for (std::uint8_t first = 0; first < places.size(); ++first) {
    const PlaceMask with_first = held | mask_of(first);
    if (with_first == held || (passed >> first & 1) != 0) continue;
    const std::int64_t to_first = way_ns(held, first);
    const std::int64_t by_first = to_first + way_ns(with_first, to);
    if (by_first >= kImpossible) continue;
    if (by_first - direct < most_saved(held | asked, first)) detours.push_back({.places = {first}, .count = 1});
    for (std::uint8_t second = 0; second < places.size(); ++second) {
      const PlaceMask with_both = with_first | mask_of(second);
      if (second == to || with_both == with_first) continue;
      const std::int64_t by_both = to_first + way_ns(with_first, second) + way_ns(with_both, to);
      const std::int64_t saved = most_saved(held | asked, first) + most_saved(held | asked, second);
      if (by_both < kImpossible && by_both - direct < saved) detours.push_back({.places = {first, second}, .count = 2});
    }
  }
}

std::optional<std::int64_t> boundary_ns(const std::optional<BoundaryChoice>& choice, std::int64_t launch_ns) {
  if (!choice) return std::nullopt;
  const auto ns = nanoseconds_of(choice->cost);
  if (!ns) return std::nullopt;
  return *ns == 0 ? 0 : *ns + launch_ns;
}

Result<Problem> make_problem(const Graph& graph, const Uses& uses, std::span<const SearchCandidate> candidates,
                             const BoundaryTable& boundaries, const SearchOptions& options) {
  return ProblemBuilder(graph, uses, candidates, boundaries, options).run();
}

}  // namespace collage
