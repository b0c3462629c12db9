#include "backends/cublaslt/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

#include "backends/common/cuda/symbols.h"

namespace collage::cublaslt {
namespace {

std::expected<void*, std::string> opened(const std::string& path) {
  std::string why;
  const std::vector<std::string> usual = {"libcublasLt.so.13", "libcublasLt.so.12"};
  for (const std::string& file : path.empty() ? usual : std::vector{path}) {
    if (void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    why = ::dlerror();
  }
  return std::unexpected("no cuBLASLt: " + why + "; it is part of CUDA");
}

}  // namespace

std::expected<Library, std::string> open_library(const std::string& path) {
  const auto file = opened(path);
  if (!file) return std::unexpected(file.error());
  Library library;
  cuda::Symbols symbols(*file);
  symbols.find(library.version, "cublasLtGetVersion");
  symbols.find(library.status_name, "cublasLtGetStatusName");
  symbols.find(library.create, "cublasLtCreate");
  symbols.find(library.make_description, "cublasLtMatmulDescCreate");
  symbols.find(library.set_description, "cublasLtMatmulDescSetAttribute");
  symbols.find(library.end_description, "cublasLtMatmulDescDestroy");
  symbols.find(library.make_layout, "cublasLtMatrixLayoutCreate");
  symbols.find(library.set_layout, "cublasLtMatrixLayoutSetAttribute");
  symbols.find(library.end_layout, "cublasLtMatrixLayoutDestroy");
  symbols.find(library.make_preference, "cublasLtMatmulPreferenceCreate");
  symbols.find(library.set_preference, "cublasLtMatmulPreferenceSetAttribute");
  symbols.find(library.end_preference, "cublasLtMatmulPreferenceDestroy");
  symbols.find(library.propose, "cublasLtMatmulAlgoGetHeuristic");
  symbols.find(library.matmul, "cublasLtMatmul");
  if (!symbols.missing().empty()) return std::unexpected("cuBLASLt without " + symbols.missing());
  return library;
}

Result<void> Library::check(int status, const char* what) const {
  if (status == 0) return {};
  constexpr int kAllocationFailed = 3;
  if (status == kAllocationFailed)
    return fail(ExitCode::kLimit, "backend/out-of-memory", "cublaslt", std::string(what) + ": " + status_name(status),
                "less memory");
  return fail(ExitCode::kUnsupported, "backend/library-failed", "cublaslt",
              std::string(what) + ": " + status_name(status));
}

std::string Library::version_text() const {
  const std::size_t number = version();  // 130100 for 13.1.0
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

}  // namespace collage::cublaslt
