#include "tune/ablation.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace collage {
namespace {

struct Name {
  std::string_view text;
  void (*leave_out)(Ablations&);
  bool (*is_out)(const Ablations&);
};

constexpr Name kNames[] = {
    {"formats", [](Ablations& a) { a.formats = true; }, [](const Ablations& a) { return a.formats; }},
    {"borders", [](Ablations& a) { a.borders = true; }, [](const Ablations& a) { return a.borders; }},
    {"correction", [](Ablations& a) { a.correction = true; }, [](const Ablations& a) { return a.correction; }},
    {"evolution", [](Ablations& a) { a.evolution = true; }, [](const Ablations& a) { return a.evolution; }},
    {"largest-first", [](Ablations& a) { a.placement = Placement::kLargestFirst; },
     [](const Ablations& a) { return a.placement == Placement::kLargestFirst; }},
    {"backend-order", [](Ablations& a) { a.placement = Placement::kBackendOrder; },
     [](const Ablations& a) { return a.placement == Placement::kBackendOrder; }},
};

bool is_plain(const Variant& variant) {
  const auto plain = [](const Format& format) { return format.is_plain(); };
  return std::ranges::all_of(variant.input_formats, plain) && std::ranges::all_of(variant.output_formats, plain);
}

/// Regions that are taken one after another, while they do not overlap and the steps can run in some order.
class Taken {
 public:
  explicit Taken(const Graph& graph) : step_of_(graph.nodes.size()) {
    std::iota(step_of_.begin(), step_of_.end(), std::size_t{0});
    const Uses uses = uses_of(graph);
    for (std::size_t v = 0; v < uses.producer.size(); ++v)
      if (uses.producer[v].valid())
        for (const NodeId consumer : uses.consumers[v]) edges_.emplace_back(uses.producer[v].index, consumer.index);
  }

  bool take(const NodeSet& nodes) {
    const std::vector<std::size_t> members = nodes.members();
    if (members.empty() || std::ranges::any_of(members, [&](std::size_t n) { return is_taken_.contains(n); }))
      return false;
    std::vector<std::size_t> steps = step_of_;
    for (const std::size_t n : members) steps[n] = members.front();
    if (members.size() > 1 && !can_run(steps)) return false;
    step_of_ = std::move(steps);
    is_taken_.insert(members.begin(), members.end());
    return true;
  }

 private:
  /// Kahn's algorithm on the steps: whether they have an order.
  [[nodiscard]] bool can_run(const std::vector<std::size_t>& steps) const {
    std::vector<std::vector<std::size_t>> after(steps.size());
    std::vector<std::size_t> waits_for(steps.size());
    for (const auto& [from, to] : edges_) {
      if (steps[from] == steps[to]) continue;
      after[steps[from]].push_back(steps[to]);
      ++waits_for[steps[to]];
    }
    std::vector<std::size_t> ready;
    for (std::size_t s = 0; s < steps.size(); ++s)
      if (waits_for[s] == 0) ready.push_back(s);
    std::size_t done = 0;
    while (!ready.empty()) {
      const std::size_t step = ready.back();
      ready.pop_back();
      ++done;
      for (const std::size_t next : after[step])
        if (--waits_for[next] == 0) ready.push_back(next);
    }
    return done == steps.size();
  }

  std::vector<std::size_t> step_of_;  ///< by node: the first node of its step
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
  std::set<std::size_t> is_taken_;
};

/// The candidates in the order in which they are tried.
std::vector<std::size_t> by_placement(const CandidatePool& pool, const std::vector<std::string>& backends,
                                      Placement placement) {
  std::vector<std::pair<std::size_t, std::size_t>> rank;  ///< by candidate: what is compared first, and second
  for (const Candidate& one : pool.candidates) {
    const auto order = static_cast<std::size_t>(std::ranges::find(backends, one.backend) - backends.begin());
    const std::size_t smallness = pool.regions[one.region].nodes.universe() - pool.regions[one.region].nodes.count();
    rank.push_back(placement == Placement::kBackendOrder ? std::pair(order, smallness) : std::pair(smallness, order));
  }
  std::vector<std::size_t> order(pool.candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t c) { return rank[c]; });
  return order;
}

/// All variants of each region that is taken, by the backend that takes it.
void keep_placed(CandidatePool& pool, const Graph& graph, const std::vector<std::string>& backends,
                 Placement placement) {
  Taken taken(graph);
  std::set<std::pair<std::uint32_t, std::string>> kept;
  for (const std::size_t c : by_placement(pool, backends, placement)) {
    const Candidate& one = pool.candidates[c];
    if (!kept.contains({one.region, one.backend}) && taken.take(pool.regions[one.region].nodes))
      kept.emplace(one.region, one.backend);
  }
  std::erase_if(pool.candidates, [&](const Candidate& one) { return !kept.contains({one.region, one.backend}); });
}

}  // namespace

std::expected<Ablations, std::string> ablations_from(const std::vector<std::string>& names) {
  Ablations ablations;
  std::string allowed;
  for (const Name& one : kNames) allowed += (allowed.empty() ? "" : ", ") + std::string(one.text);
  for (const std::string& name : names) {
    const auto* const found = std::ranges::find(kNames, name, &Name::text);
    if (found == std::end(kNames)) return std::unexpected(allowed);
    const Placement before = ablations.placement;
    found->leave_out(ablations);
    if (before != Placement::kSearch && ablations.placement != before)
      return std::unexpected("one of largest-first and backend-order");
  }
  return ablations;
}

std::string to_text(const Ablations& ablations) {
  std::string text;
  for (const Name& one : kNames)
    if (one.is_out(ablations)) text += (text.empty() ? "" : ",") + std::string(one.text);
  return text;
}

CandidatePool ablated(CandidatePool pool, const Graph& graph, const std::vector<std::string>& backends,
                      const Ablations& ablations) {
  if (ablations.formats) std::erase_if(pool.candidates, [](const Candidate& one) { return !is_plain(one.variant); });
  if (ablations.placement != Placement::kSearch) keep_placed(pool, graph, backends, ablations.placement);
  return pool;
}

}  // namespace collage
