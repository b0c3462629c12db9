#include "search/moves.h"

#include <algorithm>
#include <array>

namespace collage {
namespace {

/// A position strictly between `after` and `before`, mostly a narrow place; `after` when there is none.
std::size_t position_between(std::size_t after, std::size_t before, const MoveSpace& space, std::mt19937_64& random) {
  std::vector<std::size_t> inside;
  for (const std::size_t place : space.places)
    if (place > after && place < before) inside.push_back(place);
  const bool any = happens(random, space.rates.any_position);
  if (!inside.empty() && !any) return inside[below(random, inside.size())];
  return before > after + 1 ? after + 1 + below(random, before - after - 1) : after;
}

/// Mostly the owner the gene stands for, for some blocks: short stretches are as likely as long ones.
Genome assign_gene(const Genome& genome, const MoveSpace& space, std::mt19937_64& random) {
  if (space.genes.empty()) return genome;
  const Gene& gene = space.genes[below(random, space.genes.size())];
  const std::size_t blocks_left = space.places.size() - 1 - gene.block;
  std::size_t length = 1;
  while (length < blocks_left && happens(random, 0.7)) length += 1 + below(random, length);
  length = std::min(length, blocks_left);
  const Owner owner =
      happens(random, 0.75) ? Owner{OwnerKind::kRegion, gene.engine} : space.owners[below(random, space.owners.size())];
  return assigned(genome, space.places[gene.block], space.places[gene.block + length], owner);
}

Genome merge_some(const Genome& genome, const MoveSpace&, std::mt19937_64& random) {
  if (genome.segments.size() < 2) return genome;
  const std::size_t first = below(random, genome.segments.size() - 1);
  const std::size_t heir = first + below(random, 2);
  return merged(genome, first, genome.segments[heir].owner);
}

Genome split_some(const Genome& genome, const MoveSpace& space, std::mt19937_64& random) {
  const Segment& segment = genome.segments[below(random, genome.segments.size())];
  return split(genome, position_between(segment.begin, segment.end, space, random));
}

Genome reassign_some(const Genome& genome, const MoveSpace& space, std::mt19937_64& random) {
  const Segment& segment = genome.segments[below(random, genome.segments.size())];
  return assigned(genome, segment.begin, segment.end, space.owners[below(random, space.owners.size())]);
}

/// To the next narrow place, or by a few nodes.
Genome move_some_border(const Genome& genome, const MoveSpace& space, std::mt19937_64& random) {
  if (genome.segments.size() < 2) return genome;
  const std::size_t second = 1 + below(random, genome.segments.size() - 1);
  const std::size_t border = genome.segments[second].begin;
  const bool forward = happens(random, 0.5);
  if (happens(random, space.rates.any_position)) {
    const std::size_t step = 1 + below(random, 3);
    return with_border_at(genome, second, forward ? border + step : border - std::min(border, step));
  }
  const auto behind = std::ranges::upper_bound(space.places, border);
  const auto before = std::ranges::lower_bound(space.places, border);
  if (forward && behind != space.places.end()) return with_border_at(genome, second, *behind);
  if (!forward && before != space.places.begin()) return with_border_at(genome, second, *std::prev(before));
  return genome;
}

/// True when the cover gives every node of the range to this backend.
bool runs_all(const Cover& cover, const std::string& backend, std::size_t begin, std::size_t end) {
  for (const CoverStep& step : cover.steps) {
    const Region* const region = chosen_region(step);
    if (region == nullptr || step.backend == backend) continue;
    if (region->nodes.next(begin) < end) return false;
  }
  return true;
}

}  // namespace

std::vector<std::size_t> block_places(const Graph& graph, const Uses& uses, std::size_t wanted) {
  std::vector<std::size_t> places;
  for (std::size_t crossing = 1; crossing <= graph.values.size(); ++crossing) {
    places = narrow_places(graph, uses, crossing);
    if (places.size() > std::min(wanted, graph.nodes.size())) break;
  }
  return places;
}

std::vector<Gene> choose_genes(GenomeDecoder& decoder, const std::vector<std::size_t>& places, const Cover& level1) {
  std::vector<Gene> genes;
  for (std::size_t block = 0; block + 1 < places.size(); ++block)
    for (const std::string& engine : decoder.problem().engines)
      if (!runs_all(level1, engine, places[block], places[block + 1]) &&
          decoder.region_of(engine, places[block], places[block + 1]))
        genes.push_back({block, engine});
  return genes;
}

std::size_t count_eligible_blocks(const std::vector<Gene>& genes) {
  std::size_t count = 0;
  for (std::size_t g = 0; g < genes.size(); ++g) count += g == 0 || genes[g].block != genes[g - 1].block ? 1 : 0;
  return count;
}

Genome moved(const Genome& genome, const MoveSpace& space, std::mt19937_64& random) {
  using Move = Genome (*)(const Genome&, const MoveSpace&, std::mt19937_64&);
  const MoveRates& rates = space.rates;
  const std::array<std::pair<double, Move>, 5> moves = {{{rates.assign, assign_gene},
                                                         {rates.merge, merge_some},
                                                         {rates.split, split_some},
                                                         {rates.reassign, reassign_some},
                                                         {rates.move_border, move_some_border}}};
  double left = 0;
  for (const auto& [rate, move] : moves) left += rate;
  for (const auto& [rate, move] : moves) {
    if (happens(random, rate / left)) return move(genome, space, random);
    left -= rate;
  }
  return genome;
}

Genome crossed_at_random(const Genome& a, const Genome& b, std::mt19937_64& random) {
  const std::vector<std::size_t> common = common_borders(a, b);
  if (common.size() < 3) return a;
  const std::size_t first = below(random, common.size() - 1);
  const std::size_t last = first + 1 + below(random, common.size() - 1 - first);
  return crossed(a, b, common[first], common[last]);
}

}  // namespace collage
