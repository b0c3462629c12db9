#include "tune/pool.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "backend/roles.h"
#include "region/weight_bytes.h"
#include "tune/node_rules.h"
#include "tune/proposers.h"
#include "tune/rehearsal.h"

namespace collage {
namespace {

/// The most weights in one step of an engine, for each second of the budget. Such a step is written, compiled and
/// loaded for each candidate that has it, which takes about a tenth of the budget (bert_base: 440 MB in 6 s).
constexpr std::size_t kBytesPerSecond = std::size_t{1} << 20U;

Result<KnownProposals> proposed_in_workers(const TuneTask& task, const Uses& uses) {
  KnownProposals known;
  for (const auto& [backend, file] : task.who.proposals) {
    if (concerns(task.options.user_rules, backend)) continue;
    COLLAGE_TRY(known[backend], read_proposals(file, task.graph(), uses));
  }
  return known;
}

}  // namespace

std::vector<std::string> notes_on_missing(const CandidatePool& pool) {
  std::set<std::string> told;
  for (const Candidate& candidate : pool.candidates) told.insert(candidate.backend);
  std::vector<std::string> notes;
  for (const RegionRefusal& one : pool.refusals)
    if (one.refusal.reason == RefusalReason::kMissing && told.insert(one.backend).second)
      notes.push_back(one.backend + " takes nothing: " + one.refusal.detail);
  return notes;
}

Pool without_large_steps(Pool pool, const TuneTask& task, const std::vector<std::string>& engines) {
  const Graph& graph = task.graph();
  const auto is_engine = [&](const Candidate& one) { return std::ranges::find(engines, one.backend) != engines.end(); };
  const auto may_mix = [&](const Candidate& one) { return !is_engine(one) && one.backend != kHostBackend; };
  const bool is_ruled = !task.who.rules.empty() || !task.options.user_rules.empty() || task.options.only;
  if (is_ruled || std::ranges::none_of(pool.candidates.candidates, may_mix)) return pool;
  const double most = task.options.budget_s * static_cast<double>(kBytesPerSecond);
  CandidatePool rest = pool.candidates;
  std::erase_if(rest.candidates, [&](const Candidate& candidate) {
    return is_engine(candidate) && static_cast<double>(weight_bytes(graph, rest.regions[candidate.region])) > most;
  });
  if (nodes_without_candidate(graph, rest).empty()) pool.candidates = std::move(rest);
  return pool;
}

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
  COLLAGE_TRY(const KnownProposals known, proposed_in_workers(task, uses));
  pool.candidates = propose(graph, uses, pool.proposers, {}, known);
  COLLAGE_TRY_VOID(keep_forced_regions(graph, task.options.user_rules, pool.candidates));
  pool.rule_effects = effects_of(graph, task.who.rules, pool.candidates);
  std::ranges::move(effects_of(graph, task.options.user_rules, pool.candidates), std::back_inserter(pool.rule_effects));
  if (!task.who.rules.empty()) pool.without_rules = pool.candidates;
  apply_rules(graph, task.who.rules, pool.candidates);
  return pool;
}

}  // namespace collage
