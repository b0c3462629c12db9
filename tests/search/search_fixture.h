// Small placement problems with made-up costs, a brute-force answer and a checker for covers.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "search/search.h"

namespace collage::testing_support {

/// One value read by a node.
struct Edge {
  std::size_t from;
  std::size_t to;
  std::size_t output = 0;
};

/// What random problems hold.
struct RandomShape {
  std::size_t nodes = 6;
  bool wide = false;  ///< few layers of many nodes
  bool several_outputs = true;
  bool device = false;  ///< a second device takes part
  bool narrow = false;  ///< formats of 16-bit elements take part; ports of one candidate may differ in them
};

/// The made-up second device; its values are plain and conversions with channels_last lead through plain at home.
inline constexpr const char* kDevice = "device";

class Problem {
 public:
  SearchOptions options{.launch_ns = 0};
  std::int64_t conversion_ns = 3;
  std::int64_t transfer_ns = 6;
  std::int64_t cast_ns = 2;  ///< of a conversion to or from narrow elements, beside that of the order

  /// Nodes n0.. with one output each, or as many as edges name; nodes without predecessors read the graph input, values
  /// without readers are graph outputs.
  Problem(std::size_t nodes, const std::vector<Edge>& edges, const std::vector<std::size_t>& more_outputs = {});

  [[nodiscard]] static Problem random(std::mt19937_64& random, const RandomShape& shape);
  [[nodiscard]] static Problem random(std::mt19937_64& random, std::size_t nodes) {
    return Problem::random(random, RandomShape{.nodes = nodes});
  }

  /// A candidate over these nodes with one format at all ports, computing `repeated` for itself only; false when the
  /// set is not convex.
  bool add(const std::string& backend, const std::vector<std::size_t>& nodes, std::int64_t ns,
           const std::string& format = "plain", const std::vector<std::size_t>& repeated = {},
           const std::string& location = kHome);
  /// As add(), with narrow elements at its inputs or outputs.
  bool add_narrow(const std::vector<std::size_t>& nodes, std::int64_t ns, const std::string& format, bool inputs,
                  bool outputs, const std::vector<std::size_t>& repeated);
  void add_random(std::mt19937_64& random, bool narrow = false);
  /// Puts the candidates in another order.
  void shuffle_candidates(std::mt19937_64& random);
  /// The same problem with its nodes in another topological order.
  [[nodiscard]] Problem reordered(std::mt19937_64& random) const;

  [[nodiscard]] Result<SearchResult> try_solve() const;
  [[nodiscard]] SearchResult solve() const { return try_solve().value(); }

  /// Least cost over every legal schedule: uniform-cost search with single conversions and single candidates as moves;
  /// nothing when there is none.
  [[nodiscard]] std::optional<std::int64_t> brute_force() const;

  /// Replays a cover; "" when every node is covered once, every input exists in its format, and the cost adds up.
  [[nodiscard]] std::string check(const Cover& cover) const;

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Uses& uses() const { return uses_; }
  [[nodiscard]] std::vector<SearchCandidate>& candidates() { return candidates_; }
  [[nodiscard]] BoundaryTable boundaries() const;

 private:
  /// What add() was called with.
  struct Added {
    std::string backend;
    std::vector<std::size_t> nodes;
    std::int64_t ns;
    std::string format;
    std::vector<std::size_t> repeated;
    std::string location;
  };

  [[nodiscard]] NodeSet set_of(const std::vector<std::size_t>& nodes) const;
  [[nodiscard]] bool uses_device() const;
  [[nodiscard]] bool uses_narrow() const;
  [[nodiscard]] std::int64_t converting_ns(const Format& from, const Format& to) const;
  [[nodiscard]] std::int64_t paid(std::int64_t conversion) const {
    return conversion == 0 ? 0 : conversion + options.launch_ns;
  }

  std::size_t node_count_;
  std::vector<Edge> edges_;
  std::vector<std::size_t> more_outputs_;
  Graph graph_;
  Uses uses_;
  std::deque<Region> regions_;
  std::vector<SearchCandidate> candidates_;
  std::vector<Added> added_;
};

}  // namespace collage::testing_support
