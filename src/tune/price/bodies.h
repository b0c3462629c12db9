// Places the bodies of control-flow operators: each body is a graph of its own, with candidates, costs and a search.
// In:  a graph with its record and its pool of candidates.
// Out: one more candidate for every If, Loop and Scan whose bodies could be placed, or a refusal that says why not; the
//       bodies' covers and artifacts.
// How: a body runs once in the reference on the inputs that it had in the recorded run (of a loop: in the first
//       iteration), so that its values are known. It is then proposed, priced and searched like any graph, inner bodies
//       first. The new candidate costs the time of its bodies multiplied by how often they run.
// Cost: that of a tune of each body, until the deadline; after that only bodies of operators that no backend takes
//       whole.
// Not here: how bodies become steps (plan/control.h), running them (runtime/).
// Source: ours. Collage (Jeon et al., PACT 2022) places operators only; here bodies compete with engines that take the
//       whole operator.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/work_folder.h"
#include "numbers/record.h"
#include "region/rules/user_rules.h"
#include "region/variant.h"
#include "tune/node_rules.h"
#include "tune/price/pricing.h"
#include "worker/worker_process.h"

namespace collage {

struct BodiesOptions {
  std::vector<std::string> proposing;  ///< instances asked for candidates
  std::vector<std::string> backends;   ///< of these, those that may take any node
  bool host_fills = false;             ///< as in CoverRequest
  bool measures_all = false;           ///< as in TuneOptions
  std::vector<NodeRule> rules;
  UserRules user_rules;    ///< those that name nodes do not reach into bodies
  PricingOptions pricing;  ///< its files are those of the graph given
  MeasureLimits limits = {};
};

/// The bodies of one operator, ready for a plan.
struct PlacedBodies {
  std::vector<Cover> covers;        ///< in the order of bodies_of()
  std::vector<Artifact> artifacts;  ///< of the covers' steps, as AssembleRequest orders them
  std::int64_t cost_ns = 0;         ///< of one run of the operator
};

/// By node of the graph.
using Placements = std::map<std::size_t, PlacedBodies>;

/// What placing needs from the tune around it, which outlives it.
struct BodiesContext {
  Registry& registry;
  Store& store;
  WorkerProcess& worker;  ///< records the bodies' runs
  const WorkFolder& folder;
};

class BodyPlacer {
 public:
  BodyPlacer(BodiesOptions options, const BodiesContext& context);

  /// Adds a candidate of kControlBackend to `pool` and `costs`, or a refusal to `pool`, for every control-flow node
  /// that the rules allow. Errors are those of files and workers; a body that cannot be placed is a refusal.
  [[nodiscard]] Result<Placements> place(const Graph& graph, CandidatePool& pool, std::vector<Cost>& costs);

  /// For a cover with bodies that were placed before: the artifacts of all steps, as AssembleRequest orders them; those
  /// of its own steps come from `pricing`. Errors of Pricing::artifacts, and those of files and workers.
  [[nodiscard]] Result<std::vector<Artifact>> artifacts(const Graph& graph, const Cover& cover, Pricing& pricing,
                                                        const ArtifactLimits& limits);

  /// Of all bodies so far.
  [[nodiscard]] const PriceCounts& counts() const { return counts_; }
  [[nodiscard]] std::size_t candidate_count() const { return candidates_; }

 private:
  struct PlacedBody;

  /// `pricing` is the graph's; bodies nobody depends on are not placed after its deadline.
  [[nodiscard]] Result<Placements> place(const Graph& graph, const PricingOptions& pricing, CandidatePool& pool,
                                         std::vector<Cost>& costs);
  [[nodiscard]] Result<PlacedBodies> place_node(const Graph& graph, const Node& node, const PricingOptions& pricing);
  [[nodiscard]] Result<PlacedBody> place_body(const Graph& body, const PricingOptions& options);
  /// The best cover of a body whose artifacts can be made, given those of the bodies in it.
  [[nodiscard]] Result<PlacedBody> search(CoverRequest request, const Placements& inner, Pricing& pricing);
  [[nodiscard]] Result<std::vector<Cost>> price(CoverRequest request, Pricing& pricing);
  [[nodiscard]] Result<std::vector<Artifact>> artifacts(const Graph& graph, const std::string& record,
                                                        const Cover& cover, Pricing& pricing,
                                                        const ArtifactLimits& limits);
  /// Pricing of free_bodies()[number] of the node, which is `body`, on what its inputs were in `values`. The body's
  /// values of open shape get the extents that they had.
  [[nodiscard]] Result<PricingOptions> record_body(const Graph& graph, const Node& node, std::size_t number,
                                                   Graph& body, const Record& values);

  BodiesOptions options_;
  BodiesContext context_;
  PriceCounts counts_;
  std::size_t candidates_ = 0;
  std::size_t files_ = 0;
};

/// The region of a control-flow node as kControlBackend runs it: every port is plain.
[[nodiscard]] Variant placed_variant(const Region& region);

/// Gives the cover's control steps their bodies' covers.
void attach_bodies(const Placements& placements, Cover& cover);

/// `own` are the artifacts of the cover's own steps; those of the bodies' steps come after each control step.
[[nodiscard]] std::vector<Artifact> with_bodies(const Placements& placements, const Cover& cover,
                                                std::vector<Artifact> own);

}  // namespace collage
