// The changes of a genome that level 2 tries, and the random choice of the next one.
// In:  the narrow places of the graph, the genes, random numbers. Out: another genome.
// A gene is a block between two consecutive narrow places together with an engine that supports it, unless that engine
// already runs all of it in level 1's cover: giving the block to the engine changes the plan.
// Cost: choose_genes asks each engine about each block; a move is linear in the number of segments.
// Source: genes after Collage (Jeon et al., PACT 2022).
#pragma once

#include <random>
#include <string>
#include <vector>

#include "search/genome.h"
#include "search/genome_cover.h"

namespace collage {

struct Gene {
  std::size_t block = 0;  ///< nodes [places[block], places[block + 1])
  std::string engine;
  bool operator==(const Gene&) const = default;
};

/// Narrow places of the graph, so wide that there are at least `wanted` blocks, if the graph has as many nodes.
[[nodiscard]] std::vector<std::size_t> block_places(const Graph& graph, const Uses& uses, std::size_t wanted = 8);

[[nodiscard]] std::vector<Gene> choose_genes(GenomeDecoder& decoder, const std::vector<std::size_t>& places,
                                             const Cover& level1);
/// Blocks with at least one gene.
[[nodiscard]] std::size_t count_eligible_blocks(const std::vector<Gene>& genes);

/// How often each move is drawn, relative to the others. What has no use for a genome counts as not drawn.
struct MoveRates {
  double assign = 4;    ///< an engine or a backend gets a gene's block and some blocks behind it (split and reassign)
  double merge = 2;     ///< two neighbours become one, of either's owner
  double split = 1;     ///< a region becomes two
  double reassign = 2;  ///< a whole segment gets another owner
  double move_border = 3;     ///< to the next narrow place on either side, or by one to three nodes
  double any_position = 0.3;  ///< share of positions drawn among all nodes instead of narrow places
};

struct MoveSpace {
  std::vector<std::size_t> places;  ///< narrow ones; 0 and the number of nodes included
  std::vector<Gene> genes;
  std::vector<Owner> owners;  ///< all that a segment may get
  MoveRates rates;
};

/// One random move; the genome itself when the move drawn has no use for it.
[[nodiscard]] Genome moved(const Genome& genome, const MoveSpace& space, std::mt19937_64& random);

/// Two parents crossed at two random common borders; `a` itself when only the ends are common.
[[nodiscard]] Genome crossed_at_random(const Genome& a, const Genome& b, std::mt19937_64& random);

/// The same numbers everywhere, unlike the distributions of the standard library.
[[nodiscard]] inline std::size_t below(std::mt19937_64& random, std::size_t bound) { return random() % bound; }
[[nodiscard]] inline bool happens(std::mt19937_64& random, double share) {
  return static_cast<double>(random() >> 11) * 0x1p-53 < share;
}

}  // namespace collage
