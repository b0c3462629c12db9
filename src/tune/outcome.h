// What a tune ended with, told: its report, and what the plan's explanation is made of.
// In: the graph, candidates with costs, the contest. Out: a TuneReport; ExplainInputs.
// Cost: one search for the proven bound where candidates were not measured.
// Not here: the explanation itself (explanation.h), JSON (report.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tune/confirm/contest.h"
#include "tune/explain/alternatives.h"
#include "tune/explain/explanation.h"
#include "tune/participants.h"
#include "tune/price/bodies.h"
#include "tune/price/cost_bounds.h"
#include "tune/price/pricing.h"
#include "tune/report.h"

namespace collage {

/// What it refers to outlives it.
struct Outcome {
  const TuneOptions& options;
  const Graph& graph;
  const Participants& who;
  Contest& contest;  ///< with a winner
  const CandidatePool& pool;
  const std::vector<Cost>& costs;
  std::vector<Unmeasured> why_unmeasured;  ///< by candidate
  const Alternatives& alternatives;
  const std::vector<std::string>& notes;
  const std::vector<RuleEffect>& rules;                 ///< pins and bans, then --rules
  const std::map<std::string, std::string>& proposals;  ///< PricedPool::proposals()
  /// Null where there were no covers.
  Pricing* pricing = nullptr;
  const BodyPlacer* placer = nullptr;
  const CostBounds* bounds = nullptr;
  CoverRequest request = {};  ///< under costs measured alone
  bool has_bodies = false;
};

/// What was counted so far stays: candidates, schedules, times.
void fill_report(const Outcome& outcome, TuneReport& report);

/// Candidates without a time, by why.
void count_unmeasured(const Outcome& outcome, Ended& ended);

/// How many candidates were measured, reused and refused. Precondition: there is pricing.
void count_measured(const Outcome& outcome, TuneReport& report);

/// `report` is filled. Valid as long as the outcome.
[[nodiscard]] ExplainInputs explain_inputs(const Outcome& outcome, const TuneReport& report);

}  // namespace collage
