// A genome of level 2: the nodes in topological order, cut into segments, each with an owner.
// In:  positions in topological order. Out: other genomes; a stable text that can be parsed.
// A segment is a range of positions, so it is convex, and no two segments depend on each other in both directions.
// Cost: all functions are linear in the number of segments.
// Not here: the cover that a genome stands for (genome_cover.h), which moves to try (moves.h).
// Source: Collage (Jeon et al., PACT 2022), graph-level placement, which has one bit for each group and one engine.
//       Differs: a region is a gene of its own, and several engines take part.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace collage {

enum class OwnerKind : std::uint8_t {
  kLevel1,  ///< level 1 chooses among all candidates
  kOnly,    ///< level 1 chooses among one backend's candidates; others run what it has none for
  kRegion   ///< one engine takes the segment as one region
};

struct Owner {
  OwnerKind kind = OwnerKind::kLevel1;
  std::string backend;  ///< instance name; empty for level 1
  auto operator<=>(const Owner&) const = default;
};

/// Nodes [begin, end) and who has them.
struct Segment {
  std::size_t begin = 0;
  std::size_t end = 0;
  Owner owner;
  bool operator==(const Segment&) const = default;
};

/// Segments in order, none empty, without gaps. Every function here returns the canonical form: neighbours with one
/// owner are one segment, except regions, for two regions of an engine are not one.
struct Genome {
  std::vector<Segment> segments;
  bool operator==(const Genome&) const = default;
  [[nodiscard]] std::size_t nodes() const { return segments.empty() ? 0 : segments.back().end; }
};

/// One owner has all nodes.
[[nodiscard]] Genome genome_of_one(std::size_t nodes, const Owner& owner);

// The moves. Segments are named by index, positions by node.
/// Segments `first` and `first + 1` become one.
[[nodiscard]] Genome merged(Genome genome, std::size_t first, const Owner& owner);
/// [begin, end) gets an owner of its own, whatever segments it cuts.
[[nodiscard]] Genome assigned(const Genome& genome, std::size_t begin, std::size_t end, const Owner& owner);
/// A region becomes two of the same engine at `position`; other owners' segments stay as they are.
[[nodiscard]] Genome split(const Genome& genome, std::size_t position);
/// The border before segment `second` moves; it stays between the two segments' far ends.
[[nodiscard]] Genome with_border_at(Genome genome, std::size_t second, std::size_t position);

/// Positions where a segment begins in both, 0 and the number of nodes included.
[[nodiscard]] std::vector<std::size_t> common_borders(const Genome& a, const Genome& b);
/// `a` with the segments of `b` between two common borders.
[[nodiscard]] Genome crossed(const Genome& a, const Genome& b, std::size_t begin, std::size_t end);

/// One line per segment: "0 12 region NAME".
[[nodiscard]] std::string to_text(const Genome& genome);
/// Error search/bad-genome for what to_text does not write for a graph of so many nodes.
[[nodiscard]] Result<Genome> parse_genome(std::string_view text, std::size_t nodes);

}  // namespace collage
