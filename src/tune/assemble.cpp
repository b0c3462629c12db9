#include "tune/assemble.h"

#include <set>

#include <fmt/format.h>

#include "backend/roles.h"
#include "onnx/export.h"

namespace collage {
namespace {

/// Constants at least this large go to weights.bin even when no step loads them, so that plan.onnx finds them there.
constexpr std::size_t kInlineLimit = 1024;

std::vector<ValueId> large_constants(const Graph& graph) {
  std::vector<ValueId> result;
  for (std::uint32_t v = 0; v < graph.values.size(); ++v)
    if (const auto& constant = graph.values[v].constant; constant && constant->data.size() > kInlineLimit)
      result.push_back(ValueId{v});
  return result;
}

Result<std::size_t> named_format_bytes(Registry& registry, const ValueType& type, const Format& format) {
  COLLAGE_TRY(Backend * owner, registry.get(format.owner()));
  if (const auto bytes = owner->format_bytes(type, format)) return *bytes;
  return fail(ExitCode::kBug, "plan/unknown-format", format.name, to_string(type), "a format its owner knows");
}

Result<Artifact> copy_artifact(Registry& registry, const Conversion& conversion) {
  COLLAGE_TRY(Backend * host, registry.get(kHostBackend));
  auto artifact = host->compile_conversion(conversion, {});
  if (artifact) return std::move(*artifact);
  return fail(ExitCode::kBug, "plan/no-copy", to_string(conversion.type), artifact.error().detail);
}

Result<std::vector<PlanBackend>> backends_of(const Cover& cover, Registry& registry) {
  std::set<std::string> names = {kHostBackend};
  for (const CoverStep& step : cover.steps)
    if (step.kind != StepKind::kView) names.insert(step.backend);
  std::vector<PlanBackend> result;
  for (const std::string& name : names) {
    COLLAGE_TRY(Backend * backend, registry.get(name));
    result.push_back({.name = name, .version = backend->info().version, .build = backend->info().build});
  }
  return result;
}

}  // namespace

std::string annotated_onnx(const Graph& graph, const Cover& cover, const Plan& plan) {
  std::map<std::string, std::size_t> offsets;
  for (const PlanValue& value : plan.values)
    if (value.storage == Storage::kConstant && value.format.is_plain()) offsets[value.name] = value.offset;
  std::vector<std::vector<std::pair<std::string, std::string>>> metadata(graph.nodes.size());
  for (std::size_t s = 0; s < cover.steps.size(); ++s) {
    const CoverStep& step = cover.steps[s];
    if (step.region.nodes.universe() == 0) continue;
    const double cost_us = static_cast<double>(nanoseconds_of(step.cost).value_or(0)) / 1000;
    for (std::size_t node : step.region.nodes.members())
      metadata[node] = {{"collage.step", std::to_string(s)},
                        {"collage.backend", step.backend + "/" + step.variant.name},
                        {"collage.cost_us", fmt::format("{:.3f}", cost_us)},
                        {"collage.runner_up", step.runner_up}};
  }
  ExportOptions options;
  options.inline_limit = kInlineLimit;
  options.keep_ids = false;
  options.external = [&](ValueId id) -> std::optional<ExternalLocation> {
    const auto found = offsets.find(graph.value(id).name);
    if (found == offsets.end()) return std::nullopt;
    return ExternalLocation{.file = "weights.bin", .offset = found->second};
  };
  options.node_metadata = [&](NodeId node) { return metadata[node.index]; };
  return export_graph(graph, options);
}

Result<RealisedPlan> assemble(const AssembleRequest& request, Registry& registry) {
  RealiseRequest realisation;
  realisation.graph = request.graph;
  realisation.cover = request.cover;
  for (std::size_t s = 0; s < request.cover->steps.size(); ++s)
    realisation.artifacts.push_back(request.cover->steps[s].kind == StepKind::kView ? nullptr : &request.artifacts[s]);
  realisation.format_bytes = [&](const ValueType& type, const Format& format) {
    return named_format_bytes(registry, type, format);
  };
  realisation.copy_artifact = [&](const Conversion& conversion) { return copy_artifact(registry, conversion); };
  realisation.kept_constants = large_constants(*request.graph);
  realisation.header = request.header;
  COLLAGE_TRY(realisation.header.backends, backends_of(*request.cover, registry));
  COLLAGE_TRY(RealisedPlan plan, realise(realisation));
  for (std::size_t s = 0; s < request.cover->steps.size(); ++s)
    if (const Region& region = request.cover->steps[s].region; !region.nodes.empty())
      plan.plan.steps[s].structure = structure_key(*request.graph, region);
  const std::string onnx = annotated_onnx(*request.graph, *request.cover, plan.plan);
  plan.onnx = Buffer::copy_of(std::as_bytes(std::span(onnx)));
  return plan;
}

}  // namespace collage
