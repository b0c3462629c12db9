// Times the plan that a tune makes when certain nodes must be run by certain backends, against the plan at hand.
// In:  a plan file with its explanation, rules. Out: how many times faster the other plan is.
// How: the plan's model is tuned with the plan's settings and a pin for each rule, then both are raced
// (api/tune/bench.h). Cost: of candidates whose costs are in the store, that of choosing and confirming; of others at
// most the budget. The race
//       takes some seconds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/tune/bench.h"
#include "tune/explain/what_if.h"

namespace collage {

struct MeasureWhatIfOptions {
  std::string plan;                  ///< path
  Signers signers = {};              ///< one of them must have signed it; empty = no signature is asked for
  std::optional<std::string> model;  ///< its present path; default: that in the plan
  std::string store;
  std::vector<std::string> worker_command;  ///< the program that measures, with its arguments
  ModelReader reader = {};                  ///< of the model
  double budget_s = 60;
  double seconds = 5;  ///< of the race
  Progress progress;
  std::stop_token stop;
};

/// The tune has the plan's own pins and bans, too. Errors cli/bad-option for what no tune can be given again (a rule
/// with a variant, a plan of
/// --rules); plan/other-model; bench/wrong-numbers; those of tune() and bench().
[[nodiscard]] Result<MeasuredWhatIf> measure_what_if(const RealisedPlan& plan, std::span<const WhatIfRule> rules,
                                                     const MeasureWhatIfOptions& options, Registry& registry);

}  // namespace collage
