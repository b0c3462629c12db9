// Minimum cut: the cheapest set of edges that separates source and sink of a weighted directed graph. Internal to this
// folder.
// Source: Dinic's algorithm (blocking flows in level graphs). Example: with the edges source -> a of weight 3, a -> b
//       of 1 and b -> sink of 2, the cut is the edge a -> b, and a is on the source's side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace collage {

class MinCut {
 public:
  static constexpr std::int64_t kInfinite = std::int64_t{1} << 60;
  static constexpr std::size_t kSource = 0;
  static constexpr std::size_t kSink = 1;

  std::size_t add_node();
  /// Costs `weight` when `from` ends on the source's side and `to` on the sink's.
  void add_edge(std::size_t from, std::size_t to, std::int64_t weight);

  /// The weight of the minimum cut.
  std::int64_t solve();
  /// After solve(): whether the vertex is in the smallest source side among all minimum cuts.
  [[nodiscard]] bool is_source_side(std::size_t node) const { return level_[node] >= 0; }

 private:
  struct Edge {
    std::size_t to;
    std::int64_t left;
  };
  bool find_levels();
  std::int64_t push(std::size_t node, std::int64_t limit);

  std::vector<Edge> edges_;  ///< edge i and its reverse i ^ 1
  std::vector<std::vector<std::size_t>> outgoing_{2};
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

}  // namespace collage
