// Decodes a genome into a cover: engines take their segments as regions, level 1 covers the rest.
// In:  what level 1 chooses from, the engines, a genome. Out: a cover with conversions, or why there is none.
// How: an engine's segment becomes one candidate, the only one for its nodes; choose_cover does the rest. Nodes of the
//       segment that the engine does not support are left to level 1, provided the remaining ones can still run as one
//       step.
// Cost: one choose_cover for each genome; an engine is asked about each range once.
// Not here: timing, choosing genomes (evolve.h).
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "region/variant.h"
#include "search/genome.h"
#include "search/search.h"

namespace collage {

/// What level 2 searches in. Graph, uses and the regions behind the candidates outlive it.
struct Level2Problem {
  const Graph* graph = nullptr;
  const Uses* uses = nullptr;
  std::vector<SearchCandidate> candidates;  ///< level 1's
  BoundaryTable conversions;
  SearchOptions search;
  std::vector<std::string> engines;   ///< may take segments as regions
  std::vector<std::string> backends;  ///< may be the only one in a segment
  /// The engine's way to run a region with plain ports, or why there is none. Asked only about convex regions with a
  /// static border, and about single nodes.
  std::function<std::expected<Variant, Refusal>(const std::string& engine, const Region& region)> take;
};

/// The end-to-end time of a cover.
struct Evaluation {
  std::int64_t ns = 0;
  std::vector<std::int64_t> step_ns;  ///< in context, those of the cover first; empty when not known
};

/// A segment as an engine would run it.
struct EngineRegion {
  Region region;
  Variant variant;
};

/// One thread.
class GenomeDecoder {
 public:
  explicit GenomeDecoder(Level2Problem problem);

  /// The cost of the cover is a prediction. Error search/refused-segment, or those of choose_cover.
  [[nodiscard]] Result<Cover> cover_of(const Genome& genome);

  using Taken = std::expected<EngineRegion, Refusal>;
  /// What the engine would take of [begin, end).
  [[nodiscard]] const Taken& region_of(const std::string& engine, std::size_t begin, std::size_t end);
  /// What is known of the region; else the sum of its parts times what the known region most like it took of its own,
  /// or all known regions of the engine when none is much like it.
  [[nodiscard]] std::int64_t predicted_ns(const std::string& engine, const Region& region) const;

  /// Remembers what the engines' regions of a cover took in it.
  void learn(const Cover& cover, const Evaluation& evaluation);

  [[nodiscard]] const Level2Problem& problem() const { return problem_; }

 private:
  struct Range {
    std::string engine;
    std::size_t begin;
    std::size_t end;
    auto operator<=>(const Range&) const = default;
  };
  /// A region of several nodes whose time is known.
  struct Known {
    NodeSet nodes;
    std::int64_t ns = 0;
    std::int64_t parts_ns = 0;
  };

  [[nodiscard]] Taken ask(const Range& range);
  /// As level 1 knows it, else predicted.
  [[nodiscard]] Cost cost_of(const std::string& engine, const EngineRegion& taken) const;
  [[nodiscard]] const NodeSet& refused_by(const std::string& engine);
  /// The least time said of a region counts.
  void note(const std::string& engine, const NodeSet& nodes, std::int64_t ns);
  [[nodiscard]] std::int64_t sum_of_parts(const std::string& engine, const NodeSet& nodes) const;
  /// The candidates that a genome leaves to level 1.
  [[nodiscard]] std::vector<SearchCandidate> left_to_level1(const Genome& genome, const NodeSet& taken) const;

  Level2Problem problem_;
  Reachability reach_;
  std::map<Range, Taken> taken_;
  std::map<std::string, NodeSet> refused_;
  std::map<std::string, std::vector<std::int64_t>> part_ns_;  ///< by engine, by node
  std::map<std::string, std::vector<Known>> known_;           ///< by engine
};

}  // namespace collage
