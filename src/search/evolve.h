// Level 2 of the search: looks for covers that are faster end to end than the sum of their parts predicts, including
// engines' regions of any size.
// In:  what level 1 chooses from, the engines, a function that evaluates a cover. Out: the best cover evaluated.
// How: a seeded evolutionary search over genomes. The first generation contains level 1's cover, one cover for each
//       backend and each engine, and the engines' most promising ranges. Each later generation keeps its best genomes,
//       adds winners of tournaments, and evaluates children: parents are chosen by tournament, crossed at common
//       borders, and changed by a move (moves.h). More children are made than evaluated: half of the evaluated ones are
//       those with the best prediction, the others are drawn at random. Equal covers are evaluated once. The same
//       problem, seed and evaluations give the same result.
// Cost: one evaluation for each seed and for children x generations; one choose_cover for each child made.
// Not here: realising and timing plans (tune/confirm/level2.h).
// Source: Collage (Jeon et al., PACT 2022), graph-level placement. Differs: the best genome is never lost, the clock is
//       read before every evaluation, regions and engines are genes, costs of regions are learnt.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "search/moves.h"

namespace collage {

/// The end-to-end time of a cover, or why it does not run. An error of ExitCode::kInterrupted ends the search.
using CoverEvaluator = std::function<Result<Evaluation>(const Cover&)>;

struct Evolved {
  Genome genome;
  Cover cover;
  Evaluation evaluation;
};

struct Generation {
  std::size_t number = 0;  ///< 0: the seeds
  std::size_t evaluations = 0;
  const Evolved* best = nullptr;  ///< never null
};

struct EvolveOptions {
  std::size_t population = 10;
  std::size_t generations = 12;  ///< after the seeds
  std::size_t children = 6;      ///< evaluated per generation
  std::size_t broods = 3;        ///< times as many are made
  std::size_t elite = 4;         ///< the best that stay whatever the tournaments say
  std::size_t tournament = 3;    ///< drawn, the best of which becomes a parent
  double crossover = 0.5;        ///< share of children with two parents
  double further_move = 0.4;     ///< share of children moved once more, and again
  MoveRates moves;
  std::size_t ranges_per_engine = 3;  ///< among the seeds
  std::size_t patience = 3;           ///< ends after so many generations without a gain
  double least_gain = 0.005;          ///< what counts as one, as a share of the time
  std::size_t max_evaluations = 200;
  std::uint64_t seed = 1;
  std::function<bool()> out_of_time;                     ///< asked before every evaluation; may be empty
  std::function<void(const Generation&)> on_generation;  ///< may be empty
  std::stop_token stop;
};

struct EvolveResult {
  std::optional<Evolved> best;  ///< nothing when no evaluation succeeded
  std::size_t evaluations = 0;
  std::size_t failures = 0;     ///< of these
  std::size_t generations = 0;  ///< after the seeds
  bool finished = true;         ///< not cut short by time, limit of evaluations or a stop
};

/// Error of choose_cover when level 1 has no cover.
[[nodiscard]] Result<EvolveResult> evolve(const Level2Problem& problem, const CoverEvaluator& evaluate,
                                          const EvolveOptions& options = {});

/// What a search starts from: level 1, every backend alone, every engine with everything, ranges of engines by how much
/// level 1's cover should lose to them.
[[nodiscard]] std::vector<Genome> seed_genomes(GenomeDecoder& decoder, const std::vector<std::size_t>& places,
                                               const Cover& level1, std::size_t ranges_per_engine);

}  // namespace collage
