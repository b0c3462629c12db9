#include "backends/nvrtc/cuda_artifact.h"

#include <tuple>

#include "base/binary.h"

namespace collage {

inline auto members(TensorArgument& of) { return std::tie(of.kind, of.index, of.type, of.extents, of.strides); }

}  // namespace collage

namespace collage::native {

inline auto members(Packing& of) { return std::tie(of.kind, of.numbers); }
inline auto members(ConstantPart& of) { return std::tie(of.source, of.packing, of.is_packed); }
inline auto members(CudaBuffer& of) { return std::tie(of.kind, of.at); }
inline auto members(CudaKernel& of) { return std::tie(of.name, of.blocks, of.threads, of.parameters); }

}  // namespace collage::native

namespace collage::nvrtc {

inline auto members(StoredKernels& of) {
  return std::tie(of.source, of.cubin, of.kernels, of.arguments, of.constants, of.workspace_bytes);
}

namespace {

/// The form of the bytes: to be raised when it changes.
constexpr std::string_view kForm = "cuda-kernels/1\n";

std::unexpected<Error> broken(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "nvrtc", std::move(saw), "kernels of this backend");
}

Result<void> check(const StoredKernels& stored) {
  for (const native::CudaKernel& kernel : stored.kernels) {
    if (kernel.blocks == 0 || kernel.threads == 0 || kernel.threads > 1024) return broken("a launch without threads");
    for (const native::CudaBuffer& buffer : kernel.parameters) {
      const std::uint64_t end =
          buffer.kind == native::CudaBufferKind::kArgument ? stored.arguments.size() : stored.workspace_bytes;
      if (buffer.at >= end) return broken("a parameter that names no buffer");
    }
  }
  for (const native::Argument& argument : stored.arguments)
    if (argument.kind == ArgumentKind::kConstant && argument.index >= stored.constants.size())
      return broken("an argument that names no constant");
  return {};
}

}  // namespace

std::string to_bytes(const StoredKernels& stored) { return std::string(kForm) + to_binary(stored); }

Result<StoredKernels> stored_kernels(std::string_view bytes) {
  if (!bytes.starts_with(kForm)) return broken("other bytes");
  auto stored = from_binary<StoredKernels>(bytes.substr(kForm.size()));
  if (!stored) return broken("bytes that end early");
  COLLAGE_TRY_VOID(check(*stored));
  return *std::move(stored);
}

}  // namespace collage::nvrtc
