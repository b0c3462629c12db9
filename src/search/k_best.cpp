#include "search/k_best.h"

#include <algorithm>
#include <set>

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
        k_best_(k_best) {}

  Result<std::vector<SearchResult>> run() {
    COLLAGE_TRY(Found first, solve({}));
    open_.push_back(std::move(first));
    std::vector<SearchResult> best;
    std::set<Classes> given;
    while (!open_.empty() && best.size() < k_best_.count) {
      const auto cheapest = std::ranges::min_element(
          open_, {}, [](const Found& f) { return std::pair(f.result.cover.cost_ns, f.banned.size()); });
      Found found = std::move(*cheapest);
      open_.erase(cheapest);
      if (given.insert(found.used).second) best.push_back(found.result);
      branch(found);
    }
    return best;
  }

 private:
  void branch(const Found& found) {
    for (const std::uint32_t used : found.used) {
      Classes banned = found.banned;
      banned.insert(used);
      if (searches_ >= k_best_.max_searches || !asked_.insert(banned).second) continue;
      if (auto child = solve(std::move(banned))) open_.push_back(std::move(*child));
    }
  }

  Result<Found> solve(Classes banned) {
    ++searches_;
    std::vector<SearchCandidate> allowed;
    std::vector<std::uint32_t> allowed_classes;
    for (std::size_t c = 0; c < candidates_.size(); ++c)
      if (!banned.contains(classes_[c])) {
        allowed.push_back(candidates_[c]);
        allowed_classes.push_back(classes_[c]);
      }
    COLLAGE_TRY(SearchResult result, choose_cover(graph_, uses_, allowed, boundaries_, options_));
    Classes used = classes_of(result.cover, allowed, allowed_classes);
    return Found{.result = std::move(result), .used = std::move(used), .banned = std::move(banned)};
  }

  static Classes classes_of(const Cover& cover, std::span<const SearchCandidate> candidates,
                            std::span<const std::uint32_t> classes) {
    Classes used;
    for (const CoverStep& step : cover.steps)
      for (std::size_t c = 0; c < candidates.size() && step.region.nodes.universe() != 0; ++c)
        if (candidates[c].backend == step.backend && candidates[c].variant == step.variant &&
            *candidates[c].region == step.region)
          used.insert(classes[c]);
    return used;
  }

  const Graph& graph_;
  const Uses& uses_;
  std::span<const SearchCandidate> candidates_;
  std::span<const std::uint32_t> classes_;
  const BoundaryTable& boundaries_;
  const SearchOptions& options_;
  const KBestOptions& k_best_;
  std::vector<Found> open_;
  std::set<Classes> asked_;
  std::size_t searches_ = 0;
};

}  // namespace

Result<std::vector<SearchResult>> k_best_covers(const Graph& graph, const Uses& uses,
                                                std::span<const SearchCandidate> candidates,
                                                std::span<const std::uint32_t> classes, const BoundaryTable& boundaries,
                                                const SearchOptions& options, const KBestOptions& k_best) {
  COLLAGE_CHECK(classes.size() == candidates.size(), "a class for every candidate");
  return KBest(graph, uses, candidates, classes, boundaries, options, k_best).run();
}

}  // namespace collage
