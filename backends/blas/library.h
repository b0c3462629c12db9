// The BLAS library of an instance, opened at run time, so that the module is built and loaded without any BLAS.
// In:  the name of a library, or a file. Out: a Library: its routines, version and build; or why it cannot be used.
// Cost: maps the file and reads its version; a call goes through one pointer.
// Not here: what is computed (kernel.h).
// Source: the CBLAS interface; each library's own function for the number of threads.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

namespace collage::blas {

enum class Order : int { kRowMajor = 101 };
enum class Transposed : int { kNo = 111, kYes = 112 };

/// cblas_sgemm.
using Sgemm = void (*)(Order, Transposed, Transposed, int m, int n, int k, float alpha, const float* a, int lda,
                       const float* b, int ldb, float beta, float* c, int ldc);
/// cblas_sgemv.
using Sgemv = void (*)(Order, Transposed, int m, int n, float alpha, const float* a, int lda, const float* x, int incx,
                       float beta, float* y, int incy);
/// cblas_sgemm_batch_strided.
using SgemmBatch = void (*)(Order, Transposed, Transposed, int m, int n, int k, float alpha, const float* a, int lda,
                            int stride_a, const float* b, int ldb, int stride_b, float beta, float* c, int ldc,
                            int stride_c, int count);

/// Never closed: its routines stay valid as long as the process, as do its threads.
struct Library {
  std::string name;     ///< "openblas", "blis", "mkl"
  std::string version;  ///< "OpenBLAS 0.3.21"
  std::string build;    ///< version, the code chosen for this processor, the linker's build id
  Sgemm sgemm = nullptr;
  Sgemv sgemv = nullptr;
  SgemmBatch sgemm_batch = nullptr;      ///< null where there is none
  std::function<void(int)> set_threads;  ///< empty for a library without threads
};

/// The names that open_library() knows, the default first.
[[nodiscard]] std::vector<std::string> library_names();

/// Opens a library by its well-known names, or the file at `path` when that is not empty. The error says what to do.
[[nodiscard]] std::expected<Library, std::string> open_library(const std::string& name, const std::string& path);

/// At most so many threads from here on, for calls from this thread at least.
void use_threads(const Library& library, int threads);

}  // namespace collage::blas
