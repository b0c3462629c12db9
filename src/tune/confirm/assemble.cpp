#include "tune/confirm/assemble.h"

#include <set>
#include <span>

#include <fmt/format.h>

#include "backend/extensions/format_extension.h"
#include "backend/roles.h"
#include "onnx/export.h"
#include "plan/control.h"
#include "tune/proposers.h"

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
  if (const auto bytes = format_bytes(*owner, type, format)) return *bytes;
  return fail(ExitCode::kBug, "plan/unknown-format", format.name, to_string(type), "a format its owner knows");
}

Result<Artifact> copy_artifact(Registry& registry, const Conversion& conversion) {
  COLLAGE_TRY(Backend * host, registry.get(kHostBackend));
  auto artifact = compile_conversion(*host, conversion, {});
  if (artifact) return std::move(*artifact);
  return fail(ExitCode::kBug, "plan/no-copy", to_string(conversion.type), artifact.error().detail);
}

/// Backends and artifacts of a cover's steps, those inside bodies after the step that holds them.
void list_steps(const Cover& cover, std::span<const Artifact>& left, std::set<std::string>& names,
                std::vector<const Artifact*>& artifacts) {
  for (const CoverStep& step : cover.steps) {
    artifacts.push_back(has_artifact(step) ? &left.front() : nullptr);
    left = left.subspan(1);
    if (needs_backend(step)) names.insert(step.backend);
    for (const Cover& body : bodies_of(step)) list_steps(body, left, names, artifacts);
  }
}

Result<std::vector<PlanBackend>> plan_backends(const std::set<std::string>& names, Registry& registry) {
  std::vector<PlanBackend> result;
  for (const std::string& name : names) {
    COLLAGE_TRY(Backend * backend, registry.get(name));
    result.push_back({.name = name, .version = backend->info().version, .build = backend->info().build});
  }
  return result;
}

/// No backend of the cover computes what neither it nor the plan checks.
Result<void> refuse_unchecked(const Graph& graph, const Cover& cover, Registry& registry) {
  const std::vector<OpenCondition> open = open_conditions(graph);
  for (const CoverStep& step : cover.steps) {
    if (const auto* const kernel = std::get_if<CoverKernel>(&step.work)) {
      COLLAGE_TRY(const Backend* const backend, registry.get(step.backend));
      if (const auto refusal = refuse_operands(*backend, graph, open, kernel->region))
        return fail(ExitCode::kUnsupported, "plan/unchecked-operand", step.backend, refusal->detail,
                    "an operand that is checked before the step, or a library that refuses bad ones");
    }
    const auto* const control = std::get_if<CoverControl>(&step.work);
    if (control == nullptr || control->bodies.empty()) continue;
    const std::vector<Graph> bodies = free_bodies(graph, graph.nodes[control->region.nodes.next()]);
    for (std::size_t b = 0; b < bodies.size(); ++b)
      COLLAGE_TRY_VOID(refuse_unchecked(bodies[b], control->bodies[b], registry));
  }
  return {};
}

void set_structures(const Graph& graph, const Cover& cover, PlanBody& plan) {
  const std::vector<std::size_t> at = cover_steps(plan);
  for (std::size_t s = 0; s < cover.steps.size(); ++s) {
    const CoverStep& step = cover.steps[s];
    const Region* const region = chosen_region(step);
    if (region == nullptr || region->nodes.empty()) continue;
    PlanStep& made = plan.steps[at[s]];
    nodes_in(made)->structure = structure_key(graph, *region);
    const std::span<const Cover> covers = bodies_of(step);
    if (covers.empty()) continue;
    const std::vector<Graph> bodies = free_bodies(graph, graph.nodes[region->nodes.next()]);
    for (std::size_t b = 0; b < bodies.size(); ++b)
      set_structures(bodies[b], covers[b], std::get<PlanControl>(made.work).bodies[b]);
  }
}

}  // namespace

std::string annotated_onnx(const Graph& graph, const Cover& cover, const Plan& plan) {
  std::map<std::string, std::size_t> offsets;
  for (const PlanValue& value : plan.values)
    if (value.storage == Storage::kConstant && value.place.format.is_plain()) offsets[value.name] = value.offset;
  std::vector<std::vector<std::pair<std::string, std::string>>> metadata(graph.nodes.size());
  const std::vector<std::size_t> at = cover_steps(plan);
  for (std::size_t s = 0; s < cover.steps.size(); ++s) {
    const CoverStep& step = cover.steps[s];
    const Region* const region = chosen_region(step);
    if (region == nullptr) continue;
    const double cost_us = static_cast<double>(nanoseconds_of(step.cost).value_or(0)) / 1000;
    for (std::size_t node : region->covered().members())
      metadata[node] = {{"collage.step", std::to_string(at[s])},
                        {"collage.backend", step.backend + "/" + chosen_variant(step)->name},
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
  COLLAGE_TRY_VOID(refuse_unchecked(*request.graph, *request.cover, registry));
  RealiseRequest realisation;
  realisation.graph = request.graph;
  realisation.cover = request.cover;
  COLLAGE_CHECK(request.artifacts.size() == step_count(*request.cover), "one artifact for each step");
  std::set<std::string> names = {kHostBackend};
  std::span<const Artifact> artifacts = request.artifacts;
  list_steps(*request.cover, artifacts, names, realisation.artifacts);
  realisation.format_bytes = [&](const ValueType& type, const Format& format) {
    return named_format_bytes(registry, type, format);
  };
  realisation.copy_artifact = [&](const Conversion& conversion) { return copy_artifact(registry, conversion); };
  realisation.kept_constants = large_constants(*request.graph);
  realisation.header = request.header;
  COLLAGE_TRY(realisation.header.backends, plan_backends(names, registry));
  COLLAGE_TRY(RealisedPlan plan, realise(realisation));
  set_structures(*request.graph, *request.cover, plan.plan);
  const std::string onnx = annotated_onnx(*request.graph, *request.cover, plan.plan);
  plan.onnx = Buffer::copy_of(std::as_bytes(std::span(onnx)));
  return plan;
}

}  // namespace collage
