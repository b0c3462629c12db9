#include "python_backend.h"

#include <algorithm>

#include "base/json.h"
#include "python_kernel.h"
#include "region/region_json.h"
#include "region/rules/pattern_match.h"

namespace collage::python {
namespace {

Refusal refusal(RefusalReason reason, std::string detail) { return {.reason = reason, .detail = std::move(detail)}; }

std::expected<std::string, std::string> module_in(const BackendOptions& options) {
  std::string module;
  for (const auto& [key, value] : options) {
    if (key != "module") return std::unexpected("unknown option '" + key + "'; allowed module");
    module = value;
  }
  if (module.empty()) return std::unexpected("names no module: say python:module=NAME");
  return module;
}

/// Throws on a form that is not the promised one.
RegionFunction function_from(const Json& json) {
  RegionFunction function{.name = json.at("name").get<std::string>(), .asks = json.at("asks").get<bool>()};
  function.pattern = {.label = function.name,
                      .text = json.at("pattern").get<std::string>(),
                      .max_outputs = json.at("outputs").get<std::size_t>()};
  return function;
}

/// What no function can be given.
std::optional<Refusal> unfit(const Graph& graph, const Region& region) {
  for (const auto* ids : {&region.inputs, &region.constants, &region.outputs})
    for (const ValueId id : *ids) {
      const ValueType& type = graph.value(id).type;
      if (!has_array_type(type.element))
        return refusal(RefusalReason::kType, "no array has elements of " + std::string(name_of(type.element)));
      if (!type.is_static()) return refusal(RefusalReason::kShape, "a port of unknown shape");
    }
  for (const std::size_t n : region.nodes.members())
    if (!bodies_of(graph.nodes[n]).empty()) return refusal(RefusalReason::kAttribute, "a node with a body");
  return std::nullopt;
}

bool matches_whole(const RegionFunction& function, const Graph& alone, const Uses& uses) {
  const std::size_t count = alone.nodes.size();
  const auto found =
      match_pattern(alone, uses, function.form, {.max_nodes = count, .max_outputs = function.pattern.max_outputs});
  return std::ranges::any_of(found, [&](const NodeSet& nodes) { return nodes.count() == count; });
}

Variant variant_of(const RegionFunction& function, const Region& region) {
  return {.name = function.name,
          .input_formats = {region.inputs.size(), plain()},
          .output_formats = {region.outputs.size(), plain()}};
}

Backend* create(const std::string& instance_name, const BackendOptions& options) {
  return new PythonBackend(instance_name, options);
}

}  // namespace

PythonBackend::PythonBackend(std::string instance_name, const BackendOptions& options) {
  info_ = {.name = std::move(instance_name), .kind = "python"};
  if (auto started = start(options); !started) info_.unusable = started.error();
}

std::expected<void, std::string> PythonBackend::start(const BackendOptions& options) {
  auto module = module_in(options);
  if (!module) return std::unexpected(module.error());
  module_ = *std::move(module);
  auto bridge = Bridge::open();
  if (!bridge) return std::unexpected(bridge.error());
  bridge_ = *std::move(bridge);
  const Argument argument = std::string_view(module_);
  const auto text = bridge_->text("describe", {&argument, 1});
  if (!text) return std::unexpected(text.error());
  const auto described = parse_json(*text, module_);
  if (!described) return std::unexpected(to_string(described.error()));
  const auto read = read_json(module_, [&] {
    info_.version = described->at("version").get<std::string>();
    info_.build = described->at("build").get<std::string>();
    source_ = described->at("source").get<std::string>();
    for (const Json& one : described->at("functions")) functions_.push_back(function_from(one));
    return true;
  });
  if (!read) return std::unexpected(to_string(read.error()));
  for (RegionFunction& function : functions_) {
    auto form = parse_pattern(function.pattern.text, module_ + '.' + function.name);
    if (!form) return std::unexpected(to_string(form.error()));
    function.form = *std::move(form);
  }
  return {};
}

PartitionRules PythonBackend::rules() const {
  PartitionRules rules;
  for (const RegionFunction& function : functions_) rules.patterns.push_back(function.pattern);
  return rules;
}

std::expected<std::vector<Variant>, Refusal> PythonBackend::support(const Graph& graph, const Region& region,
                                                                    const CompileOptions&) const {
  if (auto why = unfit(graph, region)) return std::unexpected(*std::move(why));
  const Graph alone = extract(graph, region);
  const Uses uses = uses_of(alone);
  const std::string label = region.matches.empty() ? "" : region.matches.front().label;
  Refusal why = refusal(RefusalReason::kOperator, "no function's pattern");
  std::string described;
  std::vector<Variant> variants;
  for (const RegionFunction& function : functions_) {
    if ((!label.empty() && function.name != label) || !matches_whole(function, alone, uses)) continue;
    if (function.asks && described.empty()) described = to_line(region_json(graph, region));
    if (auto no = refusal_of(function, described))
      why = *std::move(no);
    else
      variants.push_back(variant_of(function, region));
  }
  if (variants.empty()) return std::unexpected(std::move(why));
  return variants;
}

std::optional<Refusal> PythonBackend::refusal_of(const RegionFunction& function, const std::string& region) const {
  if (!function.asks) return std::nullopt;
  const Argument arguments[] = {std::string_view(module_), std::string_view(function.name), std::string_view(region)};
  const auto answer = bridge_->text("refusal", arguments);
  if (!answer) return refusal(RefusalReason::kCompile, function.name + ": " + answer.error());
  if (answer->empty()) return std::nullopt;
  return refusal(RefusalReason::kStructure, function.name + ": " + *answer);
}

std::expected<Artifact, Refusal> PythonBackend::compile_one(const CompileRequest& request) const {
  const auto refuse = [](RefusalReason reason, std::string detail) {
    return std::unexpected(refusal(reason, std::move(detail)));
  };
  if (request.model_bytes) return refuse(RefusalReason::kStructure, "a whole model: no engine");
  const auto function =
      std::ranges::find_if(functions_, [&](const auto& one) { return one.name == request.variant.name; });
  if (function == functions_.end()) return refuse(RefusalReason::kStructure, "no function " + request.variant.name);
  if (variant_of(*function, request.region) != request.variant)
    return refuse(RefusalReason::kFormat, "functions take plain formats only");
  const Json artifact = {
      {"module", module_}, {"function", function->name}, {"region", region_json(*request.graph, request.region)}};
  return Artifact{.bytes = to_line(artifact), .compatibility = compatibility(), .constants = request.region.constants};
}

std::vector<std::expected<Artifact, Refusal>> PythonBackend::compile(std::span<const CompileRequest> requests,
                                                                     const CompileOptions&) {
  std::vector<std::expected<Artifact, Refusal>> artifacts;
  for (const CompileRequest& request : requests) artifacts.push_back(compile_one(request));
  return artifacts;
}

Result<std::unique_ptr<Kernel>> PythonBackend::load(const LoadRequest& request) {
  if (!info_.unusable.empty()) return fail(ExitCode::kUnsupported, "backend/unusable", info_.name, info_.unusable);
  if (request.artifact.compatibility != compatibility())
    return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", info_.name,
                "an artifact for " + std::string(request.artifact.compatibility) + " of module " + module_,
                compatibility() + ", which is here now: tune again");
  return load_function(*bridge_, info_.name, request);
}

}  // namespace collage::python

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module{.kind = "python", .create = collage::python::create};
  return &module;
}
