#include "backends/onnxruntime/provider.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace collage {
namespace {

const char* library_name(Provider provider) {
  switch (provider) {
    case Provider::kCpu:
      return "CPUExecutionProvider";
    case Provider::kCuda:
      return "CUDAExecutionProvider";
    case Provider::kTensorRt:
      return "TensorrtExecutionProvider";
  }
  return "";
}

void append_cuda(Ort::SessionOptions& options, const ProviderUse& use) {
  const OrtApi& api = Ort::GetApi();
  OrtCUDAProviderOptionsV2* made = nullptr;
  Ort::ThrowOnError(api.CreateCUDAProviderOptions(&made));
  const std::unique_ptr<OrtCUDAProviderOptionsV2, decltype(api.ReleaseCUDAProviderOptions)> owner(
      made, api.ReleaseCUDAProviderOptions);
  const std::string gpu = std::to_string(use.gpu);
  const std::array keys = {"device_id", "use_tf32"};
  const std::array values = {gpu.c_str(), use.uses_tf32 ? "1" : "0"};
  Ort::ThrowOnError(api.UpdateCUDAProviderOptions(made, keys.data(), values.data(), keys.size()));
  options.AppendExecutionProvider_CUDA_V2(*made);
}

void append_tensorrt(Ort::SessionOptions& options, const ProviderUse& use) {
  const OrtApi& api = Ort::GetApi();
  OrtTensorRTProviderOptionsV2* made = nullptr;
  Ort::ThrowOnError(api.CreateTensorRTProviderOptions(&made));
  const std::unique_ptr<OrtTensorRTProviderOptionsV2, decltype(api.ReleaseTensorRTProviderOptions)> owner(
      made, api.ReleaseTensorRTProviderOptions);
  const std::string gpu = std::to_string(use.gpu);
  const std::array keys = {"device_id"};
  const std::array values = {gpu.c_str()};
  Ort::ThrowOnError(api.UpdateTensorRTProviderOptions(made, keys.data(), values.data(), keys.size()));
  options.AppendExecutionProvider_TensorRT_V2(*made);
}

}  // namespace

std::optional<Provider> provider_of(std::string_view name) {
  if (name == "cpu") return Provider::kCpu;
  if (name == "cuda") return Provider::kCuda;
  if (name == "tensorrt") return Provider::kTensorRt;
  return std::nullopt;
}

std::string missing_provider(Provider provider) {
  const std::vector<std::string> all = Ort::GetAvailableProviders();
  if (std::ranges::find(all, library_name(provider)) != all.end()) return {};
  return fmt::format("this ONNX Runtime has no {}, only {}; that of onnxruntime-gpu has it, in LD_LIBRARY_PATH",
                     library_name(provider), fmt::join(all, ", "));
}

void append_provider(Ort::SessionOptions& options, const ProviderUse& use) {
  if (use.provider == Provider::kTensorRt) append_tensorrt(options, use);
  // What TensorRT leaves is CUDA's before it is the processor's.
  if (use.provider != Provider::kCpu) append_cuda(options, use);
}

}  // namespace collage
