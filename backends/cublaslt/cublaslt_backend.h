// A backend for matrix products by cuBLASLt.
// In:  regions that the blas backend's rules find. Out: artifacts (a product, the algorithm), kernels in a GPU's queue.
// How: a variant is one of the library's proposals, by its place in their order: "gemm.plain@0". Ranks past the number
// of
//       proposals are refused when they are compiled.
// Options: device=N, driver=FILE as of nvrtc; library=FILE in place of libcublasLt. Products in TF32 in class fast
// alone. Threads: as Backend.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "backend/backend.h"
#include "backend/extensions/device_extension.h"
#include "backend/registry.h"
#include "backends/common/cuda/cuda_device.h"
#include "backends/cublaslt/library.h"

namespace collage::cublaslt {

class CublasLtBackend final : public Backend, public DeviceExtension {
 public:
  CublasLtBackend(std::string instance_name, const BackendOptions& options);

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

 private:
  /// Opens driver, GPU and library; why one of them is missing, in words.
  [[nodiscard]] std::expected<void, std::string> open(const BackendOptions& options);
  [[nodiscard]] std::expected<Artifact, Refusal> compile_one(const CompileRequest& request,
                                                             const CompileOptions& options);
  /// The library's handle in the device's context, made at the first call.
  [[nodiscard]] Result<Handle> handle();

  BackendInfo info_;
  std::string compatibility_;
  std::unique_ptr<cuda::CudaDevice> device_;
  Library library_;
  std::mutex mutex_;
  Handle handle_ = nullptr;  ///< as long as the process
};

}  // namespace collage::cublaslt
