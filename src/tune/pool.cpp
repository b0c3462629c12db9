#include "tune/pool.h"

#include <algorithm>
#include <iterator>

#include "tune/node_rules.h"
#include "tune/proposers.h"

namespace collage {

Result<Pool> propose_pool(const TuneTask& task, const MeasureEnv& env) {
  Pool pool;
  const Graph& graph = task.graph();
  if (graph.nodes.empty()) return pool;
  const Uses uses = uses_of(graph);
  env.say("propose");
  COLLAGE_TRY(pool.proposers, make_proposers(env.registry, task.who.proposing, graph, task.options.compile()));
  for (const Proposer& one : pool.proposers)
    if (one.rules.own) pool.rules[one.backend] = to_text(*one.rules.own);
  add_user_rules(graph, task.options.user_rules, pool.proposers);
  pool.candidates = propose(graph, uses, pool.proposers);
  COLLAGE_TRY_VOID(keep_forced_regions(graph, task.options.user_rules, pool.candidates));
  pool.rule_effects = effects_of(graph, task.who.rules, pool.candidates);
  std::ranges::move(effects_of(graph, task.options.user_rules, pool.candidates), std::back_inserter(pool.rule_effects));
  if (!task.who.rules.empty()) pool.without_rules = pool.candidates;
  apply_rules(graph, task.who.rules, pool.candidates);
  return pool;
}

}  // namespace collage
