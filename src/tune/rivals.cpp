#include "tune/rivals.h"

#include <fmt/format.h>

#include "measure/artifact_file.h"
#include "measure/keys.h"
#include "measure/machine.h"
#include "tune/jobs.h"
#include "tune/level2.h"

namespace collage {

Result<Artifact> rival_artifact(const RivalModel& model, Registry& registry, Store& store, WorkerProcess& worker) {
  COLLAGE_TRY(Backend * backend, registry.get(model.engine));
  const BackendInfo& info = backend->info();
  const std::string model_key = model.model_file.empty() ? structure_key(model.graph, model.region) : model.model_hash;
  const std::string key =
      fmt::format("rival|{}|{}|{}|{}|{}|{}|{}", info.name, info.build, model.threads, machine_print(), model_key,
                  weights_hash(model.graph, model.region), model.shapes);
  if (const auto stored = store.artifact(key))
    if (auto artifact = read_artifact(store.artifact_folder(), *stored, model.region.constants)) return artifact;
  COLLAGE_TRY(const std::string hash, compile_model(worker, {.graph = model.graph_file,
                                                             .model = model.model_file,
                                                             .engine = model.engine,
                                                             .folder = store.artifact_folder(),
                                                             .threads = model.threads}));
  store.put_artifact(key, hash);
  return read_artifact(store.artifact_folder(), hash, model.region.constants);
}

std::optional<FailedCandidate> failed_rival(const CrashedRival& rival, const std::string& how, Registry& registry) {
  const auto variant = plain_variant(registry, rival.engine, rival.graph,
                                     whole_region(rival.graph, uses_of(rival.graph)), rival.rules, rival.compile);
  const auto backend = registry.get(rival.engine);
  if (!variant || !backend) return std::nullopt;
  const BackendInfo& info = (*backend)->info();
  FailedCandidate failed{.graph = &rival.graph,
                         .record_file = rival.record,
                         .bundle = {.backend = info.name,
                                    .kind = info.kind,
                                    .version = info.version,
                                    .build = info.build,
                                    .variant = *variant,
                                    .options = rival.compile,
                                    .seed = rival.seed,
                                    .compile_limit = rival.compile_limit,
                                    .run_limit = rival.run_limit,
                                    .refusal = {.reason = RefusalReason::kCrashed, .detail = how},
                                    .stage = "compile",
                                    .machine = machine_print()}};
  for (std::size_t node = 0; node < rival.graph.nodes.size(); ++node)
    failed.nodes.push_back(static_cast<std::uint32_t>(node));
  return failed;
}

}  // namespace collage
