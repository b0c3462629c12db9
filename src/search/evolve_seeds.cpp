#include <algorithm>
#include <bit>
#include <set>

#include "search/evolve.h"

namespace collage {
namespace {

/// The time of a cover by node, a step's shared evenly by its nodes; conversions count for nobody.
std::vector<double> share_by_node(const Cover& cover, std::size_t nodes) {
  std::vector<double> share(nodes, 0);
  for (const CoverStep& step : cover.steps) {
    const Region* const region = chosen_region(step);
    if (region == nullptr) continue;
    const std::vector<std::size_t> members = region->nodes.members();
    const auto ns = static_cast<double>(nanoseconds_of(step.cost).value_or(0));
    for (const std::size_t n : members) share[n] += ns / static_cast<double>(members.size());
  }
  return share;
}

struct Range {
  std::size_t begin;
  std::size_t end;
  auto operator<=>(const Range&) const = default;
};

/// Heads, tails and runs of blocks in doubling lengths, all shorter than the graph.
std::vector<Range> doubling_ranges(const std::vector<std::size_t>& places) {
  const std::size_t blocks = places.size() - 1;
  std::set<Range> ranges;
  for (std::size_t length = std::bit_floor(blocks); length >= 1; length /= 2) {
    ranges.insert({places.front(), places[length]});
    ranges.insert({places[blocks - length], places.back()});
    for (std::size_t from = 0; from + length <= blocks; from += length)
      ranges.insert({places[from], places[from + length]});
  }
  ranges.erase({places.front(), places.back()});
  return {ranges.begin(), ranges.end()};
}

}  // namespace

std::vector<Genome> seed_genomes(GenomeDecoder& decoder, const std::vector<std::size_t>& places, const Cover& level1,
                                 std::size_t ranges_per_engine) {
  const std::size_t n = decoder.problem().graph->nodes.size();
  const Genome start = genome_of_one(n, {});
  std::vector<Genome> seeds = {start};
  for (const std::string& engine : decoder.problem().engines)
    seeds.push_back(genome_of_one(n, {OwnerKind::kRegion, engine}));
  for (const std::string& backend : decoder.problem().backends)
    seeds.push_back(genome_of_one(n, {OwnerKind::kOnly, backend}));
  const std::vector<double> share = share_by_node(level1, n);
  for (const std::string& engine : decoder.problem().engines) {
    struct Ranked {
      double loss;
      Range range;
    };
    std::vector<Ranked> ranked;
    for (const Range& range : doubling_ranges(places)) {
      const auto& taken = decoder.region_of(engine, range.begin, range.end);
      if (!taken) continue;
      double loss = static_cast<double>(decoder.predicted_ns(engine, taken->region));
      for (const std::size_t node : taken->region.nodes.members()) loss -= share[node];
      ranked.push_back({loss, range});
    }
    std::ranges::stable_sort(ranked, {}, &Ranked::loss);
    ranked.resize(std::min(ranked.size(), ranges_per_engine));
    for (const Ranked& best : ranked)
      seeds.push_back(assigned(start, best.range.begin, best.range.end, {OwnerKind::kRegion, engine}));
  }
  return seeds;
}

}  // namespace collage
