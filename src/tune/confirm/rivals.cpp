#include "tune/confirm/rivals.h"

#include <fmt/format.h>

#include "store/artifact_file.h"
#include "store/keys.h"
#include "timing/machine.h"
#include "tune/confirm/level2.h"
#include "tune/confirm/whole_model.h"
#include "tune/jobs.h"

namespace collage {
namespace {

/// A model as an engine gets it.
struct RivalModel {
  const std::string& engine;
  const Graph& graph;
  const std::string& graph_file;
  const std::string& model_file;  ///< the user's bytes; empty: the graph's
};

Result<Artifact> artifact_of(const Scene& scene, const RivalModel& model, const Region& region) {
  COLLAGE_TRY(Backend * backend, scene.registry.get(model.engine));
  const BackendInfo& info = backend->info();
  const int threads = scene.options.threads;
  const std::string model_key =
      model.model_file.empty() ? structure_key(model.graph, region) : scene.prepared.imported.model_hash;
  const std::string key = fmt::format("rival|{}|{}|{}|{}|{}|{}|{}", info.name, info.build, threads, machine_print(),
                                      model_key, weights_hash(model.graph, region), scene.shapes_text());
  const std::string folder = scene.store.artifact_folder();
  if (const auto stored = scene.store.artifact(key))
    if (auto artifact = read_artifact(folder, *stored, region.constants)) return artifact;
  COLLAGE_TRY(const std::string hash, compile_model(scene.worker, {.graph = model.graph_file,
                                                                   .model = model.model_file,
                                                                   .engine = model.engine,
                                                                   .folder = folder,
                                                                   .threads = threads}));
  scene.store.put_artifact(key, hash);
  return read_artifact(folder, hash, region.constants);
}

/// An engine that brought its worker down while it compiled the simplified graph; nothing when it does not take it.
std::optional<FailedCandidate> failed_rival(const Scene& scene, const std::string& engine, const std::string& how) {
  const Graph& graph = scene.prepared.graph;
  const auto variant = plain_variant(scene.registry, engine, graph, whole_region(graph, uses_of(graph)),
                                     scene.who.rules(), scene.compile());
  const auto backend = scene.registry.get(engine);
  if (!variant || !backend) return std::nullopt;
  const BackendInfo& info = (*backend)->info();
  FailedCandidate failed{.graph = &graph,
                         .record_file = scene.prepared.record,
                         .bundle = {.backend = info.name,
                                    .kind = info.kind,
                                    .version = info.version,
                                    .build = info.build,
                                    .variant = *variant,
                                    .options = scene.compile(),
                                    .seed = scene.options.seed,
                                    .compile_limit = scene.options.compile_limit,
                                    .run_limit = scene.options.run_limit,
                                    .refusal = {.reason = RefusalReason::kCrashed, .detail = how},
                                    .stage = "compile",
                                    .machine = machine_print()}};
  for (std::size_t node = 0; node < graph.nodes.size(); ++node)
    failed.nodes.push_back(static_cast<std::uint32_t>(node));
  return failed;
}

void add_rival(const std::string& title, const RivalModel& model, const Scene& scene, ContestantMaker& maker,
               Contest& contest, std::vector<std::string>& notes) {
  auto made = [&]() -> Result<Contestant> {
    const Cover cover = whole_cover(model.graph, model.engine);
    COLLAGE_TRY(Artifact artifact, artifact_of(scene, model, cover.steps.front().region));
    return maker.make(title, model.graph, cover, {std::move(artifact)}, true);
  }();
  if (!made && model.model_file.empty() && made.error().code == "worker/died")
    if (auto failed = failed_rival(scene, model.engine, made.error().saw)) scene.repros.keep(*std::move(failed));
  if (made)
    contest.add(std::move(*made));
  else if (made.error().code == kOverMemory)
    notes.push_back(title + " left out: " + to_string(made.error()));
  else
    notes.push_back(title + " does not run this model: " + made.error().saw);
}

}  // namespace

Result<void> add_rivals(const Scene& scene, ContestantMaker& maker, Contest& contest, std::vector<std::string>& notes) {
  scene.say("rivals");
  const Prepared& prepared = scene.prepared;
  const Uses uses = uses_of(prepared.graph);
  const NodeSet all = whole_region(prepared.graph, uses).nodes;
  for (const std::string& name : scene.who.backends()) {
    COLLAGE_TRY(Backend * backend, scene.registry.get(name));
    if (!backend->info().is_engine) continue;
    if (scene.out_of_time() && contest.competing() > 0) break;
    if (!is_allowed(prepared.graph, all, name, scene.who.rules())) continue;
    if (!allows(prepared.graph, uses, scene.options.user_rules, all, name)) continue;
    add_rival(name, {name, prepared.imported.graph, prepared.imported_file, prepared.original_file}, scene, maker,
              contest, notes);
    add_rival(name + std::string(kOnSimplified), {name, prepared.graph, prepared.graph_file, ""}, scene, maker, contest,
              notes);
  }
  return {};
}

}  // namespace collage
