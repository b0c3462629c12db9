// Computes the cost of a cover, and by how much it changes when one candidate is put in place of others.
// In:  a cover, the pool with costs, conversions. Out: the sum of costs; for a candidate, the change of that sum.
// How: the candidate replaces the steps that it overlaps and everything else stays. Nodes of those steps that it does
//       not cover are filled with the cheapest candidates for single nodes. Conversions are added and removed as the
//       formats require. The result is always a cover that can run, so the best cover with the candidate costs at most
//       that much more.
// Cost: linear in the nodes of the replaced steps and their values.
// Not here: searching (search/), the use of exchanges (tune/explain/explanation.h).
// Source: local exchange as in matroid and matching algorithms.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "region/candidates.h"
#include "region/variant.h"
#include "search/search.h"
#include "tune/locations.h"

namespace collage {

/// What a sum of costs is made of. All of it outlives its users.
struct CostView {
  const Graph* graph = nullptr;
  const Uses* uses = nullptr;
  const CandidatePool* pool = nullptr;
  std::span<const Cost> costs;  ///< by candidate of the pool
  BoundaryTable conversions;
  std::int64_t launch_ns = 0;  ///< of every kernel and conversion that is no view
  Locations locations = {};
};

class Exchange {
 public:
  /// `cover` outlives the object and covers the view's graph. `may_fill`, by candidate: used to fill what is left over.
  Exchange(const CostView& view, const Cover& cover, std::vector<bool> may_fill);

  /// Sum over the cover; nothing when a conversion that it needs cannot be had.
  [[nodiscard]] std::optional<std::int64_t> total_ns() const { return total_ns_; }
  /// By node: the pool's candidate that covers it; nothing when the cover's step is not in the pool.
  [[nodiscard]] std::optional<std::uint32_t> candidate_at(std::size_t node) const;
  /// The step of the cover that covers a node.
  [[nodiscard]] const CoverStep& step_at(std::size_t node) const { return *parts_[owner_[node]].step; }

  /// New sum less old sum. Nothing when the candidate has no cost, what is left over cannot be filled, a conversion is
  /// missing, or the steps would wait for one another.
  [[nodiscard]] std::optional<std::int64_t> change_ns(std::uint32_t candidate);

 private:
  struct ByHash {
    std::size_t operator()(const NodeSet& set) const { return set.hash(); }
  };
  /// A step: of the cover, or put into it.
  struct Part {
    const Region* region = nullptr;
    const Variant* variant = nullptr;
    std::int64_t cost_ns = 0;  ///< launch included
    const CoverStep* step = nullptr;
    std::optional<std::uint32_t> candidate;
    std::string location = kHome;
  };

  [[nodiscard]] std::optional<Part> part_of(std::uint32_t candidate) const;
  [[nodiscard]] std::vector<std::size_t> overlapped(const Region& region) const;
  /// Adds parts of candidates until all of `left` is covered; false when that cannot be.
  [[nodiscard]] bool fill(NodeSet left, std::vector<Part>& parts) const;
  /// One conversion or transfer, or those by way of home; launches included, nothing when there is no way.
  [[nodiscard]] std::optional<std::int64_t> way_ns(ValueId value, const Place& from, const Place& to) const;
  [[nodiscard]] std::optional<std::int64_t> conversions_of(ValueId value) const;
  [[nodiscard]] std::optional<std::int64_t> conversions_of(const std::vector<ValueId>& values) const;
  void add_cover(const Cover& cover);
  void put(const Part& part);
  /// Takes the last part out again; others own its nodes by then or will.
  void take_last();
  void own(std::size_t part);
  [[nodiscard]] bool is_in_place(std::size_t part) const;
  [[nodiscard]] std::optional<std::uint32_t> candidate_of(const std::string& backend, const Region& region,
                                                          const Variant& variant) const;
  [[nodiscard]] bool can_be_ordered(std::size_t first, std::size_t first_new) const;

  CostView view_;
  std::vector<bool> may_fill_;
  std::vector<std::vector<std::uint32_t>> candidates_of_;  ///< by node: those that cover it, have a cost and may fill
  std::unordered_map<NodeSet, std::vector<std::uint32_t>, ByHash> by_nodes_;
  std::vector<Part> parts_;                          ///< of the cover, in its order, then those of the exchange at work
  std::vector<std::size_t> owner_;                   ///< by node: the part that covers it
  std::vector<std::vector<std::size_t>> repeaters_;  ///< by node: parts that compute it for themselves only
  std::optional<std::int64_t> total_ns_;
};

}  // namespace collage
