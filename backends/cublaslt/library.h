// NVIDIA's library of matrix products in this process, opened at run time.
// In:  the library's file. Out: its functions; their codes as errors.
// Source: cuBLASLt of CUDA 12 and 13 (cublasLt.h, cublas_api.h, library_types.h), whose types and numbers are declared
// here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>

#include "base/error.h"

namespace collage::cublaslt {

using Handle = void*;

inline constexpr int kFloat32 = 0;           // CUDA_R_32F
inline constexpr int kComputeFloat32 = 68;   // CUBLAS_COMPUTE_32F
inline constexpr int kComputeFastTf32 = 77;  // CUBLAS_COMPUTE_32F_FAST_TF32

/// cublasLtMatmulDescAttributes_t
enum class DescriptionAttribute : int { kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBias = 8 };
/// cublasOperation_t
enum class Operation : int { kAsItIs = 0, kTransposed = 1 };
/// cublasLtEpilogue_t
enum class Epilogue : int { kNone = 1, kRelu = 2, kBias = 4, kReluBias = 6 };
/// cublasLtMatrixLayoutAttribute_t
enum class LayoutAttribute : int { kBatchCount = 5, kBatchStep = 6 };
/// cublasLtMatmulPreferenceAttributes_t
enum class PreferenceAttribute : int {
  kWorkspaceBytes = 1,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8
};

/// cublasLtMatmulAlgo_t: opaque.
struct Algorithm {
  std::array<std::uint64_t, 8> data{};
};
/// cublasLtMatmulHeuristicResult_t
struct Proposal {
  Algorithm algorithm;
  std::size_t workspace_bytes = 0;
  int state = 0;  ///< 0: it can be run
  float waves = 0;
  std::array<int, 4> reserved{};
};

struct Library {
  std::size_t (*version)() = nullptr;
  const char* (*status_name)(int status) = nullptr;
  int (*create)(Handle* handle) = nullptr;
  int (*make_description)(Handle* description, int compute, int scale) = nullptr;
  int (*set_description)(Handle description, DescriptionAttribute which, const void* value,
                         std::size_t bytes) = nullptr;
  int (*end_description)(Handle description) = nullptr;
  int (*make_layout)(Handle* layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t step) = nullptr;
  int (*set_layout)(Handle layout, LayoutAttribute which, const void* value, std::size_t bytes) = nullptr;
  int (*end_layout)(Handle layout) = nullptr;
  int (*make_preference)(Handle* preference) = nullptr;
  int (*set_preference)(Handle preference, PreferenceAttribute which, const void* value, std::size_t bytes) = nullptr;
  int (*end_preference)(Handle preference) = nullptr;
  int (*propose)(Handle handle, Handle description, Handle a, Handle b, Handle c, Handle d, Handle preference, int most,
                 Proposal* proposals, int* count) = nullptr;
  int (*matmul)(Handle handle, Handle description, const void* alpha, const void* a, Handle layout_a, const void* b,
                Handle layout_b, const void* beta, const void* c, Handle layout_c, void* d, Handle layout_d,
                const Algorithm* algorithm, void* workspace, std::size_t workspace_bytes, Handle stream) = nullptr;

  /// Error backend/library-failed or backend/out-of-memory unless the status is success.
  [[nodiscard]] Result<void> check(int status, const char* what) const;
  /// "13.1.0"
  [[nodiscard]] std::string version_text() const;
};

/// Opens the file, or, for "", libcublasLt.so.13 or .12 where the dynamic loader finds one. Never closed. Empty-handed:
/// why, in words.
[[nodiscard]] std::expected<Library, std::string> open_library(const std::string& path);

}  // namespace collage::cublaslt
