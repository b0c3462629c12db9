// The candidates of a graph with their costs, and the questions that are put to the search with them.
// In:  a pool. Out: a Priced: costs, artifacts of covers, requests for the search. On the way, bodies of control-flow
//       operators are placed, and adjacent steps of one backend in the best cover become candidates as one step.
// Cost: the share of the budget for measuring.
// Not here: measuring (pricing.h), the search (covers.h), plans and contests (tune/confirm/).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tune/objective.h"
#include "tune/pool.h"
#include "tune/price/bodies.h"
#include "tune/price/context.h"
#include "tune/price/cost_bounds.h"
#include "tune/price/precision_limits.h"
#include "tune/price/priced_before.h"
#include "tune/price/pricing.h"
#include "tune/price/pricing_memory.h"

namespace collage {

struct ScheduleContext;

/// Grows: schedules, evolved covers and failed artifacts add candidates and costs.
struct Priced {
  Pool pool;
  std::vector<Cost> costs;                        ///< by candidate
  std::vector<Unmeasured> why_unmeasured;         ///< by candidate
  std::optional<PricingMemory> memory_of_models;  ///< nothing when there was no pricing
  std::optional<PricingRecord> record;            ///< nothing when all was measured
  std::optional<CostBounds> bounds;               ///< nothing when there was no pricing
  std::unique_ptr<Pricing> pricing;               ///< measures what is asked for later; null for a graph without nodes
  std::optional<BodyPlacer> placer;
  Placements bodies;
  StepMemory memory;
  std::int64_t memory_cap = 0;  ///< bytes that the search may plan with; 0 = no limit
  std::size_t known_schedules = 0;
  /// The part of the best cover's cost that the second half of pricing saved; nothing where it is not known.
  std::optional<double> second_half_gain = std::nullopt;
  PrecisionLimits limits;  ///< so that outputs keep to their bound
  int times_outside = 0;   ///< how often plans were outside
  /// Why there are no covers: no time, a stop, rules, a cap of memory, no node.
  std::optional<Error> no_covers = std::nullopt;

  [[nodiscard]] bool has_covers() const { return !no_covers; }
  /// Of the graph and of bodies in it.
  [[nodiscard]] std::size_t candidate_count() const;
  [[nodiscard]] PriceCounts counts() const;
  /// The canary's, as far as known (timing/canary.h).
  [[nodiscard]] std::int64_t quiet_ns() const { return has_covers() ? pricing->quiet_ns() : 0; }
};

/// Places bodies; no other cost is known yet, but those of an earlier tune that the user named. What ends it is in
/// `no_covers`, such as tune/nobody-left: pins and bans leave a node without candidates.
[[nodiscard]] Priced open_pricing(const TuneTask& task, Pool pool, const MeasureEnv& env);

/// In place of open_pricing(): nothing is proposed or measured, for this reason.
[[nodiscard]] Priced without_covers(Error why, const MeasureEnv& env);

/// Forgets which kernels were found not to work, and how much memory steps take.
void restart_pricing(const TuneTask& task, const MeasureEnv& env, Priced& priced);

/// Before pricing: the candidates that `limits` forbids leave the pool, so that nothing is measured for them.
void drop_narrow(Priced& priced);

/// Measures what decides which covers are best, or, with --measure-all, everything; nothing where there are no covers.
/// What ends it is in `no_covers`; an exit kLimit: no cover is small enough.
void price(const TuneTask& task, const MeasureEnv& env, Priced& priced);

/// With everything known so far, measured costs corrected by context.
[[nodiscard]] CoverRequest cover_request(const TuneTask& task, const Priced& priced, const Corrections& corrections);

/// For steps of this cover, those of its bodies included, which it gets here. Errors tune/no-artifact, tune/no-time.
[[nodiscard]] Result<std::vector<Artifact>> make_artifacts(Priced& priced, Cover& cover, const ArtifactLimits& limits);

/// Lowers the cap of the search by what a plan took beyond the search's count: by small steps, since another cover may
/// be counted better. False when nothing is left.
[[nodiscard]] bool lower_cap(std::int64_t least_over_cap, std::int64_t asked_cap, Priced& priced);

/// What tuning schedules reads and adds to.
[[nodiscard]] ScheduleContext schedule_context(const TuneTask& task, const MeasureEnv& env, Priced& priced);

/// The costs of candidates that came since: measured, or those of the user's estimator where it stands for measuring.
[[nodiscard]] Result<std::vector<Cost>> price_fresh(const TuneTask& task, const CandidatePool& fresh,
                                                    const MeasureLimits& limits, Priced& priced);

/// Candidates that came since and have no cost were left out for want of time.
void note_unmeasured(const MeasureEnv& env, Priced& priced);

}  // namespace collage
