#include "library.h"

#include <dlfcn.h>
#include <link.h>
#include <omp.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "backends/common/build_id/build_id.h"
#include "base/error.h"

namespace collage::blas {
namespace {

constexpr const char* kOpenblasCore = "OPENBLAS_CORETYPE";

/// A file's own symbols go before those of other BLAS libraries in the process; sanitisers refuse to load such files.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kOwnSymbolsFirst = 0;
#else
constexpr int kOwnSymbolsFirst = RTLD_DEEPBIND;
#endif

/// An open file.
struct Handle {
  void* handle = nullptr;

  explicit Handle(const char* file) : handle(::dlopen(file, RTLD_NOW | RTLD_LOCAL | kOwnSymbolsFirst)) {}

  template <class Function>
  [[nodiscard]] Function symbol(const char* name) const {
    return reinterpret_cast<Function>(::dlsym(handle, name));
  }
  [[nodiscard]] const link_map* map() const {
    link_map* map = nullptr;
    return ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map : nullptr;
  }
  [[nodiscard]] std::string file() const { return map() != nullptr ? map()->l_name : ""; }
  [[nodiscard]] std::string build_id() const { return map() != nullptr ? build_id_of(map()->l_ld) : ""; }
  /// Runs what the library does when it is opened once more.
  void open_again() {
    const std::string name = file();
    ::dlclose(handle);
    *this = Handle(name.c_str());
    COLLAGE_CHECK(handle != nullptr, name);
  }
};

/// What is told apart: where a library lies, what it is called and how it wants to be set up.
struct Kind {
  const char* name;
  std::vector<const char*> files;  ///< in order; Debian's builds on OpenMP first
  const char* install;
  /// Fills in version, core and threads; an empty result, or why this build cannot be used.
  std::string (*set_up)(Handle&, Library&, std::string& core);
};

/// A variable of the environment that is set as long as this lives, and was not set before. Libraries are opened before
/// there are threads that could be reading the environment.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
}

/// Sets threads where they are not as wanted: setting takes a lock, asking does not.
template <class Number>
std::function<void(int)> setter(const Handle& at, const char* getter_name, const char* setter_name) {
  const auto get = at.symbol<Number (*)()>(getter_name);
  const auto set = at.symbol<void (*)(Number)>(setter_name);
  if (get == nullptr || set == nullptr) return {};
  return [get, set](int threads) {
    if (get() != threads) set(threads);
  };
}

constexpr const char* kOwnPool =
    "is built on POSIX threads, a pool beside the one that all other backends share; allowed OpenMP or no threads";

/// OpenBLAS knows processors by their model and takes its oldest code for one that came after it, whatever that can do.
/// Which code it takes is decided while it is opened; null when it has chosen well.
const char* better_openblas_core(const std::string& core) {
  if (core != "Prescott" || std::getenv(kOpenblasCore) != nullptr || !has_avx2()) return nullptr;
  if (!has_avx512()) return "Haswell";
  return __builtin_cpu_supports("avx512bf16") ? "Cooperlake" : "SkylakeX";
}

std::string set_up_openblas(Handle& at, Library& library, std::string& core) {
  const auto core_name = [&] {
    const auto ask = at.symbol<char* (*)()>("openblas_get_corename");
    return std::string(ask != nullptr ? ask() : "");
  };
  if (const char* better = better_openblas_core(core_name())) {
    const Variable variable(kOpenblasCore, better);
    at.open_again();
  }
  const auto config = at.symbol<char* (*)()>("openblas_get_config");
  const auto parallel = at.symbol<int (*)()>("openblas_get_parallel");
  if (config == nullptr || parallel == nullptr) return "is no OpenBLAS";
  const std::string text = config();
  if (text.find("USE64BITINT") != std::string::npos) return "has 64-bit integers; allowed 32-bit ones";
  if (parallel() == 1) return kOwnPool;
  std::istringstream words(text);
  std::string word, number;
  words >> word >> number;
  library.version = word + " " + number;
  core = core_name();
  if (parallel() != 0) library.set_threads = setter<int>(at, "openblas_get_num_threads", "openblas_set_num_threads");
  return {};
}

std::string set_up_blis(Handle& at, Library& library, std::string& core) {
  for (const char* needed :
       {"bli_init", "bli_info_get_version_str", "bli_info_get_enable_threading", "bli_info_get_enable_openmp",
        "bli_info_get_blas_int_type_size", "bli_arch_query_id", "bli_arch_string"})
    if (at.symbol<void (*)()>(needed) == nullptr) return "is no BLIS";
  const auto number = [&](const char* name) { return at.symbol<std::int64_t (*)()>(name)(); };
  const bool is_threaded = number("bli_info_get_enable_threading") != 0;
  if (is_threaded && number("bli_info_get_enable_openmp") == 0) return kOwnPool;
  if (number("bli_info_get_blas_int_type_size") != 32) return "has 64-bit integers; allowed 32-bit ones";
  // Asked for its core before it is started, a BLIS with BLIS_ARCH_TYPE set stops the process.
  at.symbol<void (*)()>("bli_init")();
  library.version = std::string("BLIS ") + at.symbol<const char* (*)()>("bli_info_get_version_str")();
  core = at.symbol<const char* (*)(int)>("bli_arch_string")(at.symbol<int (*)()>("bli_arch_query_id")());
  if (is_threaded)
    library.set_threads = setter<std::int64_t>(at, "bli_thread_get_num_threads", "bli_thread_set_num_threads");
  return {};
}

/// The words between two others; all of them when the first is not there.
std::string between(const std::string& text, const std::string& first, const std::string& second) {
  const std::size_t at = text.find(first);
  if (at == std::string::npos) return text;
  const std::size_t begin = at + first.size();
  return text.substr(begin, text.find(second, begin) - begin);
}

/// MKL's threads come from GNU's OpenMP, which the other backends use, or there are none: Intel's OpenMP beside it in
/// one process would be a second pool. MKL stops the process when a layer's file is missing, so that is asked first.
std::string set_up_mkl(Handle& at, Library& library, std::string& core) {
  constexpr int kLp64 = 0, kSequential = 1, kGnu = 3;
  const auto set_layer = at.symbol<int (*)(int)>("MKL_Set_Threading_Layer");
  const auto set_interface = at.symbol<int (*)(int)>("MKL_Set_Interface_Layer");
  const auto version = at.symbol<void (*)(char*, int)>("MKL_Get_Version_String");
  if (set_layer == nullptr || set_interface == nullptr || version == nullptr) return "is no MKL";
  constexpr std::string_view kRuntime = "libmkl_rt";
  const std::filesystem::path file = at.file();
  const std::string name = file.filename().string();
  if (!name.starts_with(kRuntime)) return "is not called libmkl_rt, which is the part of MKL to open";
  const std::string ending = name.substr(kRuntime.size());
  const auto has = [&](const char* part) {
    std::error_code ignored;
    return std::filesystem::exists(file.parent_path() / (part + ending), ignored);
  };
  if (!has("libmkl_core") || !has("libmkl_intel_lp64")) return "lies apart from the other files of MKL";
  const bool has_threads = has("libmkl_gnu_thread");
  if (!has_threads && !has("libmkl_sequential")) return "has neither the layer for GNU's OpenMP nor the sequential one";
  set_interface(kLp64);
  const int wanted = has_threads ? kGnu : kSequential;
  if (set_layer(wanted) != wanted) return "runs on another layer of threads already; allowed GNU's OpenMP or none";
  std::array<char, 256> text{};
  version(text.data(), static_cast<int>(text.size()));
  library.version = "MKL " + between(text.data(), "Version ", " for ");
  core = has_threads ? "gnu" : "sequential";
  if (has_threads) library.set_threads = at.symbol<int (*)(int)>("MKL_Set_Num_Threads_Local");
  return {};
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kinds = {
      {"openblas",
       {"/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0", "libopenblas.so.0"},
       "Debian's package libopenblas0-openmp",
       set_up_openblas},
      {"blis",
       {"/usr/lib/x86_64-linux-gnu/blis-openmp/libblis.so.4", "libblis.so.4"},
       "Debian's package libblis4-openmp",
       set_up_blis},
      {"mkl",
       {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"},
       "pip's package mkl, its folder in LD_LIBRARY_PATH or its libmkl_rt in the option path",
       set_up_mkl}};
  return kinds;
}

/// Opens the first file there is.
std::expected<Handle, std::string> open_first(const Kind& kind, const std::string& path) {
  if (!path.empty()) {
    const Handle handle(path.c_str());
    if (handle.handle != nullptr) return handle;
    return std::unexpected(std::string("does not load: ") + ::dlerror());
  }
  for (const char* file : kind.files)
    if (const Handle handle(file); handle.handle != nullptr) return handle;
  return std::unexpected(std::string("is not here; install ") + kind.install);
}

}  // namespace

std::vector<std::string> library_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.emplace_back(kind.name);
  return names;
}

std::expected<Library, std::string> open_library(const std::string& name, const std::string& path) {
  for (const Kind& kind : kinds()) {
    if (kind.name != name) continue;
    auto handle = open_first(kind, path);
    if (!handle) return std::unexpected(name + " " + handle.error());
    if (handle->symbol<Sgemm>("cblas_sgemm") == nullptr || handle->symbol<Sgemv>("cblas_sgemv") == nullptr)
      return std::unexpected(handle->file() + " has no cblas_sgemm and cblas_sgemv");
    Library library{.name = name};
    std::string core;
    if (const std::string problem = kind.set_up(*handle, library, core); !problem.empty())
      return std::unexpected(handle->file() + " " + problem);
    library.sgemm = handle->symbol<Sgemm>("cblas_sgemm");
    library.sgemv = handle->symbol<Sgemv>("cblas_sgemv");
    library.sgemm_batch = handle->symbol<SgemmBatch>("cblas_sgemm_batch_strided");
    library.build = library.version + '+' + core + '+' + handle->build_id();
    return library;
  }
  return std::unexpected("lib=" + name + " is unknown");
}

void use_threads(const Library& library, int threads) {
  // OpenBLAS and MKL take fewer threads than they are told when OpenMP's own number for this thread is lower.
  ::omp_set_num_threads(threads);
  if (library.set_threads) library.set_threads(threads);
}

}  // namespace collage::blas
