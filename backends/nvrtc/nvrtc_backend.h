// A backend of kernels that our tensor compiler writes in CUDA C and NVRTC compiles.
// In:  regions, as the native backend takes them. Out: artifacts (cubins with their launches), kernels in a GPU's
// queue. Options: device=N, the GPU among those of CUDA_VISIBLE_DEVICES (default 0); driver=FILE and compiler=FILE in
// place of
//       libcuda.so.1 and NVRTC. Its location is "cuda", or "cudaN".
// Cost: an instance asks the driver what is there; a context is made with the first memory or kernel.
// Threads: as Backend; compile() from one thread at a time.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"
#include "backend/extensions/device_extension.h"
#include "backend/extensions/format_extension.h"
#include "backend/registry.h"
#include "backends/common/cuda/cuda_device.h"
#include "backends/native/cuda_program.h"
#include "backends/nvrtc/nvrtc_library.h"

namespace collage::nvrtc {

class NvrtcBackend final : public Backend, public DeviceExtension, public FormatExtension {
 public:
  NvrtcBackend(std::string instance_name, const BackendOptions& options);

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override;
  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override;
  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions& options) override;
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override;
  [[nodiscard]] Extension* extension(ExtensionKind kind) override;
  /// Precondition: the instance is usable.
  [[nodiscard]] Device& device() override { return *device_; }
  [[nodiscard]] std::optional<std::size_t> format_bytes(const ValueType& type, const Format& format) const override;
  [[nodiscard]] std::expected<Artifact, Refusal> compile_conversion(const Conversion& conversion,
                                                                    const CompileOptions& options) override;

 private:
  /// Opens driver and GPU, which kernels need, and the compiler; why one of the former is missing, in words.
  [[nodiscard]] std::expected<void, std::string> open(const BackendOptions& options);
  [[nodiscard]] std::expected<Artifact, Refusal> compile_one(const CompileRequest& request,
                                                             const CompileOptions& options) const;
  [[nodiscard]] std::expected<Artifact, Refusal> artifact_of(native::CudaProgram program,
                                                             const CompileOptions& options) const;

  BackendInfo info_;
  std::unique_ptr<cuda::CudaDevice> device_;
  std::expected<NvrtcLibrary, std::string> compiler_;  ///< why regions cannot be compiled
  int architecture_ = 0;                               ///< that it compiles for
};

}  // namespace collage::nvrtc
