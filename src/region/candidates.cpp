#include "region/candidates.h"

#include <algorithm>

#include <fmt/format.h>

#include "region/check_region.h"
#include "region/region_table.h"

namespace collage {
namespace {

/// A longer list would not help a reader of the message.
constexpr std::size_t kMostOrigin = 160;

/// Keeps every region once and asks each backend about each of them once.
class PoolBuilder {
 public:
  PoolBuilder(const Graph& graph, const Uses& uses) : graph_(graph), uses_(uses), reach_(graph, uses) {}

  void add(const Proposer& proposer, const RuleOptions& options) {
    answers_.clear();
    refused_.clear();
    const RuleContext context{.graph = graph_, .uses = uses_, .reach = reach_, .takes = [&](const NodeSet& nodes) {
                                return ask(proposer, nodes, {}, {}) != nullptr;
                              }};
    for (Proposal& proposal : enumerate(rule_of(proposer.rules, options), context))
      if (const Answer* answer = ask(proposer, std::move(proposal.nodes), proposal.repeated, proposal.matches))
        note(*answer, proposal.origin, proposal.matches);
    note_refusals(proposer);
  }

  /// What a backend proposed alone. Its regions are in the order of asking, so those that are new come in the order in
  /// which asking here would have added them.
  void add(const CandidatePool& known) {
    std::vector<std::uint32_t> places;
    for (const Region& region : known.regions) places.push_back(regions_.intern(region));
    for (Candidate candidate : known.candidates) {
      candidate.region = places[candidate.region];
      pool_.candidates.push_back(std::move(candidate));
    }
    for (RegionRefusal refusal : known.refusals) {
      refusal.region = places[refusal.region];
      pool_.refusals.push_back(std::move(refusal));
    }
  }

  CandidatePool take() {
    pool_.regions = regions_.take();
    return std::move(pool_);
  }

 private:
  /// The current backend's answer about a region.
  struct Answer {
    bool was_asked = false;                      ///< without labels
    std::vector<std::vector<Match>> labels;      ///< with these
    std::vector<std::uint32_t> candidates = {};  ///< in the pool
    std::optional<Refusal> refusal = {};         ///< the first one
  };

  /// Asks about a set of nodes; null when it is not a legal step or the backend refuses. With labels the backend may
  /// say something else, so each set of labels is one more question.
  const Answer* ask(const Proposer& proposer, NodeSet nodes, const NodeSet& repeated,
                    const std::vector<Match>& matches) {
    const auto index = index_of(std::move(nodes), repeated);
    if (!index) return nullptr;
    if (answers_.size() <= *index) answers_.resize(regions_.size());
    Answer& answer = answers_[*index];
    if (matches.empty() ? !answer.was_asked : std::ranges::find(answer.labels, matches) == answer.labels.end())
      ask_first_time(proposer, *index, matches, answer);
    return answer.candidates.empty() ? nullptr : &answer;
  }

  void ask_first_time(const Proposer& proposer, std::uint32_t index, const std::vector<Match>& matches,
                      Answer& answer) {
    if (matches.empty())
      answer.was_asked = true;
    else
      answer.labels.push_back(matches);
    auto variants = variants_of(proposer, index, matches);
    if (!variants) {
      if (!answer.refusal) refused_.push_back(index);
      if (!answer.refusal) answer.refusal = std::move(variants).error();
      return;
    }
    for (Variant& variant : *variants) {
      const auto is_same = [&](std::uint32_t c) { return pool_.candidates[c].variant == variant; };
      if (std::ranges::any_of(answer.candidates, is_same)) continue;
      answer.candidates.push_back(static_cast<std::uint32_t>(pool_.candidates.size()));
      pool_.candidates.push_back(
          {.region = index, .backend = proposer.backend, .variant = std::move(variant), .matches = matches});
    }
  }

  std::expected<std::vector<Variant>, Refusal> variants_of(const Proposer& proposer, std::uint32_t index,
                                                           const std::vector<Match>& matches) const {
    const Region& region = regions_[index];
    if (const auto& limits = proposer.rules.limits)
      if (const auto legal = check_region(graph_, uses_, reach_, region, *limits); !legal)
        return std::unexpected(
            Refusal{.reason = RefusalReason::kStructure, .detail = "limits: " + legal.error().detail});
    if (matches.empty()) return proposer.support(region);
    Region labelled = region;
    labelled.matches = matches;
    return proposer.support(labelled);
  }

  /// Notes what the backend refused, whatever the labels.
  void note_refusals(const Proposer& proposer) {
    for (const std::uint32_t index : refused_)
      if (Answer& answer = answers_[index]; answer.candidates.empty())
        pool_.refusals.push_back({.region = index, .backend = proposer.backend, .refusal = *std::move(answer.refusal)});
  }

  /// The region of these nodes when it can be a step at all.
  std::optional<std::uint32_t> index_of(NodeSet nodes, const NodeSet& repeated) {
    if (const auto known = regions_.find(nodes, repeated)) return known;
    if (illegal_.find(nodes, repeated)) return std::nullopt;
    Region region = make_region(graph_, uses_, std::move(nodes), repeated);
    if (reach_.is_convex(region.covered()) && has_passed_border(graph_, uses_, region))
      return regions_.intern(std::move(region));
    illegal_.intern(std::move(region));
    return std::nullopt;
  }

  /// Says at the candidates which rule asked for them; those without labels take the first that are offered.
  void note(const Answer& answer, const std::string& origin, const std::vector<Match>& matches) {
    for (const std::uint32_t c : answer.candidates) {
      Candidate& candidate = pool_.candidates[c];
      if (candidate.matches.empty()) candidate.matches = matches;
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
  std::vector<Answer> answers_;         ///< of the current backend, by region
  std::vector<std::uint32_t> refused_;  ///< regions, in the order of asking
};

}  // namespace

CandidatePool propose(const Graph& graph, const Uses& uses, std::span<const Proposer> proposers,
                      const ProposeOptions& options, const KnownProposals& known) {
  PoolBuilder pool(graph, uses);
  for (const Proposer& proposer : proposers) {
    const auto found = known.find(proposer.backend);
    if (found == known.end())
      pool.add(proposer, options);
    else
      pool.add(found->second);
  }
  return pool.take();
}

Region region_of(const CandidatePool& pool, const Candidate& candidate) {
  Region region = pool.regions[candidate.region];
  region.matches = candidate.matches;
  return region;
}

std::vector<std::vector<Match>> labels_for(const PartitionRules& rules, const Graph& graph, const Region& region) {
  const Graph alone = extract(graph, region);
  const Uses uses = uses_of(alone);
  const Reachability reach(alone, uses);
  const std::vector<std::size_t> nodes = region.nodes.members();
  std::vector<std::vector<Match>> labels;
  for (const Proposal& proposal : enumerate(rule_of(rules), {.graph = alone, .uses = uses, .reach = reach})) {
    if (proposal.matches.empty() || proposal.nodes.count() != nodes.size()) continue;
    std::vector<Match>& matches = labels.emplace_back();
    for (const Match& match : proposal.matches) {
      matches.push_back({.label = match.label, .nodes = NodeSet(graph.nodes.size())});
      for (const std::size_t n : match.nodes.members()) matches.back().nodes.insert(nodes[n]);
    }
  }
  return labels;
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
