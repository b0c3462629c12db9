#include "backends/common/cuda/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "backend/device.h"

namespace collage::cuda {
namespace {

constexpr const char* kSystemDriver = "libcuda.so.1";

/// Codes after which a context takes no more work: faults of kernels, and a context that is gone.
constexpr std::array kLost = {201, 214, 219, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721};

/// Finds functions of a library, and keeps the first name that it lacks.
class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr && missing.empty()) missing = name;
  }

  std::string missing;

 private:
  void* library_;
};

/// What the library lacks; empty when nothing.
std::string find_all(void* library, Driver& driver) {
  Finder finder(library);
  finder.find(driver.init, "cuInit");
  finder.find(driver.driver_version, "cuDriverGetVersion");
  finder.find(driver.error_name, "cuGetErrorName");
  finder.find(driver.error_string, "cuGetErrorString");
  finder.find(driver.device_count, "cuDeviceGetCount");
  finder.find(driver.device, "cuDeviceGet");
  finder.find(driver.device_name, "cuDeviceGetName");
  finder.find(driver.device_attribute, "cuDeviceGetAttribute");
  finder.find(driver.device_memory, "cuDeviceTotalMem_v2");
  finder.find(driver.primary_context, "cuDevicePrimaryCtxRetain");
  finder.find(driver.push_context, "cuCtxPushCurrent_v2");
  finder.find(driver.pop_context, "cuCtxPopCurrent_v2");
  finder.find(driver.wait_context, "cuCtxSynchronize");
  finder.find(driver.allocate, "cuMemAlloc_v2");
  finder.find(driver.free, "cuMemFree_v2");
  finder.find(driver.fill, "cuMemsetD32Async");
  finder.find(driver.allocate_host, "cuMemHostAlloc");
  finder.find(driver.free_host, "cuMemFreeHost");
  finder.find(driver.copy_in, "cuMemcpyHtoDAsync_v2");
  finder.find(driver.copy_out, "cuMemcpyDtoHAsync_v2");
  finder.find(driver.make_stream, "cuStreamCreate");
  finder.find(driver.end_stream, "cuStreamDestroy_v2");
  finder.find(driver.wait_stream, "cuStreamSynchronize");
  finder.find(driver.query_stream, "cuStreamQuery");
  finder.find(driver.make_event, "cuEventCreate");
  finder.find(driver.end_event, "cuEventDestroy_v2");
  finder.find(driver.record_event, "cuEventRecord");
  finder.find(driver.wait_event, "cuEventSynchronize");
  finder.find(driver.elapsed_ms, "cuEventElapsedTime");
  finder.find(driver.load_module, "cuModuleLoadDataEx");
  finder.find(driver.end_module, "cuModuleUnload");
  finder.find(driver.function, "cuModuleGetFunction");
  finder.find(driver.launch, "cuLaunchKernel");
  finder.find(driver.begin_capture, "cuStreamBeginCapture_v2");
  finder.find(driver.end_capture, "cuStreamEndCapture");
  finder.find(driver.make_executable_graph, "cuGraphInstantiateWithFlags");
  finder.find(driver.launch_graph, "cuGraphLaunch");
  finder.find(driver.end_executable_graph, "cuGraphExecDestroy");
  finder.find(driver.end_graph, "cuGraphDestroy");
  return finder.missing;
}

std::string words_of(const Driver& driver, Code code) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.error_name(code, &name) != kSuccess || name == nullptr) return "code " + std::to_string(code);
  std::string words = name;
  if (driver.error_string(code, &text) == kSuccess && text != nullptr) words += std::string(": ") + text;
  return words;
}

std::expected<const Driver*, std::string> opened(const std::string& path) {
  const std::string file = path.empty() ? kSystemDriver : path;
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::unexpected("no NVIDIA driver: " + std::string(::dlerror()));
  auto driver = std::make_unique<Driver>();
  if (const std::string missing = find_all(library, *driver); !missing.empty())
    return std::unexpected(file + " has no " + missing + "; needed is the driver of CUDA 12 or later");
  if (const Code code = driver->init(0); code != kSuccess)
    return std::unexpected("the NVIDIA driver does not start: " + words_of(*driver, code));
  return driver.release();  // as long as the process, like the library
}

}  // namespace

Result<void> Driver::check(Code code, const char* what) const {
  if (code == kSuccess) return {};
  const std::string saw = std::string(what) + ": " + words_of(*this, code);
  if (code == kOutOfMemory) return fail(ExitCode::kLimit, "backend/out-of-memory", "cuda", saw, "less memory");
  const bool is_lost = std::ranges::find(kLost, code) != kLost.end();
  return fail(ExitCode::kUnsupported, is_lost ? kDeviceLost : "backend/library-failed", "cuda", saw);
}

Error Driver::behind(Error error, Handle stream) const {
  const Code code = query_stream(stream);
  if (std::ranges::find(kLost, code) == kLost.end()) return error;
  return check(code, error.saw.c_str()).error();
}

std::expected<const Driver*, std::string> open_driver(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::expected<const Driver*, std::string>> all;
  const std::scoped_lock lock(mutex);
  const auto found = all.find(path);
  return found != all.end() ? found->second : all.emplace(path, opened(path)).first->second;
}

}  // namespace collage::cuda
