// The pool: all candidates that the participating backends offer for a graph, after the user's rules.
// In:  the prepared graph, the participants with what they proposed in a worker, rules. Out: a Pool.
// How: what a worker proposed is read from its file. This process itself asks the backends that proposed in no worker
//       of this tune (participants.h), and those that a --rules file concerns, because workers propose without rules.
//       It also asks about regions that come up later: in bodies, as unions of neighbours, and in level 2.
// Not here: the candidates' costs (tune/price/priced.h), proposing itself (region/candidates.h).
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

/// For each backend that takes nothing because something is missing on this machine: what that is.
[[nodiscard]] std::vector<std::string> notes_on_missing(const CandidatePool& pool);

/// Without the candidates by which these engines would run so much of a large model as one step that a good part of the
/// budget would go into compiling it. The engines compete with the whole model anyway, and a repeated block is measured
/// once. The pool as it is where the user gave rules or --only, where a node would be left without a candidate, or
/// where nobody else takes part.
[[nodiscard]] Pool without_large_steps(Pool pool, const TuneTask& task, const std::vector<std::string>& engines);

/// Errors of the backends and of the user's rules. The task outlives the pool.
[[nodiscard]] Result<Pool> propose_pool(const TuneTask& task, const MeasureEnv& env);

}  // namespace collage
