#include "tune/objective.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace collage {
namespace {

std::string way(const std::string& backend, const Variant& variant) { return backend + "/" + variant.name; }

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  constexpr std::int64_t kKibi = 1024;
  if (bytes < kKibi) return fmt::format("{} bytes", bytes);
  const bool is_small = bytes < kKibi * kKibi;
  const std::int64_t unit = is_small ? kKibi : kKibi * kKibi;
  return fmt::format("{} {} ({} bytes)", (bytes + unit - 1) / unit, is_small ? "KiB" : "MiB", bytes);
}

std::int64_t inner_bytes(const Graph& graph, const Region& region) {
  const std::vector<std::size_t> nodes = region.nodes.members();  // in topological order
  std::map<ValueId, std::size_t> last_reader;
  for (const std::size_t n : nodes)
    for (const ValueId id : graph.nodes[n].inputs)
      if (id.valid()) last_reader[id] = n;
  std::map<std::size_t, std::int64_t> freed;  // bytes, by last reader
  std::int64_t alive = 0;
  std::int64_t most = 0;
  for (const std::size_t n : nodes) {
    for (const ValueId id : graph.nodes[n].outputs) {
      const auto reader = last_reader.find(id);
      if (reader == last_reader.end() || std::ranges::find(region.outputs, id) != region.outputs.end()) continue;
      const ValueType& type = graph.value(id).type;
      if (!type.is_static()) continue;
      const auto bytes = static_cast<std::int64_t>(byte_count(type.element, type.extents()));
      alive += bytes;
      freed[reader->second] += bytes;
    }
    most = std::max(most, alive);
    alive -= freed[n];
  }
  return most;
}

std::int64_t StepMemory::of(const Graph& graph, const Region& region, const std::string& backend,
                            const Variant& variant) const {
  if (is_engine_(backend)) return inner_bytes(graph, region);
  const auto found = scratch_.find({region.nodes, way(backend, variant)});
  return found == scratch_.end() ? 0 : found->second;
}

void StepMemory::learn(const Cover& cover, const std::vector<Artifact>& artifacts) {
  for (std::size_t s = 0; s < cover.steps.size(); ++s) {
    const auto* const kernel = std::get_if<CoverKernel>(&cover.steps[s].work);
    if (kernel != nullptr)
      scratch_[{kernel->region.nodes, way(cover.steps[s].backend, kernel->variant)}] =
          static_cast<std::int64_t>(artifacts[s].workspace_bytes);
  }
}

IsEngine engines_of(Registry& registry) {
  return [&registry](const std::string& name) {
    const auto backend = registry.get(name);
    return backend && (*backend)->info().is_engine;
  };
}

std::int64_t plan_bytes(const Graph& graph, const Cover& cover, const Plan& plan, const IsEngine& is_engine) {
  std::int64_t inside = 0;
  for (const CoverStep& step : cover.steps)
    if (is_kernel(step) && is_engine(step.backend)) inside = std::max(inside, inner_bytes(graph, *chosen_region(step)));
  return static_cast<std::int64_t>(plan.arena_bytes) + inside;
}

}  // namespace collage
