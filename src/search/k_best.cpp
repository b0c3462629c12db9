// The K best covers, by an example. Letters are classes: equal letters are copies of one computation on one backend.
//
//   search, banned     best cover      cost
//   nothing            {a, b}           10      reported first
//   a                  {c, b}           12      \ children of the first: each bans one class that it uses
//   b                  {a, d}           11      /
//   b, a               {c, d}           13      \ children of {a, d}, the cheapest that is open,
//   b, d               {e}              15      /  reported second
//   a, b                                        searched already: the same ban as b, a
//
// A cover that differs from {a, b} lacks a or lacks b, so the best of the rest is the cheapest open one. Searches that
// ban different classes may find one cover; it is reported once, but its children are searched for both.
#include "search/k_best.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

namespace collage {
namespace {

using Classes = std::set<std::uint32_t>;

/// A cover, the classes it uses, and those it was not allowed.
struct Found {
  SearchResult result;
  Classes used;
  Classes banned;
};

class KBest {
 public:
  KBest(const Graph& graph, const Uses& uses, std::span<const SearchCandidate> candidates,
        std::span<const std::uint32_t> classes, const BoundaryTable& boundaries, const SearchOptions& options,
        const KBestOptions& k_best)
      : graph_(graph),
        uses_(uses),
        candidates_(candidates),
        classes_(classes),
        boundaries_(boundaries),
        options_(options),
        k_best_(k_best) {
    for (std::size_t c = 0; c < candidates.size(); ++c) by_nodes_[candidates[c].region->nodes].push_back(c);
  }

  Result<KBestCovers> run() {
    COLLAGE_TRY(Found first, solve({}));
    open_.push_back(std::move(first));
    std::set<Classes> given;
    while (!open_.empty()) {
      const auto cheapest = std::ranges::min_element(
          open_, {}, [this](const Found& f) { return std::pair(objective(f.result), f.banned.size()); });
      const Found found = std::move(*cheapest);
      open_.erase(cheapest);
      if (given.insert(found.used).second) best_.covers.push_back(found.result);
      if (best_.covers.size() == k_best_.count) break;
      branch(found);
    }
    return std::move(best_);
  }

 private:
  std::int64_t objective(const SearchResult& result) const {
    return result.cover.cost_ns + std::llround(options_.ns_per_byte * static_cast<double>(result.peak_bytes));
  }

  void branch(const Found& found) {
    for (const std::uint32_t used : found.used) {
      Classes banned = found.banned;
      banned.insert(used);
      if (asked_.contains(banned)) continue;
      if (searches_ >= k_best_.max_searches || work_ >= k_best_.max_work) {
        best_.complete = false;
        return;
      }
      asked_.insert(banned);
      if (auto child = solve(std::move(banned))) open_.push_back(std::move(*child));
    }
  }

  Result<Found> solve(Classes banned) {
    ++searches_;
    std::vector<SearchCandidate> allowed;
    for (std::size_t c = 0; c < candidates_.size(); ++c)
      if (!banned.contains(classes_[c])) allowed.push_back(candidates_[c]);
    work_ += candidates_.size();
    auto result = choose_cover(graph_, uses_, allowed, boundaries_, options_);
    if (result) work_ += result->states;
    // What does not fit into memory may only not have been found.
    if (result ? !result->exact : !options_.capacity.empty()) best_.complete = false;
    if (!result) return std::unexpected(result.error());
    Classes used = classes_of(result->cover);
    return Found{.result = std::move(*result), .used = std::move(used), .banned = std::move(banned)};
  }

  Classes classes_of(const Cover& cover) const {
    Classes used;
    for (const CoverStep& step : cover.steps) {
      const Region* const region = chosen_region(step);
      const auto same = region == nullptr ? by_nodes_.end() : by_nodes_.find(region->nodes);
      if (same == by_nodes_.end()) continue;
      for (const std::size_t c : same->second)
        if (candidates_[c].backend == step.backend && candidates_[c].variant == *chosen_variant(step) &&
            candidates_[c].location == location_of(step) && *candidates_[c].region == *region)
          used.insert(classes_[c]);
    }
    return used;
  }

  struct ByHash {
    std::size_t operator()(const NodeSet& set) const { return set.hash(); }
  };

  const Graph& graph_;
  const Uses& uses_;
  std::span<const SearchCandidate> candidates_;
  std::span<const std::uint32_t> classes_;
  const BoundaryTable& boundaries_;
  const SearchOptions& options_;
  const KBestOptions& k_best_;
  std::unordered_map<NodeSet, std::vector<std::size_t>, ByHash> by_nodes_;  ///< candidates
  std::vector<Found> open_;
  std::set<Classes> asked_;
  std::size_t searches_ = 0;
  std::size_t work_ = 0;
  KBestCovers best_;
};

}  // namespace

Result<KBestCovers> k_best_covers(const Graph& graph, const Uses& uses, std::span<const SearchCandidate> candidates,
                                  std::span<const std::uint32_t> classes, const BoundaryTable& boundaries,
                                  const SearchOptions& options, const KBestOptions& k_best) {
  COLLAGE_CHECK(classes.size() == candidates.size(), "a class for every candidate");
  return KBest(graph, uses, candidates, classes, boundaries, options, k_best).run();
}

}  // namespace collage
