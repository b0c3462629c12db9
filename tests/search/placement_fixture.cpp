#include "placement_fixture.h"

#include <algorithm>

#include "search/neighbour_unions.h"

namespace collage::testing_support {
namespace {

/// What the steps inside a union take together.
std::int64_t sum_of_parts(const NeighbourUnion& all, const Cover& cover) {
  std::int64_t sum = 0;
  for (const CoverStep& step : cover.steps)
    if (const Region* const region = chosen_region(step);
        region != nullptr && region->covered().is_subset_of(all.region.covered()))
      sum += *nanoseconds_of(step.cost);
  return sum;
}

}  // namespace

Cost exact_cost(std::int64_t ns) { return Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 1}; }

MockCosts& MockCosts::per_operator(const std::string& backend, std::int64_t units) {
  units_[backend] = units;
  return *this;
}

MockCosts& MockCosts::exactly(const std::string& backend, const std::string& nodes, std::int64_t ns) {
  exact_[{backend, nodes}] = ns;
  return *this;
}

Cost MockCosts::operator()(const SearchCandidate& candidate) {
  ++asked_;
  const NodeSet& nodes = candidate.region->nodes;
  if (const auto known = exact_.find({candidate.backend, to_string(nodes)}); known != exact_.end())
    return exact_cost(known->second);
  std::int64_t sum = 0;
  std::int64_t next = units_.at(candidate.backend) * kUnit;
  for (std::size_t n = 0; n < nodes.count(); ++n, next = next / 10 * 9) sum += next;
  return exact_cost(sum);
}

BoundaryTable conversions_at(std::int64_t ns) {
  return [cost = exact_cost(ns)](ValueId, const Place& from, const Place& to) -> std::optional<BoundaryChoice> {
    if (from.location != to.location) return std::nullopt;
    return BoundaryChoice{.backend = "converter", .cost = cost};
  };
}

Placement::Placement(Graph graph, const std::vector<Proposer>& proposers)
    : subject_(std::move(graph)), pool_(propose(subject_.graph, subject_.uses, proposers)) {}

Placement& Placement::price(const std::function<Cost(const SearchCandidate&)>& cost_of) {
  candidates_.clear();
  for (const Candidate& candidate : pool_.candidates) {
    candidates_.push_back({.region = &pool_.regions[candidate.region],
                           .backend = candidate.backend,
                           .variant = candidate.variant,
                           .cost = Unknown{}});
    candidates_.back().cost = cost_of(candidates_.back());
  }
  return *this;
}

std::size_t Placement::proposed_by(const std::string& backend) const {
  return static_cast<std::size_t>(std::ranges::count(pool_.candidates, backend, &Candidate::backend));
}

Result<SearchResult> Placement::search() const {
  return choose_cover(subject_.graph, subject_.uses, candidates_, boundaries, options);
}

Result<SearchResult> Placement::search_and_coalesce() const {
  return coalesced(subject_.graph, subject_.uses, candidates_, boundaries, options);
}

Result<SearchResult> coalesced(const Graph& graph, const Uses& uses, std::vector<SearchCandidate> candidates,
                               const BoundaryTable& boundaries, const SearchOptions& options) {
  std::deque<Region> regions;
  for (;;) {
    COLLAGE_TRY(SearchResult result, choose_cover(graph, uses, candidates, boundaries, options));
    const std::size_t before = candidates.size();
    for (NeighbourUnion& all : neighbour_unions(graph, uses, result.cover)) {
      const auto is_known = [&](const SearchCandidate& c) {
        return c.backend == all.backend && c.location == all.location && *c.region == all.region;
      };
      if (std::ranges::any_of(candidates, is_known)) continue;
      const Cost cost = exact_cost(sum_of_parts(all, result.cover));
      regions.push_back(std::move(all.region));
      candidates.push_back({.region = &regions.back(),
                            .backend = all.backend,
                            .variant = plain_variant(regions.back()).front(),
                            .cost = cost,
                            .location = all.location});
    }
    if (candidates.size() == before) return result;
  }
}

std::string partitions(const Cover& cover) {
  std::vector<const CoverStep*> steps;
  for (const CoverStep& step : cover.steps)
    if (chosen_region(step) != nullptr) steps.push_back(&step);
  std::ranges::sort(steps, {}, [](const CoverStep* step) { return chosen_region(*step)->nodes; });
  std::string text;
  for (const CoverStep* step : steps)
    text += (text.empty() ? "" : "; ") + step->backend + " " + to_string(chosen_region(*step)->nodes);
  return text;
}

PartitionRule joined(PartitionRule base, std::size_t depth) {
  return combine(std::move(base), {GrowByClass{.from = FusionClass::kAnchor, .to = FusionClass::kAnchor}}, depth);
}

PartitionRule of_depth(const PartitionRule& rule, std::size_t depth) {
  return only_valid(rule, {.max_outputs = 1, .max_depth = depth});
}

Graph chain_of(const std::vector<std::string>& operators) {
  GraphBuilder net;
  ValueId value = net.input("x");
  for (const std::string& op : operators) value = net.add(op, {value});
  return net.take({value});
}

}  // namespace collage::testing_support
