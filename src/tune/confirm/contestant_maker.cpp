#include "tune/confirm/contestant_maker.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "timing/machine.h"
#include "tune/confirm/assemble.h"

namespace collage {
namespace {

Plan header(const Scene& scene, const std::string& shipped) {
  Plan header;
  header.model_path = scene.options.model;
  header.model_hash = scene.prepared.imported.model_hash;
  header.shapes = scene.options.shapes.entries;
  header.machine = machine_print();
  header.accuracy = name_of(scene.options.accuracy);
  header.passes_off = scene.options.passes_off;
  header.threads = scene.options.threads;
  header.shipped = shipped;
  return header;
}

}  // namespace

Result<Contestant> ContestantMaker::make(const std::string& name, const Graph& graph, const Cover& cover,
                                         std::vector<Artifact> artifacts, bool is_rival) {
  const AssembleRequest assembly{.graph = &graph,
                                 .cover = &cover,
                                 .artifacts = std::move(artifacts),
                                 .header = header(scene_, is_rival ? name : "cover")};
  COLLAGE_TRY(RealisedPlan plan, assemble(assembly, scene_.registry));
  const std::int64_t bytes = memory_.of(graph, cover, plan.plan);
  const Objective& objective = scene_.options.objective;
  if (objective.memory_cap > 0 && bytes > objective.memory_cap) {
    least_over_cap_ = std::min(least_over_cap_.value_or(bytes), bytes);
    return fail(ExitCode::kUnsupported, kOverMemory, name, fmt::format("{} bytes", bytes),
                fmt::format("at most {} bytes", objective.memory_cap));
  }
  return Contestant{.name = name,
                    .plan = std::move(plan),
                    .is_rival = is_rival,
                    .extra_ns = std::llround(objective.ns_per_byte * static_cast<double>(bytes)),
                    .memory_bytes = bytes,
                    .cover = cover};
}

}  // namespace collage
