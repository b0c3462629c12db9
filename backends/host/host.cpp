// The host backend, which is always present and needs no library: views, data movement, element-wise chains, operators
// on small integers, reductions, and the conversions between the two common formats. Its artifacts are small JSON
// programs that do not depend on the machine. Each operator family has its own file (family.h).
#include <algorithm>

#include "backend/extensions/export_extension.h"
#include "backend/extensions/format_extension.h"
#include "backend/narrow_element.h"
#include "backend/registry.h"
#include "base/json.h"
#include "elementwise/element_program.h"
#include "family.h"
#include "movement/move.h"
#include "region/containment.h"
#include "region/format.h"
#include "region/narrow_variant.h"

namespace collage::host {
namespace {

/// Of a region that is computed in one pass.
constexpr std::size_t kMostNodes = 64;
constexpr const char* kCompatibility = "host/1";
constexpr const char* kBuild = "host-2";  // part of cost keys: to be raised when kernels become faster or slower

std::optional<Refusal> border_objection(const Graph& graph, const Region& region) {
  for (const std::vector<ValueId>* list : {&region.inputs, &region.outputs})
    for (const ValueId id : *list)
      if (!graph.value(id).type.is_static())
        return Refusal{RefusalReason::kShape, to_string(graph.value(id).type) + " at the border"};
  if (region.outputs.empty()) return Refusal{RefusalReason::kStructure, "no output"};
  return std::nullopt;
}

/// The families that know all operators of the region, best first.
std::vector<const Family*> families_for(const Graph& graph, const Region& region) {
  const std::vector<std::size_t> nodes = region.nodes.members();
  std::vector<const Family*> out;
  for (const Family* family : all_families()) {
    if (nodes.size() != 1 && !family->takes_chains) continue;
    if (std::ranges::all_of(nodes, [&](std::size_t node) { return family->knows(graph.nodes[node]); }))
      out.push_back(family);
  }
  return out;
}

Artifact artifact_of(const Family& family, Draft draft) {
  Artifact artifact;
  artifact.bytes = nlohmann::json{{"family", family.name}, {"program", std::move(draft.program)}}.dump();
  artifact.compatibility = kCompatibility;
  artifact.constants = std::move(draft.constants);
  artifact.in_place = std::move(draft.in_place);
  artifact.workspace_bytes = draft.workspace_bytes;
  return artifact;
}

/// Whether the node's parts lie in the whole, in the variant's formats.
bool has_parts(const Site& site, const Variant& variant) {
  return site.region.nodes.count() == 1 &&
         containment_of(site.graph, site.node, variant.output_formats.front()).has_value();
}

/// The family's variants with 16-bit elements at their ports, where it compiles them.
void add_narrow(const Family& family, const Site& site, const CompileOptions& options, std::vector<Variant>& variants) {
  const auto element = narrow_element(options);
  if (!element) return;
  for (std::size_t v = 0, full = variants.size(); v < full; ++v) {
    auto narrow = narrow_variant(site.graph, site.region, variants[v], *element);
    // Of smaller elements a part may begin where no buffer can.
    if (narrow && narrow->name == "view" && has_parts(site, variants[v]) && !has_parts(site, *narrow))
      narrow->name = stored_as({"copy"}, *element).name;
    if (narrow && family.compile(site, *narrow)) variants.push_back(*std::move(narrow));
  }
}

bool is_known_size(const Port& port) {
  return common_format_bytes(port.type, port.place.format).has_value() && bits_of(port.type.element) > 0;
}

bool has_narrow_port(const LoadRequest& request) {
  const auto is_narrow = [](const Port& port) { return port.place.format.narrow().has_value(); };
  return std::ranges::any_of(request.inputs, is_narrow) || std::ranges::any_of(request.outputs, is_narrow);
}

std::string operators_of(const Graph& graph, const Region& region) {
  std::string names;
  for (const std::size_t node : region.nodes.members())
    names += (names.empty() ? "" : ", ") + graph.nodes[node].op_type;
  return names;
}

class Host final : public Backend, public ExportExtension, public FormatExtension {
 public:
  Host(const std::string& name, const BackendOptions& options) {
    info_ = {.name = name, .kind = "host", .version = "1", .build = kBuild, .takes_pool = true};
    if (!options.empty()) info_.unusable = "unknown option '" + options.begin()->first + "'";
  }

  [[nodiscard]] const BackendInfo& info() const override { return info_; }

  /// Single operators; chains and diamonds of those operators whose family takes several in one pass.
  [[nodiscard]] PartitionRules rules() const override {
    const PartitionRule joinable = nodes_where("joinable", [](const Graph&, const Node& node) {
      return std::ranges::any_of(all_families(),
                                 [&](const Family* family) { return family->takes_chains && family->knows(node); });
    });
    return {.repeats = RepeatStyle::kCheap,
            .more = {follow(joinable, kMostNodes), fused_like_native(joinable, kMostNodes)}};
  }

  [[nodiscard]] Variants support(const Graph& graph, const Region& region,
                                 const CompileOptions& options) const override {
    if (auto no = border_objection(graph, region)) return std::unexpected(*no);
    std::optional<Refusal> refusal;
    for (const Family* family : families_for(graph, region)) {
      Variants variants = family->support(site_of(graph, region));
      if (variants && family->takes_narrow) add_narrow(*family, site_of(graph, region), options, *variants);
      if (variants) return variants;
      refusal = variants.error();
    }
    if (refusal) return std::unexpected(*refusal);
    return refuse(RefusalReason::kOperator, operators_of(graph, region));
  }

  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions&) override {
    std::vector<std::expected<Artifact, Refusal>> out;
    for (const CompileRequest& request : requests) out.push_back(compile_one(request));
    return out;
  }

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    const auto bad = [](std::string saw, std::string allowed) {
      return fail(ExitCode::kBadInput, "backend/bad-artifact", "host", std::move(saw), std::move(allowed));
    };
    if (request.artifact.compatibility != kCompatibility)
      return bad(std::string(request.artifact.compatibility), kCompatibility);
    if (!std::ranges::all_of(request.inputs, is_known_size) || !std::ranges::all_of(request.outputs, is_known_size))
      return bad("ports of unknown size", "static types in common formats");
    auto loaded = guard([&]() -> Result<std::unique_ptr<Kernel>> {
      const nlohmann::json json = parsed_json(request.artifact.bytes);
      const auto name = json.at("family").get<std::string>();
      for (const Family* family : all_families()) {
        if (family->name != name) continue;
        if (!family->takes_narrow && has_narrow_port(request)) return bad("narrow ports", "full ones of " + name);
        return family->load(json.at("program"), request);
      }
      return bad("family " + name, "a family of this build");
    });
    if (!loaded) return bad(loaded.error(), "a program of this backend");
    return std::move(*loaded);
  }

  [[nodiscard]] Extension* extension(ExtensionKind kind) override {
    return select_extension<ExportExtension, FormatExtension>(*this, kind);
  }

  /// The text of a program is all there is.
  [[nodiscard]] Result<ExportedArtifact> exported(const ArtifactView& artifact,
                                                  const std::string& /*prefix*/) const override {
    return ExportedArtifact{.bytes = std::string(artifact.bytes), .code = {}};
  }

  [[nodiscard]] std::optional<std::size_t> format_bytes(const ValueType& type, const Format& format) const override {
    return common_format_bytes(type, format);
  }

  [[nodiscard]] std::expected<Artifact, Refusal> compile_conversion(const Conversion& conversion,
                                                                    const CompileOptions&) override {
    const ValueType& type = conversion.type;
    if (!type.is_static() || bits_of(type.element) % 8 != 0) return refuse(RefusalReason::kType, to_string(type));
    const Format& from = conversion.from.format;
    const Format& to = conversion.to.format;
    for (const Format& format : {from, to})
      if (!is_common(format) || !can_have_common_format(type, format))
        return refuse(RefusalReason::kFormat, format.name);
    if (from.narrow() != to.narrow())
      return artifact_of(kElementwise, {.program = to_json(cast_between(type, from, to))});
    return artifact_of(kMovement, {.program = to_json(copy_between(type, from, to))});
  }

 private:
  static Site site_of(const Graph& graph, const Region& region) {
    return {graph, region, graph.nodes[region.nodes.next()]};
  }

  static std::expected<Artifact, Refusal> compile_one(const CompileRequest& request) {
    if (request.model_bytes) return refuse(RefusalReason::kStructure, "a whole model: host is no engine");
    if (auto no = border_objection(*request.graph, request.region)) return std::unexpected(*no);
    std::optional<Refusal> refusal;
    for (const Family* family : families_for(*request.graph, request.region)) {
      Drafted draft = family->compile(site_of(*request.graph, request.region), request.variant);
      if (draft) return artifact_of(*family, std::move(*draft));
      refusal = draft.error();
    }
    if (refusal) return std::unexpected(*refusal);
    return refuse(RefusalReason::kOperator, operators_of(*request.graph, request.region));
  }

  BackendInfo info_;
};

Backend* create(const std::string& name, const BackendOptions& options) { return new Host(name, options); }

constexpr BackendModule kModule = {
    .struct_size = sizeof(BackendModule), .abi_version = kModuleVersion, .kind = "host", .create = create};

}  // namespace
}  // namespace collage::host

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() { return &collage::host::kModule; }
