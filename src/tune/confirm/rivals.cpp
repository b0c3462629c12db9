#include "tune/confirm/rivals.h"

#include <fmt/format.h>

#include "backend/roles.h"
#include "base/hash.h"
#include "measure/repro_keeper.h"
#include "store/artifact_file.h"
#include "store/keys.h"
#include "timing/machine.h"
#include "tune/confirm/level2.h"
#include "tune/confirm/make_contestant.h"
#include "tune/confirm/output_check.h"
#include "tune/confirm/whole_model.h"
#include "tune/jobs.h"

namespace collage {
namespace {

/// An engine that takes so many times as long as the fastest on the user's file is not tried on the simplified graph.
constexpr double kNear = 1.3;
/// Of the budget: later on no engine gets another form of the model. What it would take is needed for the covers.
constexpr double kFormsShare = 0.4;

/// A model as an engine gets it.
struct RivalModel {
  const std::string& engine;
  const Graph& graph;
  const std::string& graph_file;
  const std::string& model_file;  ///< the user's bytes; empty: the graph's
};

Result<Artifact> artifact_of(const TuneTask& task, const MeasureEnv& env, const RivalModel& model,
                             const Region& region) {
  COLLAGE_TRY(Backend * backend, env.registry.get(model.engine));
  const BackendInfo& info = backend->info();
  const int threads = task.options.threads;
  const std::string model_key =
      model.model_file.empty() ? structure_key(model.graph, region) : task.prepared.imported.model_hash;
  const std::string key = fmt::format("rival|{}|{}|{}|{}|{}|{}|{}", info.name, info.build, threads, machine_print(),
                                      model_key, weights_hash(model.graph, region), shapes_text(task.options));
  const std::string folder = env.store.artifact_folder();
  if (const auto stored = env.store.artifact(key))
    if (auto artifact = read_artifact(folder, *stored, region.constants)) return artifact;
  COLLAGE_TRY(const std::string hash, compile_model(env.worker, {.graph = model.graph_file,
                                                                 .model = model.model_file,
                                                                 .engine = model.engine,
                                                                 .folder = folder,
                                                                 .threads = threads}));
  env.store.put_artifact(key, hash);
  return read_artifact(folder, hash, region.constants);
}

/// An engine that brought its worker down while it compiled the simplified graph; nothing when it does not take it.
std::optional<FailedCandidate> failed_rival(const TuneTask& task, const MeasureEnv& env, const std::string& engine,
                                            const std::string& how) {
  const Graph& graph = task.graph();
  const auto variant = plain_variant(env.registry, engine, graph, whole_region(graph, uses_of(graph)), task.who.rules,
                                     task.options.compile());
  const auto backend = env.registry.get(engine);
  if (!variant || !backend) return std::nullopt;
  const BackendInfo& info = (*backend)->info();
  FailedCandidate failed{.graph = &graph,
                         .record_file = task.prepared.record,
                         .bundle = {.backend = info.name,
                                    .kind = info.kind,
                                    .version = info.version,
                                    .build = info.build,
                                    .variant = *variant,
                                    .options = task.options.compile(),
                                    .seed = task.options.seed,
                                    .compile_limit = task.options.compile_limit,
                                    .run_limit = task.options.run_limit,
                                    .refusal = {.reason = RefusalReason::kCrashed, .detail = how},
                                    .stage = "compile",
                                    .machine = machine_print()}};
  for (std::size_t node = 0; node < graph.nodes.size(); ++node)
    failed.nodes.push_back(static_cast<std::uint32_t>(node));
  return failed;
}

/// An engine at its own default precision may be right on one input and wrong on another: it ships only with a reserve.
bool keeps_bound_left_alone(const TuneTask& task, const MeasureEnv& env, const std::string& engine, Contestant& rival,
                            Contest& contest) {
  if (!is_at_default_precision(engine)) return true;
  const auto keeps = keeps_bound(task, env, rival, contest);
  return keeps && *keeps;
}

/// False when it does not take part.
bool add_rival(const std::string& title, const RivalModel& model, const TuneTask& task, const MeasureEnv& env,
               Contest& contest) {
  auto made = [&]() -> Result<Contestant> {
    const Cover cover = whole_cover(model.graph, model.engine);
    COLLAGE_TRY(Artifact artifact, artifact_of(task, env, model, *chosen_region(cover.steps.front())));
    COLLAGE_TRY(Contestant rival, make_rival(task, env, title, model.graph, cover, std::move(artifact)));
    COLLAGE_TRY_VOID(check_cap(rival, task.options.objective, contest));
    rival.may_ship = !task.options.for_library && keeps_bound_left_alone(task, env, model.engine, rival, contest);
    return rival;
  }();
  if (!made && model.model_file.empty() && made.error().code == "worker/died")
    if (auto failed = failed_rival(task, env, model.engine, made.error().saw)) env.repros.keep(*std::move(failed));
  const bool is_in = made.has_value();
  if (is_in)
    contest.add(std::move(*made));
  else if (made.error().code == kOverMemory)
    contest.notes.push_back(title + " left out: " + to_string(made.error()));
  else
    contest.notes.push_back(title + " does not run this model: " + made.error().saw);
  return is_in;
}

bool add_on_simplified(const std::string& name, const TuneTask& task, const MeasureEnv& env, Contest& contest) {
  const Prepared& prepared = task.prepared;
  return add_rival(name + std::string(kOnSimplified), {name, prepared.graph, prepared.graph_file, ""}, task, env,
                   contest);
}

/// An engine that did not run may be near, too: perhaps it fails on the user's file alone.
bool is_near_winner(const Contestant& contestant, const Contest& contest) {
  const bool is_timed = contestant.median_ns > 0 && contest.winner().median_ns > 0;
  return !is_timed || !contestant.ratio || contestant.ratio->low <= kNear;
}

/// Whether it is too late for one more form of the model. The same tune, asked for again, gets the same answer.
bool is_late_for(const std::string& engine, const TuneTask& task, const MeasureEnv& env) {
  const std::string key =
      "no second form|" + hash_hex(fmt::format("{}|{}|{}", engine, timing_question(task), env.budget.seconds()));
  if (env.store.verdict(key)) return true;
  const bool is_late = env.budget.elapsed_s() > kFormsShare * env.budget.seconds();
  if (is_late) env.store.put_verdict(key, "late");
  return is_late;
}

}  // namespace

Result<Contest> open_contest(const TuneTask& task, const MeasureEnv& env) {
  env.say("rivals");
  Contest contest;
  const Prepared& prepared = task.prepared;
  const Uses uses = uses_of(prepared.graph);
  const NodeSet all = whole_region(prepared.graph, uses).nodes;
  for (const std::string& name : task.who.rivals) {
    COLLAGE_TRY(Backend * backend, env.registry.get(name));
    if (!backend->info().is_engine) continue;
    if (env.out_of_time() && !contest.competing.empty()) break;
    if (!is_allowed(prepared.graph, all, name, task.who.rules)) continue;
    if (!allows(prepared.graph, uses, task.options.user_rules, all, name)) continue;
    const RivalModel on_file{name, prepared.imported.graph, prepared.imported_file, prepared.original_file};
    if (!add_rival(name, on_file, task, env, contest)) add_on_simplified(name, task, env, contest);
  }
  return contest;
}

void enter_on_simplified(const TuneTask& task, const MeasureEnv& env, Contest& contest) {
  std::vector<std::string> engines;
  for (const Contestant& contestant : contest.competing)
    if (!contestant.name.ends_with(kOnSimplified) && is_near_winner(contestant, contest))
      engines.push_back(contestant.name);
  env.say("rivals");
  for (const std::string& name : engines) {
    if (env.stop.stop_requested()) return;
    if (!is_late_for(name, task, env)) add_on_simplified(name, task, env, contest);
  }
}

}  // namespace collage
