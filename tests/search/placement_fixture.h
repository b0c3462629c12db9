// Placements from rules to the cover, with made-up costs: what the acceptance cases of the search share.
// In: a graph, backends with rules, a price for each candidate. Out: who runs what, as text, and what it costs.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "search/search.h"
#include "tests/region/rule_fixture.h"

namespace collage::testing_support {

/// One unit of made-up cost, such that 0.9^9 of it is a whole number of nanoseconds.
inline constexpr std::int64_t kUnit = 1'000'000'000;

/// A measurement without noise.
[[nodiscard]] Cost exact_cost(std::int64_t ns);

/// Counts the questions; `per_operator` units for each operator of a region, times 0.9 for each before it.
class MockCosts {
 public:
  MockCosts& per_operator(const std::string& backend, std::int64_t units);
  /// What a backend takes for exactly these nodes instead.
  MockCosts& exactly(const std::string& backend, const std::string& nodes, std::int64_t ns);

  [[nodiscard]] Cost operator()(const SearchCandidate& candidate);
  [[nodiscard]] std::size_t asked() const { return asked_; }

 private:
  std::map<std::string, std::int64_t> units_;
  std::map<std::pair<std::string, std::string>, std::int64_t> exact_;
  std::size_t asked_ = 0;
};

/// Conversions between any two formats at one price; no transfers.
[[nodiscard]] BoundaryTable conversions_at(std::int64_t ns);

/// A graph with what its backends propose for it.
class Placement {
 public:
  SearchOptions options{.launch_ns = 0};
  BoundaryTable boundaries = conversions_at(0);

  Placement(Graph graph, const std::vector<Proposer>& proposers);
  /// Asks for the cost of every candidate of the pool.
  Placement& price(const std::function<Cost(const SearchCandidate&)>& cost_of);

  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] const CandidatePool& pool() const { return pool_; }
  [[nodiscard]] std::vector<SearchCandidate>& candidates() { return candidates_; }
  /// How many candidates a backend has in the pool.
  [[nodiscard]] std::size_t proposed_by(const std::string& backend) const;

  [[nodiscard]] Result<SearchResult> search() const;
  /// See coalesced().
  [[nodiscard]] Result<SearchResult> search_and_coalesce() const;

 private:
  Subject subject_;
  CandidatePool pool_;
  std::vector<SearchCandidate> candidates_;
};

/// Searches, offers neighbouring steps of one backend as one step at the sum of their parts, and searches again, until
/// nothing new can be offered. Ports of what it offers are plain.
[[nodiscard]] Result<SearchResult> coalesced(const Graph& graph, const Uses& uses,
                                             std::vector<SearchCandidate> candidates, const BoundaryTable& boundaries,
                                             const SearchOptions& options);

/// "ext {0}; native {1,2}" by first node; conversions and views of formats are left out.
[[nodiscard]] std::string partitions(const Cover& cover);

/// What `base` names and whatever grows from it by joining heavy operators.
[[nodiscard]] PartitionRule joined(PartitionRule base, std::size_t depth);
/// Of what the rule names, what has one output and is no deeper.
[[nodiscard]] PartitionRule of_depth(const PartitionRule& rule, std::size_t depth);
/// x -> operators, one after the other.
[[nodiscard]] Graph chain_of(const std::vector<std::string>& operators);

}  // namespace collage::testing_support
