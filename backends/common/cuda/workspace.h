// Workspaces of NVIDIA's libraries begin at multiples of 256 bytes; those of plans at multiples of 64.
// Source: the documentation of cublasLtMatmul.
#pragma once

#include <cstddef>
#include <cstdint>

namespace collage::cuda {

inline constexpr std::size_t kWorkspaceAlignment = 256;

/// Bytes to ask for, so that so many can be used.
[[nodiscard]] constexpr std::size_t padded_workspace(std::size_t bytes) {
  return bytes == 0 ? 0 : bytes + kWorkspaceAlignment - 64;
}

/// Where it is used from.
[[nodiscard]] inline void* aligned_workspace(void* workspace) {
  const auto address = reinterpret_cast<std::uintptr_t>(workspace);
  return reinterpret_cast<void*>((address + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment);
}

}  // namespace collage::cuda
