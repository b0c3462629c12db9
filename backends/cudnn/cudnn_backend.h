// A backend for convolutions by cuDNN.
// In:  a Conv with constant weights, additions and activations behind it. Out: artifacts (a description, the library's
// text
//       of a plan), kernels in a GPU's queue.
// How: a variant is a format of the images and a rank among the library's proposals: "conv.nhwc@0". Ranks past the
// number
//       of proposals are refused when they are compiled.
// Options: device=N, driver=FILE as of nvrtc; library=FILE in place of libcudnn.so.9. TF32 in class fast alone.
// Threads: as Backend; compile() from one thread at a time.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"
#include "backend/extensions/device_extension.h"
#include "backend/registry.h"
#include "backends/common/cuda/cuda_device.h"
#include "backends/cudnn/kernel.h"
#include "backends/cudnn/library.h"

namespace collage::cudnn {

class CudnnBackend final : public Backend, public DeviceExtension {
 public:
  CudnnBackend(std::string instance_name, const BackendOptions& options);

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

  BackendInfo info_;
  std::string compatibility_;
  std::unique_ptr<cuda::CudaDevice> device_;
  Library library_;
  std::unique_ptr<Handles> handles_;
  std::shared_ptr<OnStream> compiling_;  ///< made with the first plan
};

}  // namespace collage::cudnn
