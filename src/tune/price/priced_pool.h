// The candidates of a graph with their costs, and the covers under them.
// In: the prepared graph, who takes part. Out: a pool, costs, requests for the search, artifacts of covers; bodies of
// control-flow operators are placed on the way.
// Cost: the share of the budget that is for measuring.
// Not here: measuring (pricing.h), the search (covers.h), plans and contests (contest.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tune/explain/explanation.h"
#include "tune/objective.h"
#include "tune/price/bodies.h"
#include "tune/price/context.h"
#include "tune/price/cost_bounds.h"
#include "tune/price/pricing.h"
#include "tune/rule_effects.h"
#include "tune/scene.h"
#include "tune/schedules/schedule_stage.h"

namespace collage {

/// One thread. The scene and the memory outlive it.
class PricedPool {
 public:
  PricedPool(const Scene& scene, StepMemory& memory)
      : scene_(scene), memory_(memory), cap_(scene.options.objective.memory_cap) {}
  PricedPool(const PricedPool&) = delete;
  PricedPool& operator=(const PricedPool&) = delete;

  /// Proposes and measures. An error of exit kLimit: no cover is small enough; tune/nobody-left: pins and bans leave a
  /// node without candidates.
  [[nodiscard]] Result<void> fill();
  /// There are no covers from then on.
  void give_up() { pricing_.reset(); }
  [[nodiscard]] bool has_covers() const { return pricing_.has_value(); }

  /// Everything known so far, measured costs corrected by context.
  [[nodiscard]] CoverRequest request(const Corrections& corrections) const;
  /// For steps of this cover, those of its bodies included, which it gets here. Error tune/no-artifact.
  [[nodiscard]] Result<std::vector<Artifact>> artifacts(Cover& cover);
  /// Once more, as the pricing makes them now (Pricing::make_portable).
  [[nodiscard]] Result<std::vector<Artifact>> remade_artifacts(const Cover& cover);
  /// Engines' regions of an evolved cover become candidates (add_engine_regions).
  [[nodiscard]] Result<void> add_regions_of(Cover& cover, const Corrections& corrections);
  /// Of the search, by what a plan took beyond the search's count: small bites, since another cover may be counted
  /// better. False when nothing is left.
  [[nodiscard]] bool lower_cap(std::int64_t least_over_cap);
  /// Candidates that came since and have no cost were left out for want of time.
  void note_unmeasured();

  /// Precondition for these: has_covers().
  [[nodiscard]] Pricing& pricing() { return *pricing_; }
  [[nodiscard]] ScheduleContext schedules();

  [[nodiscard]] const CandidatePool& pool() const { return pool_; }
  [[nodiscard]] const std::vector<Cost>& costs() const { return costs_; }
  /// By candidate.
  [[nodiscard]] std::vector<Unmeasured> why_unmeasured() const;
  /// Of the user's rules: pins and bans, then --rules in their order.
  [[nodiscard]] const std::vector<RuleEffect>& rule_effects() const { return rule_effects_; }
  /// Backend -> its own rules for which regions it is asked about, where it has such.
  [[nodiscard]] const std::map<std::string, std::string>& proposals() const { return proposals_; }
  [[nodiscard]] const Placements& bodies() const { return bodies_; }
  /// Null before fill().
  [[nodiscard]] const BodyPlacer* placer() const { return placer_ ? &*placer_ : nullptr; }
  /// Null before fill().
  [[nodiscard]] const CostBounds* bounds() const { return bounds_ ? &*bounds_ : nullptr; }
  /// Bodies' too.
  [[nodiscard]] std::size_t candidate_count() const;
  [[nodiscard]] std::size_t known_schedules() const { return known_schedules_; }

 private:
  [[nodiscard]] Result<CandidatePool> proposed(std::span<const Proposer> proposers);
  [[nodiscard]] Error too_small_cap(Error error);
  [[nodiscard]] Result<void> place_bodies();
  [[nodiscard]] Result<std::vector<Cost>> price();
  [[nodiscard]] Result<void> join_neighbours(const Uses& uses, std::span<const Proposer> proposers);
  [[nodiscard]] Result<void> write_cost_table() const;
  [[nodiscard]] Unmeasured why_not_measured(bool lazily) const;
  [[nodiscard]] PricingOptions pricing_options() const;
  [[nodiscard]] PricingOptions bodies_pricing() const;
  [[nodiscard]] std::vector<std::string> converters() const;

  const Scene& scene_;
  StepMemory& memory_;
  std::int64_t cap_;  ///< bytes the search may plan with; 0 = no limit
  CandidatePool pool_;
  std::vector<Cost> costs_;
  std::vector<Unmeasured> why_unmeasured_;  ///< by candidate; those that came last may be missing
  std::optional<CostBounds> bounds_;
  std::optional<Pricing> pricing_;
  std::optional<BodyPlacer> placer_;
  Placements bodies_;
  std::vector<RuleEffect> rule_effects_;
  std::map<std::string, std::string> proposals_;
  std::size_t known_schedules_ = 0;
};

}  // namespace collage
