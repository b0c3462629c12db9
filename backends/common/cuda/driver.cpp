#include "backends/common/cuda/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "backend/device.h"
#include "backends/common/cuda/symbols.h"

namespace collage::cuda {
namespace {

constexpr const char* kSystemDriver = "libcuda.so.1";

/// Codes after which a context takes no more work: faults of kernels, and a context that is gone.
constexpr std::array kLost = {201, 214, 219, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721};

/// What the library lacks; empty when nothing.
std::string find_all(void* library, Driver& driver) {
  Symbols symbols(library);
  symbols.find(driver.init, "cuInit");
  symbols.find(driver.driver_version, "cuDriverGetVersion");
  symbols.find(driver.error_name, "cuGetErrorName");
  symbols.find(driver.error_string, "cuGetErrorString");
  symbols.find(driver.device_count, "cuDeviceGetCount");
  symbols.find(driver.device, "cuDeviceGet");
  symbols.find(driver.device_name, "cuDeviceGetName");
  symbols.find(driver.device_attribute, "cuDeviceGetAttribute");
  symbols.find(driver.device_memory, "cuDeviceTotalMem_v2");
  symbols.find(driver.primary_context, "cuDevicePrimaryCtxRetain");
  symbols.find(driver.push_context, "cuCtxPushCurrent_v2");
  symbols.find(driver.pop_context, "cuCtxPopCurrent_v2");
  symbols.find(driver.wait_context, "cuCtxSynchronize");
  symbols.find(driver.allocate, "cuMemAlloc_v2");
  symbols.find(driver.free, "cuMemFree_v2");
  symbols.find(driver.fill, "cuMemsetD32Async");
  symbols.find(driver.allocate_host, "cuMemHostAlloc");
  symbols.find(driver.free_host, "cuMemFreeHost");
  symbols.find(driver.copy_in, "cuMemcpyHtoDAsync_v2");
  symbols.find(driver.copy_out, "cuMemcpyDtoHAsync_v2");
  symbols.find(driver.make_stream, "cuStreamCreate");
  symbols.find(driver.end_stream, "cuStreamDestroy_v2");
  symbols.find(driver.wait_stream, "cuStreamSynchronize");
  symbols.find(driver.query_stream, "cuStreamQuery");
  symbols.find(driver.make_event, "cuEventCreate");
  symbols.find(driver.end_event, "cuEventDestroy_v2");
  symbols.find(driver.record_event, "cuEventRecord");
  symbols.find(driver.wait_event, "cuEventSynchronize");
  symbols.find(driver.elapsed_ms, "cuEventElapsedTime");
  symbols.find(driver.load_module, "cuModuleLoadDataEx");
  symbols.find(driver.end_module, "cuModuleUnload");
  symbols.find(driver.function, "cuModuleGetFunction");
  symbols.find(driver.launch, "cuLaunchKernel");
  symbols.find(driver.begin_capture, "cuStreamBeginCapture_v2");
  symbols.find(driver.end_capture, "cuStreamEndCapture");
  symbols.find(driver.make_executable_graph, "cuGraphInstantiateWithFlags");
  symbols.find(driver.launch_graph, "cuGraphLaunch");
  symbols.find(driver.end_executable_graph, "cuGraphExecDestroy");
  symbols.find(driver.end_graph, "cuGraphDestroy");
  return symbols.missing();
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
