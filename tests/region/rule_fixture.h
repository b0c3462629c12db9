// What tests of rules share: a graph with its uses, and proposals as a set of texts.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "region/candidates.h"
#include "region/check_region.h"
#include "region/rules/partition_rule.h"
#include "region/variant.h"
#include "tests/support/acceptance_graphs.h"

namespace collage::testing_support {

inline constexpr RegionLimits kOneOutput = {.max_outputs = 1};

using Texts = std::set<std::string>;

struct Subject {
  explicit Subject(Graph made) : graph(std::move(made)), uses(uses_of(graph)), reach(graph, uses) {}

  [[nodiscard]] Region region(const std::vector<std::size_t>& nodes) const {
    return make_region(graph, uses, node_set(graph, nodes));
  }
  [[nodiscard]] std::expected<void, RegionFault> check(const std::vector<std::size_t>& nodes,
                                                       const RegionLimits& limits,
                                                       const std::vector<Match>& matches = {}) const {
    return check_region(graph, uses, reach, region(nodes), limits, matches);
  }
  /// The first reason against the region, or "legal".
  [[nodiscard]] std::string verdict(const std::vector<std::size_t>& nodes, const RegionLimits& limits,
                                    const std::vector<Match>& matches = {}) const {
    static const std::vector<std::string> kReasons = {"nodes", "outputs", "depth",    "body",
                                                      "taps",  "matches", "convexity"};
    const auto checked = check(nodes, limits, matches);
    return checked ? "legal" : kReasons.at(static_cast<std::size_t>(checked.error().reason));
  }
  [[nodiscard]] std::vector<Proposal> proposals(const PartitionRule& rule) const {
    return enumerate(rule, {.graph = graph, .uses = uses, .reach = reach});
  }
  /// The proposals of a rule as "{0,1}".
  [[nodiscard]] Texts sets(const PartitionRule& rule) const {
    Texts texts;
    for (const Proposal& proposal : proposals(rule)) {
      const std::string text = to_string(proposal.nodes);
      EXPECT_TRUE(texts.insert(text).second) << text << " twice";
    }
    return texts;
  }
  [[nodiscard]] std::string names(const std::vector<ValueId>& ids) const {
    std::string text;
    for (const ValueId id : ids) text += (text.empty() ? "" : ",") + graph.value(id).name;
    return text;
  }
  [[nodiscard]] Match match(const std::string& label, const std::vector<std::size_t>& nodes) const {
    return {.label = label, .nodes = node_set(graph, nodes)};
  }

  Graph graph;
  Uses uses;
  Reachability reach;
};

inline std::vector<Variant> plain_variant(const Region& region) {
  return {{.name = "default",
           .input_formats = std::vector<Format>(region.inputs.size()),
           .output_formats = std::vector<Format>(region.outputs.size())}};
}

/// A backend that takes whatever its rules propose.
inline Proposer willing(std::string name, PartitionRules rules) {
  return {.backend = std::move(name),
          .rules = std::move(rules),
          .support = [](const Region& region) -> std::expected<std::vector<Variant>, Refusal> {
            return plain_variant(region);
          }};
}
inline Proposer willing(std::string name, PartitionRule own) {
  PartitionRules rules;
  rules.own = std::move(own);
  return willing(std::move(name), std::move(rules));
}

/// The candidates of a pool as "backend {0,1}".
inline Texts candidates_of(const CandidatePool& pool) {
  Texts texts;
  for (const Candidate& candidate : pool.candidates)
    texts.insert(candidate.backend + " " + to_string(pool.regions[candidate.region].nodes));
  return texts;
}

}  // namespace collage::testing_support
