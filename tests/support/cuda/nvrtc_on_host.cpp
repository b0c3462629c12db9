// NVRTC's functions by the C++ compiler of the build. A "cubin" is a shared object with its size in front.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

extern "C" {
int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*, const char* const*);
int nvrtcCompileProgram(void* program, int count, const char* const* options);
int nvrtcGetProgramLogSize(void* program, std::size_t* bytes);
int nvrtcGetProgramLog(void* program, char* log);
int nvrtcDestroyProgram(void** program);
}

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidOption = 5;
constexpr int kCompilation = 6;

/// What the device's compiler knows by itself.
constexpr const char* kBuiltIn = R"(
struct Three { unsigned x, y, z; };
extern "C" { Three threadIdx, blockIdx, blockDim, gridDim; void (*cuda_on_host_barrier)(); }
#define __global__
#define __device__ static inline
#define __shared__ static
#define __syncthreads() cuda_on_host_barrier()
static inline float __int_as_float(int x) { float f; __builtin_memcpy(&f, &x, 4); return f; }
static inline int __float_as_int(float f) { int x; __builtin_memcpy(&x, &f, 4); return x; }
static inline double __longlong_as_double(long long x) { double f; __builtin_memcpy(&f, &x, 8); return f; }
static inline long long __double_as_longlong(double f) { long long x; __builtin_memcpy(&x, &f, 8); return x; }
static inline float rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
extern "C" {
#define BOTH(name) float name##f(float); double name(double);
BOTH(acos) BOTH(acosh) BOTH(asin) BOTH(asinh) BOTH(atan) BOTH(atanh) BOTH(ceil) BOTH(cos) BOTH(cosh) BOTH(exp)
BOTH(fabs) BOTH(floor) BOTH(log) BOTH(rint) BOTH(sin) BOTH(sinh) BOTH(sqrt) BOTH(tan) BOTH(tanh) BOTH(trunc)
float atan2f(float, float); double atan2(double, double); float powf(float, float); double pow(double, double);
}
)";

struct Program {
  std::string source;
  std::string log;
  std::string cubin;
};

/// The number of each kernel's parameters, and whether it has barriers.
std::string facts_of(const std::string& source) {
  static const std::regex kKernel(R"(extern "C" __global__ void (\w+)\(([^)]*)\))");
  std::string text;
  for (std::sregex_iterator i(source.begin(), source.end(), kKernel), end; i != end; ++i) {
    const std::string parameters = (*i)[2];
    const auto commas = std::count(parameters.begin(), parameters.end(), ',');
    const auto body = static_cast<std::size_t>(i->position() + i->length());
    const std::size_t next = source.find("extern \"C\" __global__", body);
    const bool waits = source.substr(body, next - body).find("__syncthreads") != std::string::npos;
    text += "extern \"C\" { extern const int " + (*i)[1].str() + "_parameters, " + (*i)[1].str() +
            "_waits; const int " + (*i)[1].str() +
            "_parameters = " + std::to_string(parameters.empty() ? 0 : commas + 1) + ", " + (*i)[1].str() +
            "_waits = " + std::to_string(waits) + "; }\n";
  }
  return text;
}

/// What NVIDIA's own NVRTC says of a text, where NVRTC_ON_HOST_ALSO names it: "" when it makes a cubin of it.
std::string words_of_nvrtc(const std::string& source, int count, const char* const* options) {
  const char* const path = std::getenv("NVRTC_ON_HOST_ALSO");
  if (path == nullptr) return "";
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return ::dlerror();
  const auto create = reinterpret_cast<decltype(&nvrtcCreateProgram)>(::dlsym(library, "nvrtcCreateProgram"));
  const auto compile = reinterpret_cast<decltype(&nvrtcCompileProgram)>(::dlsym(library, "nvrtcCompileProgram"));
  const auto log_size = reinterpret_cast<decltype(&nvrtcGetProgramLogSize)>(::dlsym(library, "nvrtcGetProgramLogSize"));
  const auto log_of = reinterpret_cast<decltype(&nvrtcGetProgramLog)>(::dlsym(library, "nvrtcGetProgramLog"));
  const auto destroy = reinterpret_cast<decltype(&nvrtcDestroyProgram)>(::dlsym(library, "nvrtcDestroyProgram"));
  void* program = nullptr;
  if (create(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr) != kSuccess) return "no program";
  std::string words;
  if (compile(program, count, options) != kSuccess) {
    std::size_t bytes = 0;
    log_size(program, &bytes);
    words.resize(bytes);
    log_of(program, words.data());
  }
  destroy(&program);
  return words;
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, kSuccess; }
const char* nvrtcGetErrorString(int code) {
  return code == kCompilation     ? "NVRTC_ERROR_COMPILATION"
         : code == kInvalidOption ? "NVRTC_ERROR_INVALID_OPTION"
                                  : "NVRTC_SUCCESS";
}
int nvrtcGetNumSupportedArchs(int* count) { return *count = 2, kSuccess; }
int nvrtcGetSupportedArchs(int* all) { return all[0] = 75, all[1] = 90, kSuccess; }
int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*, const char* const*) {
  return *program = new Program{.source = source, .log = {}, .cubin = {}}, kSuccess;
}
int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  return *program = nullptr, kSuccess;
}
int nvrtcCompileProgram(void* handle, int count, const char* const* options) {
  auto* const program = static_cast<Program*>(handle);
  bool has_target = false;
  for (int i = 0; i < count; ++i) has_target |= std::strcmp(options[i], "--gpu-architecture=sm_90") == 0;
  if (!has_target) return kInvalidOption;
  program->log = words_of_nvrtc(program->source, count, options);
  if (!program->log.empty()) return kCompilation;
  std::string base = std::filesystem::temp_directory_path() / "nvrtc_on_host_XXXXXX";
  if (::mkdtemp(base.data()) == nullptr) return kCompilation;
  std::ofstream(base + "/kernels.cpp") << kBuiltIn << program->source << facts_of(program->source);
  const std::string command = std::string(COLLAGE_HOST_COMPILER) +
                              " -std=c++17 -O1 -w -fPIC -shared -nostdlib -x c++ " + base + "/kernels.cpp -o " + base +
                              "/kernels.so -lm > " + base + "/log 2>&1";
  const int status = std::system(command.c_str());
  program->log = file_text(base + "/log");
  const std::string code = file_text(base + "/kernels.so");
  const std::uint64_t bytes = code.size();
  program->cubin.assign(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  program->cubin += code;
  for (const char* name : {"/kernels.cpp", "/kernels.so", "/log", ""}) (void)std::remove((base + name).c_str());
  return status == 0 ? kSuccess : kCompilation;
}
int nvrtcGetProgramLogSize(void* program, std::size_t* bytes) {
  return *bytes = static_cast<Program*>(program)->log.size() + 1, kSuccess;
}
int nvrtcGetProgramLog(void* program, char* log) {
  return std::strcpy(log, static_cast<Program*>(program)->log.c_str()), kSuccess;
}
int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
  return *bytes = static_cast<Program*>(program)->cubin.size(), kSuccess;
}
int nvrtcGetCUBIN(void* program, char* bytes) {
  const std::string& cubin = static_cast<Program*>(program)->cubin;
  return std::memcpy(bytes, cubin.data(), cubin.size()), kSuccess;
}

}  // extern "C"
