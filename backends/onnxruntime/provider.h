// Execution providers of ONNX Runtime for NVIDIA's GPUs. The usual library has none; that of the Python package
// onnxruntime-gpu has both, and is taken where LD_LIBRARY_PATH names its folder.
// Source: ONNX Runtime's documentation of its CUDA and TensorRT execution providers.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <optional>
#include <string>
#include <string_view>

namespace collage {

enum class Provider : std::uint8_t { kCpu, kCuda, kTensorRt };

/// How a session uses a provider.
struct ProviderUse {
  Provider provider = Provider::kCpu;
  int gpu = 0;             ///< among those of CUDA_VISIBLE_DEVICES
  bool uses_tf32 = false;  ///< products of float32 numbers with 10 bits behind the point
};

/// "cpu", "cuda", "tensorrt"; nothing for other names.
[[nodiscard]] std::optional<Provider> provider_of(std::string_view name);
/// Why this library does not have the provider; empty when it has. Throws what the library throws.
[[nodiscard]] std::string missing_provider(Provider provider);
/// Nodes that the provider does not take are the processor's. Throws Ort::Exception.
void append_provider(Ort::SessionOptions& options, const ProviderUse& use);

}  // namespace collage
