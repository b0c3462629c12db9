#include "backends/nvrtc/nvrtc_backend.h"

#include <fmt/format.h>

#include <array>

#include "backends/common/cuda/gpu_instance.h"
#include "backends/native/compiler_library.h"
#include "backends/nvrtc/conversion.h"
#include "backends/nvrtc/cuda_artifact.h"
#include "backends/nvrtc/kernel.h"
#include "base/number_text.h"

namespace collage::nvrtc {
namespace {

constexpr const char* kBuild = "nvrtc-1";  // part of cost keys: to be raised when kernels become faster or slower

constexpr std::array<std::string_view, 1> kOptions = {"compiler"};

constexpr std::string_view kCompatibility = "cuda-kernels/1 sm_";

std::string compatibility_of(int architecture) { return fmt::format("{}{}", kCompatibility, architecture); }

/// A cubin runs on GPUs of its major number that are not older.
bool runs_on(std::string_view compatibility, int capability) {
  if (!compatibility.starts_with(kCompatibility)) return false;
  const auto architecture = number_in<int>(compatibility.substr(kCompatibility.size()));
  return architecture && *architecture / 10 == capability / 10 && *architecture <= capability;
}

}  // namespace

NvrtcBackend::NvrtcBackend(std::string instance_name, const BackendOptions& options) {
  info_ = {.name = std::move(instance_name), .kind = "nvrtc", .version = "none", .build = kBuild, .is_compiler = true};
  if (const auto ready = open(options); !ready) info_.unusable = ready.error();
}

std::expected<void, std::string> NvrtcBackend::open(const BackendOptions& options) {
  auto device = cuda::open_gpu(options, kOptions, info_);
  if (!device) return std::unexpected(device.error());
  const cuda::GpuFacts& facts = (*device)->facts();
  info_.build = fmt::format("{} {}", kBuild, facts.print());
  compiler_ = NvrtcLibrary::open(cuda::option_of(options, "compiler"));
  if (compiler_) {
    info_.version = compiler_->version();
    info_.build += " NVRTC " + info_.version;
    architecture_ = compiler_->architecture_for(facts.capability);
    std::string fault = cuda::fault_of_version("NVRTC", compiler_->major(), facts);
    if (architecture_ == 0)
      fault = fmt::format("NVRTC {} has no code for compute capability {}.{}", info_.version, facts.capability / 10,
                          facts.capability % 10);
    if (!fault.empty()) compiler_ = std::unexpected(std::move(fault));
  }
  device_ = *std::move(device);
  return {};
}

/// Single operators, each with the chain that follows it, and trees of element-wise work.
PartitionRules NvrtcBackend::rules() const {
  PartitionRules rules{.growth = Growth::kLikeNative};
  rules.repeats = RepeatStyle::kCheap;
  return rules;
}

Extension* NvrtcBackend::extension(ExtensionKind kind) {
  return device_ ? select_extension<DeviceExtension, FormatExtension>(*this, kind) : nullptr;
}

std::expected<std::vector<Variant>, Refusal> NvrtcBackend::support(const Graph& graph, const Region& region,
                                                                   const CompileOptions& options) const {
  if (!compiler_) return refuse(RefusalReason::kMissing, compiler_.error());
  const auto writer = native::compiler();
  if (!writer) return refuse(RefusalReason::kMissing, writer.error().saw);
  return (*writer)->cuda_variants(graph, region, options);
}

std::expected<Artifact, Refusal> NvrtcBackend::compile_one(const CompileRequest& request,
                                                           const CompileOptions& options) const {
  if (request.model_bytes) return refuse(RefusalReason::kStructure, "a whole model: nvrtc is no engine");
  const auto writer = native::compiler();
  if (!writer) return refuse(RefusalReason::kMissing, writer.error().saw);
  auto program = (*writer)->cuda_program(request, options);
  if (!program) return std::unexpected(program.error());
  return artifact_of(*std::move(program), options);
}

std::optional<std::size_t> NvrtcBackend::format_bytes(const ValueType& type, const Format& format) const {
  return format.narrow() ? std::nullopt : common_format_bytes(type, format);
}

std::expected<Artifact, Refusal> NvrtcBackend::compile_conversion(const Conversion& conversion,
                                                                  const CompileOptions& options) {
  auto program = write_conversion(conversion);
  if (!program) return std::unexpected(program.error());
  return artifact_of(*std::move(program), options);
}

std::expected<Artifact, Refusal> NvrtcBackend::artifact_of(native::CudaProgram program,
                                                           const CompileOptions& options) const {
  if (!compiler_) return refuse(RefusalReason::kMissing, compiler_.error());
  auto cubin = compiler_->compile(program.source, architecture_, options.accuracy != Accuracy::kStrict);
  if (!cubin) return refuse(RefusalReason::kCompile, cubin.error());
  const StoredKernels stored{.source = std::move(program.source),
                             .cubin = *std::move(cubin),
                             .kernels = std::move(program.kernels),
                             .arguments = std::move(program.arguments),
                             .constants = std::move(program.constants),
                             .workspace_bytes = program.workspace_bytes};
  return Artifact{.bytes = to_bytes(stored),
                  .compatibility = compatibility_of(architecture_),
                  .constants = std::move(program.graph_constants),
                  .in_place = {},
                  .workspace_bytes = static_cast<std::size_t>(stored.workspace_bytes)};
}

std::vector<std::expected<Artifact, Refusal>> NvrtcBackend::compile(std::span<const CompileRequest> requests,
                                                                    const CompileOptions& options) {
  std::vector<std::expected<Artifact, Refusal>> artifacts;
  for (const CompileRequest& request : requests) artifacts.push_back(compile_one(request, options));
  return artifacts;
}

Result<std::unique_ptr<Kernel>> NvrtcBackend::load(const LoadRequest& request) {
  const int capability = device_->facts().capability;
  if (!runs_on(request.artifact.compatibility, capability))
    return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", info_.name,
                std::string(request.artifact.compatibility),
                fmt::format("{}{} to {}", kCompatibility, capability / 10 * 10, capability));
  COLLAGE_TRY(StoredKernels stored, stored_kernels(request.artifact.bytes));
  if (request.artifact.workspace_bytes < stored.workspace_bytes)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", info_.name, "a smaller workspace",
                std::to_string(stored.workspace_bytes) + " bytes");
  return make_kernel(*device_, std::move(stored), request);
}

namespace {

Backend* create(const std::string& instance_name, const BackendOptions& options) {
  return new NvrtcBackend(instance_name, options);
}

}  // namespace
}  // namespace collage::nvrtc

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module{.kind = "nvrtc", .create = collage::nvrtc::create};
  return &module;
}
