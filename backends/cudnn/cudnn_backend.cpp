#include "backends/cudnn/cudnn_backend.h"

#include <fmt/format.h>

#include <array>

#include "backends/common/cuda/gpu_instance.h"
#include "backends/common/cuda/workspace.h"
#include "backends/cudnn/description.h"
#include "backends/cudnn/operation_graph.h"
#include "base/number_text.h"

namespace collage::cudnn {
namespace {

constexpr const char* kBuild = "cudnn-1";  // part of cost keys: to be raised when kernels become faster or slower
constexpr std::array<std::string_view, 1> kOptions = {"library"};
/// Proposals of the library that are measured, in each format.
constexpr int kProposals = 3;
/// The most workspace that a plan may ask for.
constexpr std::size_t kWorkspaceBytes = std::size_t{256} << 20;

struct Way {
  Variant variant;
  Description description;
  int rank = 0;
};

/// channels_last where the description reads the port so.
Format format_of(const Graph& graph, ValueId id, const DescribedTensor& tensor) {
  const bool is_image = tensor.extents.size() >= 4 && tensor.strides[1] == 1 && tensor.extents[1] > 1;
  return is_image && can_be_channels_last(graph.value(id).type) ? channels_last() : plain();
}

Variant variant_of(const Graph& graph, const Region& region, const Description& description, const Format& format,
                   int rank) {
  Variant variant{.name = fmt::format("conv.{}@{}", format.is_plain() ? "plain" : "nhwc", rank),
                  .input_formats = std::vector<Format>(region.inputs.size(), plain()),
                  .output_formats = std::vector<Format>(region.outputs.size(), plain())};
  if (format.is_plain()) return variant;
  for (const DescribedTensor& tensor : description.tensors) {
    if (tensor.kind == SourceKind::kInput)
      variant.input_formats[tensor.index] = format_of(graph, region.inputs[tensor.index], tensor);
    if (tensor.kind == SourceKind::kOutput) variant.output_formats[0] = format_of(graph, region.outputs[0], tensor);
  }
  return variant;
}

std::expected<std::vector<Way>, Refusal> ways_of(const Graph& graph, const Region& region) {
  std::vector<Way> ways;
  for (const Format& format : {plain(), channels_last()}) {
    const auto description = describe(graph, region, format);
    if (!description) return std::unexpected(description.error());
    for (int rank = 0; rank < kProposals; ++rank) {
      Way way{
          .variant = variant_of(graph, region, *description, format, rank), .description = *description, .rank = rank};
      // Ports whose bytes are the same in both formats: the plain variants are these.
      const bool is_same = !format.is_plain() && way.variant.input_formats == ways[0].variant.input_formats &&
                           way.variant.output_formats == ways[0].variant.output_formats;
      if (!is_same) ways.push_back(std::move(way));
    }
  }
  return ways;
}

}  // namespace

CudnnBackend::CudnnBackend(std::string instance_name, const BackendOptions& options) {
  info_ = {.name = std::move(instance_name), .kind = "cudnn", .version = "none", .build = kBuild, .is_compiler = true};
  if (const auto ready = open(options); !ready) info_.unusable = ready.error();
}

std::expected<void, std::string> CudnnBackend::open(const BackendOptions& options) {
  auto device = cuda::open_gpu(options, kOptions, info_);
  if (!device) return std::unexpected(device.error());
  const auto library = open_library(cuda::option_of(options, "library"));
  if (!library) return std::unexpected(library.error());
  library_ = *library;
  info_.version = library_.version_text();
  info_.build = fmt::format("{} {} {}", kBuild, info_.version, (*device)->facts().print());
  // Texts of plans are of one version, and of the GPU they were made for.
  compatibility_ = fmt::format("cudnn/1 {} {}", info_.version, (*device)->facts().name);
  device_ = *std::move(device);
  handles_ = std::make_unique<Handles>(*device_, library_);
  return {};
}

PartitionRules CudnnBackend::rules() const {
  PartitionRules rules;
  rules.patterns = {{"convolution", "Conv -> Add|Relu|LeakyRelu|Tanh|Sigmoid*"}};
  rules.growth = Growth::kNone;
  return rules;
}

Extension* CudnnBackend::extension(ExtensionKind kind) {
  return device_ ? select_extension<DeviceExtension>(*this, kind) : nullptr;
}

std::expected<std::vector<Variant>, Refusal> CudnnBackend::support(const Graph& graph, const Region& region,
                                                                   const CompileOptions&) const {
  auto ways = ways_of(graph, region);
  if (!ways) return std::unexpected(ways.error());
  std::vector<Variant> variants;
  for (Way& way : *ways) variants.push_back(std::move(way.variant));
  return variants;
}

std::expected<Artifact, Refusal> CudnnBackend::compile_one(const CompileRequest& request,
                                                           const CompileOptions& options) {
  if (request.model_bytes) return refuse(RefusalReason::kStructure, "this is no engine");
  auto ways = ways_of(*request.graph, request.region);
  if (!ways) return std::unexpected(ways.error());
  const auto way = std::ranges::find(*ways, request.variant, &Way::variant);
  if (way == ways->end()) return refuse(RefusalReason::kStructure, "no variant " + request.variant.name);
  const auto current = device_->use();
  if (!current) return refuse(RefusalReason::kCompile, to_string(current.error()));
  auto plan = guard([&] {
    if (!compiling_) compiling_ = handles_->of(nullptr);
    return plan_at(library_, compiling_->handle(), way->description, way->rank, options.accuracy == Accuracy::kFast,
                   kWorkspaceBytes);
  });
  if (!plan) return refuse(RefusalReason::kCompile, plan.error());
  if (!*plan) return refuse(RefusalReason::kStructure, fmt::format("the library proposes no plan {}", way->rank));
  const StoredPlan stored{.description = std::move(way->description),
                          .text = std::move((*plan)->text),
                          .workspace_bytes = (*plan)->workspace_bytes};
  return Artifact{.bytes = to_bytes(stored),
                  .compatibility = compatibility_,
                  .constants = stored.description.constants,
                  .in_place = {},
                  .workspace_bytes = cuda::padded_workspace((*plan)->workspace_bytes)};
}

std::vector<std::expected<Artifact, Refusal>> CudnnBackend::compile(std::span<const CompileRequest> requests,
                                                                    const CompileOptions& options) {
  std::vector<std::expected<Artifact, Refusal>> artifacts;
  for (const CompileRequest& request : requests) artifacts.push_back(compile_one(request, options));
  return artifacts;
}

Result<std::unique_ptr<Kernel>> CudnnBackend::load(const LoadRequest& request) {
  if (request.artifact.compatibility != compatibility_)
    return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", info_.name,
                std::string(request.artifact.compatibility), compatibility_);
  return make_kernel({.device = *device_, .library = library_, .handles = *handles_}, request);
}

namespace {

Backend* create(const std::string& instance_name, const BackendOptions& options) {
  return new CudnnBackend(instance_name, options);
}

}  // namespace
}  // namespace collage::cudnn

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module{.kind = "cudnn", .create = collage::cudnn::create};
  return &module;
}
