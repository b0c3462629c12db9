#include "onednn_backend.h"

#include <algorithm>

#include "backend/narrow_element.h"
#include "backend/registry.h"
#include "backends/common/openmp/keep_threads.h"
#include "check_program.h"
#include "layout.h"
#include "library.h"
#include "lowering/lower.h"
#include "primitives/kernel.h"
#include "region/containment.h"
#include "rules.h"
#if DNNL_VERSION_MAJOR >= 3
#include "backends/onednn3/graph/attention_kernel.h"
#endif

namespace collage::onednn {
namespace {

using Formats = std::vector<Format>;

/// Counts up when a variant of the same name becomes another program, so that stored costs and artifacts are not
/// reused.
constexpr const char* kLowering = "+lowering3";

std::unexpected<Refusal> refuse_request(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

/// Pins implementations and measures the scratch; what load() needs is in the bytes.
std::expected<Artifact, Refusal> artifact_of(Program program, std::vector<ValueId> constants,
                                             const std::string& compatibility, const dnnl::engine& engine,
                                             int threads) {
  use_threads(threads);
  auto realised = realise(std::move(program), engine);
  if (!realised) return std::unexpected(realised.error());
  if (const auto loads = check_program(*realised); !loads)
    return refuse_request(RefusalReason::kCompile, loads.error().saw);
  const auto ops = build_all(*realised, engine);
  if (!ops) return refuse_request(RefusalReason::kCompile, ops.error());
  return Artifact{.bytes = to_json(*realised, threads),
                  .compatibility = compatibility,
                  .constants = std::move(constants),
                  .in_place = realised->in_place,
                  .workspace_bytes = map_workspace(*realised, *ops).bytes};
}

/// How a tensor of this type is stored in a format; nothing when it cannot be.
std::optional<Arrangement> arrangement_of(const ValueType& type, const Format& format) {
  const auto layout = layout_of(format);
  if (!layout || !type.is_static() || !can_move(type.element)) return std::nullopt;
  const Arrangement arrangement{.element = stored_element(type, format), .layout = *layout};
  if (format.narrow() && type.element != ElementType::kFloat32) return std::nullopt;
  if (!data_type_of(arrangement.element)) return std::nullopt;
  const std::size_t rank = type.extents().size();
  const bool fits = *layout == Layout::kPlain ? rank <= 6 : rank >= 3 && rank <= 5;
  return fits ? std::optional(arrangement) : std::nullopt;
}

/// As `blocked` format: a Concat of one image along its channels in blocks: its parts are written where they are read.
std::optional<Variant> view_of(const Graph& graph, const Region& region, const Format& blocked) {
  if (region.nodes.count() != 1) return std::nullopt;
  const Node& node = graph.nodes[region.nodes.next()];
  const auto containment = containment_of(graph, node, blocked);
  if (!containment || !can_lie_in_place(graph, node, *containment)) return std::nullopt;
  return Variant{.name = "view",
                 .input_formats = std::vector<Format>(region.inputs.size(), blocked),
                 .output_formats = std::vector<Format>(region.outputs.size(), blocked)};
}

// What version 3 alone has: attentions as one partition of its graph interface.
#if DNNL_VERSION_MAJOR >= 3
std::optional<Variant> attention_variant(const Graph& graph, const Region& region) {
  if (!read_attention(graph, region)) return std::nullopt;
  return Variant{.name = "graph",
                 .input_formats = Formats(region.inputs.size(), plain()),
                 .output_formats = Formats(region.outputs.size(), plain())};
}

std::expected<Artifact, Refusal> attention_artifact(const CompileRequest& request, const std::string& compatibility,
                                                    const dnnl::engine& engine, int threads) {
  auto read = read_attention(*request.graph, request.region);
  if (!read) return std::unexpected(read.error());
  if (request.variant != attention_variant(*request.graph, request.region))
    return refuse_request(RefusalReason::kFormat, "the variant has other formats");
  read->attention.threads = threads;
  if (auto ok = try_attention(read->attention, engine); !ok) return std::unexpected(ok.error());
  return Artifact{
      .bytes = to_json(read->attention), .compatibility = compatibility, .constants = std::move(read->constants)};
}

/// The kernel of an attention's artifact; nothing for other artifacts.
std::optional<Result<std::unique_ptr<Kernel>>> attention_kernel(const LoadRequest& request,
                                                                const dnnl::engine& engine) {
  if (!is_attention(request.artifact.bytes)) return std::nullopt;
  auto attention = parse_attention(request.artifact.bytes);
  if (!attention) return std::unexpected(attention.error());
  if (attention->threads != request.threads)
    return fail(ExitCode::kBadInput, "backend/other-threads", kBackendKind,
                std::to_string(request.threads) + " threads", std::to_string(attention->threads) + ", as compiled");
  return load_attention(*attention, request, engine);
}
#else
std::optional<Variant> attention_variant(const Graph&, const Region&) { return std::nullopt; }
bool is_attention(std::string_view) { return false; }
std::expected<Artifact, Refusal> attention_artifact(const CompileRequest&, const std::string&, const dnnl::engine&,
                                                    int) {
  return refuse_request(RefusalReason::kMissing, "no graph interface");
}
std::optional<Result<std::unique_ptr<Kernel>>> attention_kernel(const LoadRequest&, const dnnl::engine&) {
  return std::nullopt;
}
#endif

}  // namespace

OneDnnBackend::OneDnnBackend(std::string instance_name, std::string problem) {
  info_.name = std::move(instance_name);
  info_.kind = kBackendKind;
  info_.version = library_version();
  info_.build = library_build() + kLowering;
  info_.unusable = std::move(problem);
  compatibility_ = "onednn-program/1 " + info_.build;
  const auto made = guard([this] { engine_ = dnnl::engine(dnnl::engine::kind::cpu, 0); });
  if (!made && info_.unusable.empty()) info_.unusable = made.error();
}

PartitionRules OneDnnBackend::rules() const { return partition_rules(); }

std::expected<std::vector<Variant>, Refusal> OneDnnBackend::support(const Graph& graph, const Region& region,
                                                                    const CompileOptions& options) const {
  if (auto attention = attention_variant(graph, region)) return std::vector{*std::move(attention)};
  const auto analysis = analyse(graph, region);
  if (!analysis) return std::unexpected(analysis.error());
  std::vector<Variant> variants;
  Refusal why{RefusalReason::kStructure, "no way to run it"};
  const auto narrow = multiplied_narrow_element(options);
  const FewBits few_bits{.narrow = narrow, .splits = multiplies_split_floats(options)};
  for (const Choice& choice : choices_of(graph, *analysis, options.accuracy, few_bits)) {
    auto lowered = lower(graph, region, *analysis, choice);
    if (lowered)
      variants.push_back({.name = choice.name,
                          .input_formats = std::move(lowered->input_formats),
                          .output_formats = std::move(lowered->output_formats)});
    else
      why = lowered.error();
  }
  const Format blocked = format_of(Layout::kBlocked);
  if (auto view = view_of(graph, region, blocked)) variants.push_back(*std::move(view));
  if (narrow)
    if (auto view = view_of(graph, region, stored_as(blocked, *narrow))) variants.push_back(*std::move(view));
  if (variants.empty()) return std::unexpected(why);
  return variants;
}

std::expected<Artifact, Refusal> OneDnnBackend::compile_one(const CompileRequest& request,
                                                            const CompileOptions& options) const {
  if (request.model_bytes) return refuse_request(RefusalReason::kStructure, "this is no engine");
  const Graph& graph = *request.graph;
  if (attention_variant(graph, request.region))
    return attention_artifact(request, compatibility_, engine_, options.threads);
  const auto analysis = analyse(graph, request.region);
  if (!analysis) return std::unexpected(analysis.error());
  // Variants of split floats are compiled in class standard, whose bound they keep, and offered in class fast alone.
  const FewBits few_bits{.narrow = multiplied_narrow_element(options), .splits = true};
  const std::vector<Choice> choices = choices_of(graph, *analysis, options.accuracy, few_bits);
  const auto choice = std::ranges::find(choices, request.variant.name, &Choice::name);
  if (choice == choices.end()) return refuse_request(RefusalReason::kStructure, "no variant " + request.variant.name);
  auto lowered = lower(graph, request.region, *analysis, *choice);
  if (!lowered) return std::unexpected(lowered.error());
  if (lowered->input_formats != request.variant.input_formats ||
      lowered->output_formats != request.variant.output_formats)
    return refuse_request(RefusalReason::kFormat, "the variant has other formats");
  return artifact_of(std::move(lowered->program), std::move(lowered->constants), compatibility_, engine_,
                     options.threads);
}

std::vector<std::expected<Artifact, Refusal>> OneDnnBackend::compile(std::span<const CompileRequest> requests,
                                                                     const CompileOptions& options) {
  std::vector<std::expected<Artifact, Refusal>> artifacts;
  for (const CompileRequest& request : requests) {
    auto artifact = guard([&] { return compile_one(request, options); });
    if (artifact)
      artifacts.push_back(std::move(*artifact));
    else
      artifacts.push_back(refuse_request(RefusalReason::kCompile, artifact.error()));
  }
  return artifacts;
}

Result<StoredProgram> OneDnnBackend::program_of(const LoadRequest& request) const {
  COLLAGE_TRY_VOID(check_compatibility(request.artifact));
  COLLAGE_TRY(StoredProgram stored, parse_program(request.artifact.bytes));
  if (stored.threads != request.threads)
    return fail(ExitCode::kBadInput, "backend/other-threads", info_.name, std::to_string(request.threads) + " threads",
                std::to_string(stored.threads) + ", as compiled");
  return stored;
}

Result<void> OneDnnBackend::check_compatibility(const ArtifactView& artifact) const {
  if (artifact.compatibility == compatibility_) return {};
  return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", info_.name, std::string(artifact.compatibility),
              compatibility_);
}

Result<std::unique_ptr<Kernel>> OneDnnBackend::load(const LoadRequest& request) {
  COLLAGE_TRY_VOID(check_compatibility(request.artifact));
  if (auto kernel = attention_kernel(request, engine_)) return *std::move(kernel);
  COLLAGE_TRY(const StoredProgram stored, program_of(request));
  const KeepOpenMpThreads keep;
  use_threads(request.threads);
  auto kernel = guard([&]() -> Result<std::unique_ptr<Kernel>> {
    COLLAGE_TRY_VOID(check_ports(stored.program, request.inputs, request.outputs,
                                 [&](const Port& port) { return format_bytes(port.type, port.place.format); }));
    return load_kernel(engine_, stored.program, request.constants, request.threads, request.artifact.workspace_bytes);
  });
  if (!kernel) return fail(ExitCode::kUnsupported, "backend/library-failed", info_.name, kernel.error());
  return std::move(*kernel);
}

std::vector<MaybePrepared> OneDnnBackend::prepare_constants(std::span<const LoadRequest> kernels) {
  std::vector<MaybePrepared> all;
  for (const LoadRequest& kernel : kernels) all.push_back(prepare_one(kernel));
  return all;
}

MaybePrepared OneDnnBackend::prepare_one(const LoadRequest& request) const {
  COLLAGE_TRY_VOID(check_compatibility(request.artifact));
  if (is_attention(request.artifact.bytes)) return std::nullopt;
  COLLAGE_TRY(StoredProgram stored, program_of(request));
  if (stored.program.is_prepared || request.constants.empty()) return std::nullopt;
  use_threads(request.threads);
  auto prepared =
      guard([&] { return prepare(engine_, std::move(stored.program), request.constants, request.threads); });
  if (!prepared) return fail(ExitCode::kUnsupported, "backend/library-failed", info_.name, prepared.error());
  COLLAGE_TRY(PreparedArtifact result, std::move(*prepared));
  return std::optional(std::move(result));
}

std::optional<std::size_t> OneDnnBackend::format_bytes(const ValueType& type, const Format& format) const {
  if (is_common(format)) return common_format_bytes(type, format);
  const auto stored = arrangement_of(type, format);
  if (!stored) return std::nullopt;
  const auto bytes =
      guard([&] { return describe(type.extents(), *data_type_of(stored->element), stored->layout).get_size(); });
  return bytes ? std::optional(*bytes) : std::nullopt;
}

std::expected<Artifact, Refusal> OneDnnBackend::compile_conversion(const Conversion& conversion,
                                                                   const CompileOptions& options) {
  const auto from = arrangement_of(conversion.type, conversion.from.format);
  const auto to = arrangement_of(conversion.type, conversion.to.format);
  if (!from || !to || from == to) return refuse_request(RefusalReason::kFormat, "no conversion between these formats");
  if (element_count(conversion.type.extents()) == 0) return refuse_request(RefusalReason::kShape, "no elements");
  auto artifact = guard([&] {
    Program program = reorder_program(conversion.type.extents(), *from, *to);
    return artifact_of(std::move(program), {}, compatibility_, engine_, options.threads);
  });
  if (!artifact) return refuse_request(RefusalReason::kCompile, artifact.error());
  return std::move(*artifact);
}

}  // namespace collage::onednn

namespace {

collage::Backend* create(const std::string& instance_name, const collage::BackendOptions& options) {
  const std::string problem = options.empty() ? "" : "unknown option " + options.begin()->first + "; allowed none";
  return new collage::onednn::OneDnnBackend(instance_name, problem);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module{.kind = collage::onednn::kBackendKind, .create = create};
  return &module;
}
