#include "backends/cublaslt/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

namespace collage::cublaslt {
namespace {

template <class Function>
void find(void* library, Function& function, const char* name, std::string& missing) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = name;
}

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
  std::string missing;
  find(*file, library.version, "cublasLtGetVersion", missing);
  find(*file, library.status_name, "cublasLtGetStatusName", missing);
  find(*file, library.create, "cublasLtCreate", missing);
  find(*file, library.make_description, "cublasLtMatmulDescCreate", missing);
  find(*file, library.set_description, "cublasLtMatmulDescSetAttribute", missing);
  find(*file, library.end_description, "cublasLtMatmulDescDestroy", missing);
  find(*file, library.make_layout, "cublasLtMatrixLayoutCreate", missing);
  find(*file, library.set_layout, "cublasLtMatrixLayoutSetAttribute", missing);
  find(*file, library.end_layout, "cublasLtMatrixLayoutDestroy", missing);
  find(*file, library.make_preference, "cublasLtMatmulPreferenceCreate", missing);
  find(*file, library.set_preference, "cublasLtMatmulPreferenceSetAttribute", missing);
  find(*file, library.end_preference, "cublasLtMatmulPreferenceDestroy", missing);
  find(*file, library.propose, "cublasLtMatmulAlgoGetHeuristic", missing);
  find(*file, library.matmul, "cublasLtMatmul", missing);
  if (!missing.empty()) return std::unexpected("cuBLASLt without " + missing);
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
