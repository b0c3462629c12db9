// The candidates of a graph: what the backends that take part offer, under the user's rules.
// In: the prepared graph, participants with what they proposed in a worker, rules. Out: a Pool.
// How: what a worker was told is read from its file. Asked in this process is who proposed in no worker of this tune
//      (participants.h), and whom a --rules file concerns: a worker tries the backend as such and is told no rules.
//      Regions that come up later, in bodies, unions of neighbours and level 2, are asked about in this process, too.
// Not here: what candidates cost (tune/price/priced.h), proposing itself (region/candidates.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "region/candidates.h"
#include "tune/measure_env.h"
#include "tune/report/rule_effects.h"
#include "tune/tune_task.h"

namespace collage {

struct Pool {
  CandidatePool candidates;
  CandidatePool without_rules;               ///< the same without pins and bans; empty where there are none
  std::vector<Proposer> proposers;           ///< who takes part; for regions that come up later
  std::vector<RuleEffect> rule_effects;      ///< of the user's rules: pins and bans, then --rules in their order
  std::map<std::string, std::string> rules;  ///< backend -> its own rules for which regions it is asked about
};

/// Errors of the backends and of the user's rules. The task outlives the pool.
[[nodiscard]] Result<Pool> propose_pool(const TuneTask& task, const MeasureEnv& env);

}  // namespace collage
