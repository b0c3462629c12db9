#include "xnnpack_backend.h"

#include <algorithm>

#include "backend/registry.h"
#include "check_program.h"
#include "constants.h"
#include "kernel.h"
#include "library.h"
#include "lowering/lower.h"
#include "rules.h"

namespace collage::xnnpack {
namespace {

constexpr const char* kCompatibility = "xnnpack/1";
constexpr const char* kBuild = "1";  // part of cost keys: to be raised when kernels become faster or slower

/// One way to run a region.
struct Way {
  Variant variant;
  Lowered lowered;
};

bool has_port_in(const Graph& graph, const Region& region, ElementType type) {
  const auto has_type = [&](ValueId id) { return graph.value(id).type.element == type; };
  return std::ranges::any_of(region.inputs, has_type) || std::ranges::any_of(region.outputs, has_type);
}

/// Collects the ways to run a region.
struct Collector {
  const Graph& graph;
  const Region& region;
  std::vector<Way> ways = {};
  std::optional<Refusal> why = {};

  /// False where the library does not compute the region so.
  bool add(Layout layout, ByteForm form) {
    auto lowered = lower(graph, region, layout, form);
    if (!lowered) {
      // The format is rather a consequence than a reason.
      if (!why || why->reason == RefusalReason::kFormat) why = lowered.error();
      return false;
    }
    Variant variant{.name = layout == Layout::kPlain ? "plain" : "channels_last",
                    .input_formats = lowered->input_formats,
                    .output_formats = lowered->output_formats};
    if (form == ByteForm::kUnsigned) variant.name += "_u8";
    const auto is_turned = [](const Format& format) { return format.is_channels_last(); };
    const bool is_other =
        std::ranges::any_of(variant.input_formats, is_turned) || std::ranges::any_of(variant.output_formats, is_turned);
    if (layout == Layout::kPlain || is_other) ways.push_back({std::move(variant), std::move(*lowered)});
    return true;
  }
};

/// The region in both layouts, the second only where it is another one; with signed bytes, whose kernels are faster,
/// and with unsigned ones where it has such or cannot do otherwise.
std::expected<std::vector<Way>, Refusal> ways_of(const Graph& graph, const Region& region) {
  Collector collector{.graph = graph, .region = region};
  const bool has_unsigned = has_port_in(graph, region, ElementType::kUint8);
  const bool has_bytes = has_unsigned || has_port_in(graph, region, ElementType::kInt8);
  for (const Layout layout : {Layout::kChannelsLast, Layout::kPlain}) {
    const bool is_taken = collector.add(layout, ByteForm::kSigned);
    if (has_unsigned || (has_bytes && !is_taken)) collector.add(layout, ByteForm::kUnsigned);
  }
  if (collector.ways.empty()) return std::unexpected(*collector.why);
  return std::move(collector.ways);
}

std::expected<Artifact, Refusal> compile_one(const CompileRequest& request) {
  if (request.model_bytes) return refuse(RefusalReason::kStructure, "this is no engine");
  auto ways = ways_of(*request.graph, request.region);
  if (!ways) return std::unexpected(ways.error());
  const auto way =
      std::ranges::find_if(*ways, [&](const Way& one) { return one.variant.name == request.variant.name; });
  if (way == ways->end()) return refuse(RefusalReason::kStructure, "no variant " + request.variant.name);
  if (way->variant != request.variant) return refuse(RefusalReason::kFormat, "the variant has other formats");
  Lowered& lowered = way->lowered;
  if (const auto fits = check_program(lowered.program); !fits)
    return refuse(RefusalReason::kCompile, to_string(fits.error()));
  const auto done =
      guard([&] { try_program(lowered.program, lowered.input_formats.size(), lowered.output_formats.size()); });
  if (!done) return refuse(RefusalReason::kCompile, done.error());
  return Artifact{.bytes = to_json(lowered.program),
                  .compatibility = kCompatibility,
                  .constants = std::move(lowered.constants),
                  .in_place = std::move(lowered.in_place),
                  .workspace_bytes = 0};
}

Backend* create(const std::string& instance_name, const BackendOptions& options) {
  const std::string problem = options.empty() ? "" : "unknown option " + options.begin()->first + "; allowed none";
  return new XnnpackBackend(instance_name, problem);
}

}  // namespace

XnnpackBackend::XnnpackBackend(std::string instance_name, const std::string& problem) {
  info_ = {.name = std::move(instance_name),
           .kind = "xnnpack",
           .version = library_version(),
           .build = std::string(kBuild) + '+' + library_build()};
  info_.unusable = problem.empty() ? initialise() : problem;
}

PartitionRules XnnpackBackend::rules() const { return partition_rules(); }

std::expected<std::vector<Variant>, Refusal> XnnpackBackend::support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const {
  if (options.linkable) return refuse(RefusalReason::kStructure, "calls another library");
  auto ways = ways_of(graph, region);
  if (!ways) return std::unexpected(ways.error());
  std::vector<Variant> variants;
  for (Way& way : *ways) variants.push_back(std::move(way.variant));
  return variants;
}

std::vector<std::expected<Artifact, Refusal>> XnnpackBackend::compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions&) {
  std::vector<std::expected<Artifact, Refusal>> artifacts;
  for (const CompileRequest& request : requests) artifacts.push_back(compile_one(request));
  return artifacts;
}

Result<Program> XnnpackBackend::program_of(const LoadRequest& request) const {
  if (!info_.unusable.empty()) return fail(ExitCode::kUnsupported, "backend/unusable", info_.name, info_.unusable);
  if (request.artifact.compatibility != kCompatibility)
    return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", info_.name,
                std::string(request.artifact.compatibility), kCompatibility);
  return parse_program(request.artifact.bytes);
}

Result<std::unique_ptr<Kernel>> XnnpackBackend::load(const LoadRequest& request) {
  COLLAGE_TRY(const Program program, program_of(request));
  auto pool = guard([&] { return pools_.get(request.threads); });
  if (!pool) return fail(ExitCode::kUnsupported, "backend/library-failed", info_.name, pool.error());
  return load_kernel(program, request, std::move(*pool));
}

MaybePrepared XnnpackBackend::prepare_one(const LoadRequest& request) const {
  COLLAGE_TRY(Program program, program_of(request));
  if (program.is_prepared || request.constants.empty()) return std::nullopt;
  auto prepared = guard([&] { return prepare(std::move(program), request.constants); });
  if (!prepared) return fail(ExitCode::kUnsupported, "backend/library-failed", info_.name, prepared.error());
  if (!*prepared) return std::unexpected((*prepared).error());
  return std::optional(**std::move(prepared));
}

std::vector<MaybePrepared> XnnpackBackend::prepare_constants(std::span<const LoadRequest> kernels) {
  std::vector<MaybePrepared> all;
  for (const LoadRequest& kernel : kernels) all.push_back(prepare_one(kernel));
  return all;
}

}  // namespace collage::xnnpack

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module{.kind = "xnnpack", .create = collage::xnnpack::create};
  return &module;
}
