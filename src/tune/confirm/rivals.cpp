#include "tune/confirm/rivals.h"

#include <optional>
#include <thread>

#include <fmt/format.h>

#include "backend/roles.h"
#include "measure/repro_keeper.h"
#include "region/instance_name.h"
#include "region/weight_bytes.h"
#include "store/artifact_file.h"
#include "store/keys.h"
#include "timing/machine.h"
#include "tune/confirm/contest_time.h"
#include "tune/confirm/level2.h"
#include "tune/confirm/make_contestant.h"
#include "tune/confirm/output_check.h"
#include "tune/confirm/whole_model.h"
#include "tune/jobs.h"
#include "tune/too_late.h"

namespace collage {
namespace {

/// An engine that takes so many times as long as the fastest on the user's file is not tried on the simplified graph.
constexpr double kNear = 1.3;
/// Of the budget: later on no engine gets another form of the model. What it would take is needed for the covers.
constexpr double kFormsShare = 0.3;

/// A model as an engine gets it.
struct RivalModel {
  std::string engine;
  const Graph& graph;
  const std::string& graph_file;
  std::string model_file;  ///< the user's bytes; empty: the graph's
  std::string contents;    ///< tells it from other models and shapes
};

std::string contents_of(const TuneOptions& options, const std::string& model, const std::string& weights) {
  return fmt::format("{}|{}|{}", model, weights, shapes_text(options));
}

/// Of a graph that is no user's file.
std::string contents_of(const TuneOptions& options, const Graph& graph) {
  const Region whole = whole_region(graph, uses_of(graph));
  return contents_of(options, structure_key(graph, whole), weights_hash(graph, whole));
}

/// Under what the store has an engine's artifact.
Result<std::string> artifact_key(const TuneOptions& options, const MeasureEnv& env, const RivalModel& model) {
  COLLAGE_TRY(Backend * backend, env.registry.get(model.engine));
  const BackendInfo& info = backend->info();
  return fmt::format("rival|{}|{}|{}|{}|{}", info.name, info.build, options.threads, machine_print(), model.contents);
}

CompileModelJob compile_job(const TuneOptions& options, const MeasureEnv& env, const RivalModel& model) {
  return {.graph = model.graph_file,
          .model = model.model_file,
          .engine = model.engine,
          .folder = env.store.artifact_folder(),
          .threads = options.threads};
}

Result<Artifact> artifact_of(const TuneOptions& options, const MeasureEnv& env, const RivalModel& model,
                             const Region& region, EngineCompiler& compiler) {
  COLLAGE_TRY(const std::string key, artifact_key(options, env, model));
  const std::string folder = env.store.artifact_folder();
  if (const auto stored = env.store.artifact(key))
    if (auto artifact = read_artifact(folder, *stored, region.constants)) return artifact;
  auto ahead = compiler.take(model.engine);
  COLLAGE_TRY(const std::string hash,
              ahead ? *std::move(ahead) : compile_model(env.worker, compile_job(options, env, model)));
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
               Contest& contest, EngineCompiler& compiler) {
  auto made = [&]() -> Result<Contestant> {
    const Cover cover = whole_cover(model.graph, model.engine);
    COLLAGE_TRY(Artifact artifact,
                artifact_of(task.options, env, model, *chosen_region(cover.steps.front()), compiler));
    COLLAGE_TRY(Contestant rival, make_rival(task, env, title, model.graph, cover, std::move(artifact)));
    COLLAGE_TRY_VOID(check_cap(rival, task.options.objective, contest));
    rival.may_ship = !task.options.for_library && !task.options.ablations.any() &&
                     keeps_bound_left_alone(task, env, model.engine, rival, contest);
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

/// The same graph for each engine.
std::vector<RivalModel> simplified_graph_for(const std::vector<std::string>& engines, const TuneTask& task) {
  const Prepared& prepared = task.prepared;
  const std::string contents = contents_of(task.options, prepared.graph);
  std::vector<RivalModel> models;
  for (const std::string& engine : engines)
    models.push_back({engine, prepared.graph, prepared.graph_file, {}, contents});
  return models;
}

bool add_on_simplified(const RivalModel& model, const TuneTask& task, const MeasureEnv& env, Contest& contest,
                       EngineCompiler& compiler) {
  return add_rival(model.engine + std::string(kOnSimplified), model, task, env, contest, compiler);
}

/// An engine that did not run may be near, too: perhaps it fails on the user's file alone. One that had a single round
/// is told by that.
bool is_near_winner(const Contestant& contestant, const Contest& contest) {
  const std::int64_t winner_ns = contest.winner().median_ns;
  if (contestant.median_ns == 0 || winner_ns == 0) return true;
  return contestant.ratio ? contestant.ratio->low <= kNear
                          : static_cast<double>(contestant.median_ns) <= kFarBehind * static_cast<double>(winner_ns);
}

/// An engine at its own precision that errs so much on the user's file does so on the simplified graph as well.
bool rounds_too_much(const Contestant& contestant) {
  return is_at_default_precision(contestant.cover.steps.front().backend) && !contestant.share.has_reserve();
}

/// Those of the rivals that may run the whole model.
Result<std::vector<std::string>> engines_allowed(const TuneOptions& options, const Participants& who,
                                                 const Graph& graph, const MeasureEnv& env) {
  const Uses uses = uses_of(graph);
  const NodeSet all = whole_region(graph, uses).nodes;
  std::vector<std::string> engines;
  for (const std::string& name : who.rivals) {
    COLLAGE_TRY(Backend * backend, env.registry.get(name));
    if (backend->info().is_engine && is_allowed(graph, all, name, who.rules) &&
        allows(graph, uses, options.user_rules, all, name))
      engines.push_back(name);
  }
  return engines;
}

/// Engines at their own default precision may be outside of the bound: they are no plan that certainly ships.
bool has_full_precision(const Contest& contest) {
  return std::ranges::any_of(contest.competing, [](const Contestant& contestant) {
    return !is_at_default_precision(contestant.cover.steps.front().backend);
  });
}

/// The same model for each engine.
std::vector<RivalModel> users_file_for(const std::vector<std::string>& engines, const TuneOptions& options,
                                       const ImportedModel& model) {
  const Graph& graph = model.imported.graph;
  const std::string key = model.original_file.empty() ? structure_key(graph, whole_region(graph, uses_of(graph)))
                                                      : model.imported.model_hash;
  const std::string contents = contents_of(options, key, model.weights);
  std::vector<RivalModel> models;
  for (const std::string& engine : engines)
    models.push_back({engine, graph, model.imported_file, model.original_file, contents});
  return models;
}

/// Starts all but the first of those that are not stored, as far as there are processors and the model is not so large
/// that two engines at work might take too much memory.
void start_ahead(const std::vector<RivalModel>& models, const TuneOptions& options, const MeasureEnv& env,
                 EngineCompiler& compiler) {
  if (models.empty() || weight_bytes(models.front().graph) > kMostBytesAtOnce) return;
  bool is_first = true;
  for (const RivalModel& model : models) {
    const auto key = artifact_key(options, env, model);
    if (!key || env.store.artifact(*key)) continue;
    if (compiler.running() + 1 >= std::thread::hardware_concurrency()) break;
    if (!is_first) compiler.start(options.worker_command, compile_job(options, env, model));
    is_first = false;
  }
}

/// Whether an engine can still take part without the tune taking longer than asked. Waits for one that compiles.
bool is_in_time(const std::string& engine, const EngineCompiler& compiler, const TuneTask& task,
                const MeasureEnv& env) {
  const auto is_late = [&] {
    return is_too_late("whole model of " + engine, Budget::kPricingShare * env.budget.seconds(), task, env);
  };
  if (is_late()) return false;
  return compiler.is_ready_by(env.budget.after(Budget::kPricingShare), engine) || !is_late();
}

}  // namespace

EngineCompiler compile_ahead(const TuneOptions& options, const Participants& who, const ImportedModel& model,
                             const MeasureEnv& env) {
  EngineCompiler compiler;
  // Whoever cannot be asked is told of when the contest opens.
  if (const auto engines = engines_allowed(options, who, model.imported.graph, env))
    start_ahead(users_file_for(*engines, options, model), options, env, compiler);
  return compiler;
}

Result<Contest> open_contest(const TuneTask& task, const MeasureEnv& env, EngineCompiler compiler) {
  env.say("rivals");
  Contest contest;
  COLLAGE_TRY(const std::vector<std::string> engines, engines_allowed(task.options, task.who, task.graph(), env));
  if (engines.empty()) return contest;
  const std::vector<RivalModel> models = users_file_for(engines, task.options, task.prepared);
  start_ahead(models, task.options, env, compiler);
  for (const RivalModel& model : models) {
    if (has_full_precision(contest)) {
      if (env.stop.stop_requested()) break;
      if (!is_in_time(model.engine, compiler, task, env)) {
        contest.is_cut = true;
        contest.notes.push_back(
            fmt::format("{} left out: it had not compiled the model when {:.0f} % of the budget was over", model.engine,
                        100 * Budget::kPricingShare));
        continue;
      }
    }
    if (add_rival(model.engine, model, task, env, contest, compiler)) continue;
    EngineCompiler none;
    add_on_simplified(simplified_graph_for({model.engine}, task).front(), task, env, contest, none);
  }
  return contest;
}

bool enter_reference(const TuneTask& task, const MeasureEnv& env, Contest& contest) {
  const std::string reference = kReferenceEngine;
  const auto engines = engines_allowed(task.options, task.who, task.graph(), env);
  const auto is_of_its_library = [&](const std::string& name) {
    return kind_of_instance(name) == kind_of_instance(reference);
  };
  if (!engines || std::ranges::none_of(*engines, is_of_its_library)) return false;
  const Prepared& prepared = task.prepared;
  const RivalModel model{reference,
                         prepared.imported.graph,
                         prepared.imported_file,
                         {},
                         contents_of(task.options, prepared.imported.graph)};
  EngineCompiler none;
  return add_rival(reference, model, task, env, contest, none);
}

void enter_on_simplified(const TuneTask& task, const MeasureEnv& env, Contest& contest) {
  // Where runs take long, more contestants would take the time of candidates, or come after the end.
  if (!has_time_for_second_forms(contest.last.seconds, env.budget.seconds())) return;
  std::vector<std::string> engines;
  for (const Contestant& contestant : contest.competing)
    if (!contestant.name.ends_with(kOnSimplified) && is_near_winner(contestant, contest) &&
        !rounds_too_much(contestant))
      engines.push_back(contestant.name);
  env.say("rivals");
  const std::vector<RivalModel> models = simplified_graph_for(engines, task);
  EngineCompiler compiler;
  const auto is_late = [&](const std::string& engine) {
    return is_too_late("second form of " + engine, kFormsShare * env.budget.seconds(), task, env);
  };
  for (const RivalModel& model : models) {
    if (env.stop.stop_requested()) return;
    if (is_late(model.engine)) continue;
    start_ahead(models, task.options, env, compiler);
    add_on_simplified(model, task, env, contest, compiler);
  }
}

}  // namespace collage
