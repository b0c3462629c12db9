#include "tune/confirm/make_contestant.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "timing/machine.h"
#include "tune/confirm/assemble.h"
#include "tune/objective.h"

namespace collage {
namespace {

Plan header(const TuneTask& task, const std::string& shipped) {
  Plan header;
  header.model_path = task.options.name_of_model();
  header.model_hash = task.prepared.imported.model_hash;
  header.shapes = task.options.shapes.entries;
  header.machine = machine_print();
  header.accuracy = to_string(task.options.output_bound());
  header.passes_off = task.options.passes_off;
  header.threads = task.options.threads;
  header.shipped = shipped;
  return header;
}

Result<Contestant> contestant(const TuneTask& task, const MeasureEnv& env, const std::string& name, bool is_rival,
                              const AssembleRequest& request) {
  COLLAGE_TRY(RealisedPlan plan, assemble(request, env.registry));
  const IsEngine is_engine = engines_of(env.registry);
  const std::int64_t bytes = plan_bytes(*request.graph, *request.cover, plan.plan, is_engine);
  return Contestant{.name = name,
                    .plan = std::move(plan),
                    .is_rival = is_rival,
                    .extra_ns = std::llround(task.options.objective.ns_per_byte * static_cast<double>(bytes)),
                    .memory_bytes = bytes,
                    .cover = *request.cover};
}

}  // namespace

Result<Contestant> make_contestant(const TuneTask& task, const MeasureEnv& env, const std::string& name,
                                   const Graph& graph, const Cover& cover, std::vector<Artifact> artifacts) {
  return contestant(
      task, env, name, false,
      {.graph = &graph, .cover = &cover, .artifacts = std::move(artifacts), .header = header(task, "cover")});
}

Result<Contestant> make_rival(const TuneTask& task, const MeasureEnv& env, const std::string& name, const Graph& graph,
                              const Cover& cover, Artifact artifact) {
  std::vector<Artifact> artifacts;
  artifacts.push_back(std::move(artifact));  // a list in braces would copy it, weights and all
  return contestant(
      task, env, name, true,
      {.graph = &graph, .cover = &cover, .artifacts = std::move(artifacts), .header = header(task, name)});
}

Result<void> check_cap(const Contestant& contestant, const Objective& objective, Contest& contest) {
  const std::int64_t bytes = contestant.memory_bytes;
  if (objective.memory_cap <= 0 || bytes <= objective.memory_cap) return {};
  contest.least_over_cap = std::min(contest.least_over_cap.value_or(bytes), bytes);
  return fail(ExitCode::kUnsupported, kOverMemory, contestant.name, fmt::format("{} bytes", bytes),
              fmt::format("at most {} bytes", objective.memory_cap));
}

}  // namespace collage
