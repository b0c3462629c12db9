#include "region/candidates.h"

#include <fmt/format.h>

#include "region/check_region.h"
#include "region/region_table.h"

namespace collage {
namespace {

/// A trail longer than this tells nobody more.
constexpr std::size_t kMostOrigin = 160;

/// Keeps every region once and asks each backend about each of them once.
class PoolBuilder {
 public:
  PoolBuilder(const Graph& graph, const Uses& uses) : graph_(graph), uses_(uses), reach_(graph, uses) {}

  void add(const Proposer& proposer, const RuleOptions& options) {
    answers_.clear();
    const RuleContext context{.graph = graph_,
                              .uses = uses_,
                              .reach = reach_,
                              .classes = proposer.rules.classes,
                              .takes = [&](const NodeSet& nodes) { return ask(proposer, nodes, {}) != nullptr; }};
    for (Proposal& proposal : enumerate(rule_of(proposer.rules, options), context))
      if (const Answer* answer = ask(proposer, std::move(proposal.nodes), proposal.repeated))
        note(*answer, proposal.origin, std::move(proposal.matches));
  }

  CandidatePool take() {
    pool_.regions = regions_.take();
    return std::move(pool_);
  }

 private:
  /// What the backend at hand said about a region: its candidates in the pool.
  struct Answer {
    bool asked = false;
    std::size_t first = 0;
    std::size_t count = 0;
  };

  /// Asks about a set of nodes; null when it is not a legal step or the backend refuses.
  const Answer* ask(const Proposer& proposer, NodeSet nodes, const NodeSet& repeated) {
    const auto index = index_of(std::move(nodes), repeated);
    if (!index) return nullptr;
    if (answers_.size() <= *index) answers_.resize(regions_.size());
    Answer& answer = answers_[*index];
    if (!answer.asked) answer = ask_first_time(proposer, *index);
    return answer.count == 0 ? nullptr : &answer;
  }

  Answer ask_first_time(const Proposer& proposer, std::uint32_t index) {
    Answer answer{.asked = true, .first = pool_.candidates.size()};
    const Region& region = regions_[index];
    const auto refuse = [&](Refusal refusal) {
      pool_.refusals.push_back({.region = index, .backend = proposer.backend, .refusal = std::move(refusal)});
      return answer;
    };
    if (const auto& limits = proposer.rules.limits)
      if (const auto legal = check_region(graph_, uses_, reach_, region, *limits); !legal)
        return refuse({.reason = RefusalReason::kStructure, .detail = "limits: " + legal.error().detail});
    auto variants = proposer.support(region);
    if (!variants) return refuse(std::move(variants).error());
    answer.count = variants->size();
    for (Variant& variant : *variants)
      pool_.candidates.push_back({.region = index, .backend = proposer.backend, .variant = std::move(variant)});
    return answer;
  }

  /// The region of these nodes when it can be a step at all.
  std::optional<std::uint32_t> index_of(NodeSet nodes, const NodeSet& repeated) {
    if (const auto known = regions_.find(nodes, repeated)) return known;
    if (illegal_.find(nodes, repeated)) return std::nullopt;
    Region region = make_region(graph_, uses_, std::move(nodes), repeated);
    if (reach_.is_convex(region.covered()) && has_static_border(graph_, uses_, region))
      return regions_.intern(std::move(region));
    illegal_.intern(std::move(region));
    return std::nullopt;
  }

  /// Says at the candidates which rule asked for them; a labelled proposal gives them its matches.
  void note(const Answer& answer, const std::string& origin, std::vector<Match> matches) {
    const std::size_t end = answer.first + answer.count;
    for (std::size_t c = answer.first; c < end; ++c) {
      Candidate& candidate = pool_.candidates[c];
      if (candidate.matches.empty()) candidate.matches = c + 1 < end ? matches : std::move(matches);
      if (candidate.origin.find(origin) != std::string::npos || candidate.origin.size() > kMostOrigin) continue;
      candidate.origin += (candidate.origin.empty() ? "" : ", ") + origin;
    }
  }

  const Graph& graph_;
  const Uses& uses_;
  Reachability reach_;
  CandidatePool pool_;
  RegionTable regions_;
  RegionTable illegal_;
  std::vector<Answer> answers_;  ///< of the backend at hand, by region
};

}  // namespace

CandidatePool propose(const Graph& graph, const Uses& uses, std::span<const Proposer> proposers,
                      const ProposeOptions& options) {
  PoolBuilder pool(graph, uses);
  for (const Proposer& proposer : proposers) pool.add(proposer, options);
  return pool.take();
}

std::vector<std::size_t> nodes_without_candidate(const Graph& graph, const CandidatePool& pool) {
  NodeSet covered(graph.nodes.size());
  for (const Candidate& candidate : pool.candidates) covered |= pool.regions[candidate.region].covered();
  std::vector<std::size_t> bare;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (!covered.contains(n)) bare.push_back(n);
  return bare;
}

std::string to_text(const Graph& graph, const CandidatePool& pool) {
  std::string text;
  for (const Candidate& candidate : pool.candidates) {
    const Region& region = pool.regions[candidate.region];
    text += fmt::format("{}/{}:", candidate.backend, candidate.variant.name);
    for (std::size_t n : region.nodes.members()) text += (region.repeats(n) ? " ~" : " ") + graph.nodes[n].name;
    const auto list = [&text](std::string_view arrow, const std::vector<Format>& formats) {
      text += arrow;
      for (std::size_t i = 0; i < formats.size(); ++i) text += (i ? "," : "") + formats[i].name;
    };
    list(" | ", candidate.variant.input_formats);
    list(" -> ", candidate.variant.output_formats);
    text += "\n";
  }
  return text;
}

}  // namespace collage
