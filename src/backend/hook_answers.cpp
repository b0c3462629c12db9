#include "backend/hook_answers.h"

#include <algorithm>

#include <fmt/format.h>

#include "region/pattern_match.h"

namespace collage {
namespace {

/// Why an instance that says this of itself cannot be; empty when it can.
std::string contradiction_in(const BackendInfo& info, const BackendHooks& hooks) {
  if (info.location != kHome) return "kernels at " + info.location + ", while hooks compute at " + kHome;
  if (info.is_engine && hooks.compile == nullptr) return "an engine without compile";
  if (info.is_engine && hooks.lower != nullptr) return "an engine with lower, which takes regions only";
  return {};
}

/// A pattern matches exactly these nodes of the graph they alone make up.
bool matches_whole(const Pattern& pattern, const Graph& alone, const Uses& uses) {
  const auto form = parse_pattern(pattern.text, pattern.label);
  if (!form) return false;
  const auto found =
      match_pattern(alone, uses, *form, {.max_nodes = alone.nodes.size(), .max_outputs = pattern.max_outputs});
  return std::ranges::any_of(found, [&](const NodeSet& nodes) { return nodes.count() == alone.nodes.size(); });
}

}  // namespace

std::string thrown(std::string_view hook, const std::string& words) { return fmt::format("{} threw: {}", hook, words); }

std::string wrong_count(std::string_view hook, std::size_t saw, std::size_t wanted) {
  return fmt::format("{} gave {} results for {}", hook, saw, wanted);
}

std::unexpected<Refusal> refused(std::string detail) {
  return std::unexpected(Refusal{RefusalReason::kCompile, std::move(detail)});
}

BackendInfo info_of(const BackendHooks& hooks, const BackendOptions& options) {
  BackendInfo info;
  if (hooks.probe == nullptr) {
    if (!options.empty()) info.unusable = "unknown option " + options.begin()->first + "; allowed none";
    return info;
  }
  auto probed = guard([&] { return hooks.probe(options); });
  if (!probed) {
    info.unusable = thrown("probe", probed.error());
    return info;
  }
  if (probed->unusable.empty()) probed->unusable = contradiction_in(*probed, hooks);
  return *std::move(probed);
}

std::expected<PartitionRules, std::string> rules_of(const BackendHooks& hooks, const BackendOptions& options) {
  if (hooks.rules == nullptr) return PartitionRules{};
  auto rules = guard([&] { return hooks.rules(options); });
  if (!rules) return std::unexpected(thrown("rules", rules.error()));
  if (const auto checked = check_patterns(*rules); !checked)
    return std::unexpected("rules: " + to_string(checked.error()));
  return *std::move(rules);
}

std::expected<std::vector<Variant>, Refusal> matched_variants(const PartitionRules& rules, const Graph& graph,
                                                              const Region& region) {
  const auto is_open = [&](ValueId id) { return !graph.value(id).type.is_static(); };
  if (std::ranges::any_of(region.inputs, is_open) || std::ranges::any_of(region.outputs, is_open))
    return std::unexpected(Refusal{RefusalReason::kShape, "a port of unknown shape"});
  const Graph alone = extract(graph, region);
  const Uses uses = uses_of(alone);
  const std::string label = region.matches.empty() ? "" : region.matches.front().label;
  const auto is_it = [&](const Pattern& one) {
    return (label.empty() || one.label == label) && matches_whole(one, alone, uses);
  };
  if (std::ranges::none_of(rules.patterns, is_it))
    return std::unexpected(Refusal{RefusalReason::kOperator, "no pattern of the backend"});
  return std::vector<Variant>{{.name = label.empty() ? "default" : label,
                               .input_formats = {region.inputs.size(), plain()},
                               .output_formats = {region.outputs.size(), plain()}}};
}

std::optional<std::string> fault_of(const Artifact& artifact, const CompileRequest& request) {
  const std::vector<Value>& values = request.graph->values;
  for (const ValueId id : artifact.constants)
    if (!id.valid() || id.index >= values.size() || !values[id.index].constant)
      return "an artifact that wants a constant which is none";
  for (const auto& [output, input] : artifact.in_place)
    if (output >= request.region.outputs.size() || input >= request.region.inputs.size())
      return fmt::format("an artifact with output {} in place of input {}", output, input);
  return std::nullopt;
}

std::optional<std::string> fault_of(const LinkedKernels& linked, std::size_t kernels) {
  if (linked.entries.size() != kernels) return wrong_count("link", linked.entries.size(), kernels);
  for (const std::optional<EntryPoint>& entry : linked.entries)
    if (entry && (entry->artifact >= linked.artifacts.size() || entry->name.empty()))
      return fmt::format("link gave entry point '{}' in artifact {} of {}", entry->name, entry->artifact,
                         linked.artifacts.size());
  return std::nullopt;
}

bool names_constants(const PreparedArtifact& prepared, std::size_t count) {
  return std::ranges::all_of(prepared.constants, [&](const PreparedArtifact::Constant& constant) {
    const auto* kept = std::get_if<std::size_t>(&constant);
    return kept == nullptr || *kept < count;
  });
}

}  // namespace collage
