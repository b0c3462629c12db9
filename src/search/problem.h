// A placement problem as the search needs it: nodes by position in search order, candidates of equal region in one
// group, numbered places of each value, conversions with the cheapest way between any two places.
// In:  a graph, candidates with costs, a table of conversion costs. Out: tables, which the search only reads.
// Cost: O(candidates + values x places^3).
// Source: Floyd and Warshall's all-pairs shortest paths, for conversions in several steps.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/search.h"

namespace collage {

inline constexpr std::int64_t kImpossible = std::numeric_limits<std::int64_t>::max() / 4;
/// A mask of places of one value.
using PlaceMask = std::uint32_t;
inline constexpr std::size_t kMostPlaces = 32;
constexpr PlaceMask mask_of(std::uint8_t place) { return PlaceMask{1} << place; }

/// What a way costs, compared in this order: time, then steps, conversions, bytes of scratch and copies.
struct PathCost {
  std::int64_t ns = 0;
  std::int32_t steps = 0;
  std::int32_t conversions = 0;
  std::int64_t bytes = 0;
  auto operator<=>(const PathCost&) const = default;
  PathCost& operator+=(const PathCost& other) {
    ns += other.ns;
    steps += other.steps;
    conversions += other.conversions;
    bytes += other.bytes;
    return *this;
  }
};

/// Places that a value is brought to before it goes where it is needed now, because readers to come save by it; the
/// first `count` of them, in order.
struct Stops {
  std::array<std::uint8_t, 2> places = {};
  std::uint8_t count = 0;
};

/// The places of one value and the cheapest ways between them.
struct ValueRoutes {
  std::vector<Place> places;        ///< [0] is plain at home
  std::vector<PathCost> cost;       ///< [from * places + to]; ns = kImpossible when there is no way
  std::vector<std::int64_t> ns;     ///< [to * places + from]: the time in `cost`
  std::vector<std::uint8_t> next;   ///< [from * places + to]: the first place on the way
  std::vector<std::int64_t> bytes;  ///< of the value, by place
  bool is_ours = true;              ///< takes memory of the plan: not a model input or output
  PlaceMask wanted = 0;             ///< where candidates read it, and plain at home for a model output

  /// The places on the way, `to` among them.
  [[nodiscard]] PlaceMask on_way(std::uint8_t from, std::uint8_t to) const;
  /// The cheapest way from one of `held` to `to`: its cost and where it starts.
  [[nodiscard]] std::pair<PathCost, std::uint8_t> cheapest(PlaceMask held, std::uint8_t to) const;
  /// Its time alone.
  [[nodiscard]] std::int64_t cheapest_ns(PlaceMask held, std::uint8_t to) const {
    std::int64_t least = kImpossible;
    for (; held != 0; held &= held - 1)
      least = std::min(least, ns[to * places.size() + static_cast<std::size_t>(std::countr_zero(held))]);
    return least;
  }

  /// Whether others than those at `held` and `to` are wanted.
  [[nodiscard]] bool may_detour(PlaceMask held, std::uint8_t to) const { return (wanted & ~held & ~mask_of(to)) != 0; }
  /// The detours on the way from `held` to `to` that later readers may repay, by one stop or by two. Adds to `detours`.
  /// Of trees of conversions to more than three places the cheapest may be missed.
  void add_detours(PlaceMask held, std::uint8_t to, std::vector<Stops>& detours) const;

 private:
  /// What having the value at `stop` saves later readers at most.
  [[nodiscard]] std::int64_t most_saved(PlaceMask held, std::uint8_t stop) const;
};

/// A candidate that no other of its group beats at the same places.
struct Option {
  std::uint32_t candidate = 0;
  PathCost cost;
  std::int64_t workspace = 0;
  std::size_t location = 0;       ///< index into Problem::locations
  std::vector<std::uint8_t> in;   ///< place of each Group::inputs
  std::vector<std::uint8_t> out;  ///< place of each Group::outputs
};

/// Candidates that compute and cover the same nodes.
struct Group {
  std::vector<std::uint32_t> covers;     ///< positions, ascending
  std::vector<std::uint32_t> producers;  ///< positions that make its inputs
  std::vector<std::uint32_t> inputs;     ///< values
  std::vector<std::uint32_t> outputs;    ///< values
  std::vector<std::uint32_t> alive;      ///< values of covered nodes that others read
  std::vector<std::uint32_t> candidates;
  std::vector<Option> options;
  std::int64_t least_ns = kImpossible;
};

struct Problem {
  const Graph* graph = nullptr;
  const Uses* uses = nullptr;
  std::span<const SearchCandidate> candidates;
  const BoundaryTable* boundaries = nullptr;
  SearchOptions options;

  std::vector<std::uint32_t> node_at;      ///< by position
  std::vector<std::uint32_t> position_of;  ///< by node
  std::vector<Group> groups;
  std::vector<std::vector<std::uint32_t>> groups_at;  ///< by position
  std::vector<ValueRoutes> routes;                    ///< by value; empty for values no candidate touches
  std::vector<std::vector<std::uint32_t>> readers;    ///< by value: positions, repeated reads included
  std::vector<std::int64_t> share_ns;                 ///< by position: the least any cover pays for the node
  std::vector<std::string> locations;                 ///< [0] is home
  std::vector<std::int64_t> capacity;                 ///< by location, bytes; kImpossible = no limit
  bool minds_memory = false;                          ///< peaks of memory count

  [[nodiscard]] std::size_t size() const { return node_at.size(); }
};

inline constexpr const char* kUncoverable = "search/uncoverable";

/// Error search/uncoverable naming the first node, in the graph's order, without a usable candidate.
[[nodiscard]] Result<Problem> make_problem(const Graph& graph, const Uses& uses,
                                           std::span<const SearchCandidate> candidates, const BoundaryTable& boundaries,
                                           const SearchOptions& options);

/// The direct conversion between two places of a value, launch included; nothing when impossible.
[[nodiscard]] std::optional<std::int64_t> boundary_ns(const std::optional<BoundaryChoice>& choice,
                                                      std::int64_t launch_ns);

}  // namespace collage
