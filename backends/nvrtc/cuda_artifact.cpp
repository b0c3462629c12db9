#include "backends/nvrtc/cuda_artifact.h"

#include <limits>
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

/// Whether a number that was read is one of an enumeration whose last one is this.
template <class Enumeration>
bool is_one_of(Enumeration value, Enumeration last) {
  return static_cast<std::size_t>(value) <= static_cast<std::size_t>(last);
}

/// Extents and steps that a buffer of this machine may have.
bool is_sound(const native::Argument& argument) {
  constexpr std::size_t kMostAxes = 8;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (!is_one_of(argument.kind, ArgumentKind::kOutput) || !is_one_of(argument.type, ElementType::kInt2) ||
      bits_of(argument.type) < 8 || argument.extents.size() != argument.strides.size() ||
      argument.extents.size() > kMostAxes)
    return false;
  std::int64_t reach = 1;
  for (std::size_t i = 0; i < argument.extents.size(); ++i) {
    if (argument.extents[i] < 1 || argument.extents[i] > kMost) return false;
    if (argument.strides[i] < 0 || argument.strides[i] > kMost) return false;
    reach += (argument.extents[i] - 1) * argument.strides[i];
    if (reach > kMost) return false;
  }
  return true;
}

Result<void> check(const StoredKernels& stored) {
  for (const native::ConstantPart& part : stored.constants)
    if (!is_one_of(part.packing.kind, native::PackingKind::kFixedWinogradScales)) return broken("an unknown packing");
  for (const native::Argument& argument : stored.arguments)
    if (!is_sound(argument)) return broken("an argument that is no array");
  for (const native::CudaKernel& kernel : stored.kernels) {
    if (kernel.blocks == 0 || kernel.threads == 0 || kernel.threads > 1024) return broken("a launch without threads");
    for (const native::CudaBuffer& buffer : kernel.parameters) {
      if (!is_one_of(buffer.kind, native::CudaBufferKind::kScratch)) return broken("a parameter of an unknown kind");
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
