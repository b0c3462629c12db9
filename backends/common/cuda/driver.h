// NVIDIA's driver in this process, opened at run time, so that nothing of CUDA is needed to build or to start.
// In:  the driver's library. Out: its functions; their codes as errors.
// Threads: all functions may be called from any thread; a context is current for one thread (CudaDevice::use).
// Source: CUDA Driver API of CUDA 13.0, whose types and numbers are declared here; names with _v2 are what its header
//       makes of the plain ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>

#include "base/error.h"

namespace collage::cuda {

// Handles of the driver.
using Handle = void*;
using DeviceAddress = std::uint64_t;
using Code = int;

inline constexpr Code kSuccess = 0;
inline constexpr Code kOutOfMemory = 2;

/// Attributes of a device: the driver's numbers.
enum class Attribute : int { kCacheBytes = 38, kCapabilityMajor = 75, kCapabilityMinor = 76 };

/// The functions that are used. Every one returns a code.
struct Driver {
  Code (*init)(unsigned flags) = nullptr;
  Code (*driver_version)(int* version) = nullptr;
  Code (*error_name)(Code code, const char** name) = nullptr;
  Code (*error_string)(Code code, const char** text) = nullptr;
  Code (*device_count)(int* count) = nullptr;
  Code (*device)(int* device, int ordinal) = nullptr;
  Code (*device_name)(char* name, int bytes, int device) = nullptr;
  Code (*device_attribute)(int* value, Attribute attribute, int device) = nullptr;
  Code (*device_memory)(std::size_t* bytes, int device) = nullptr;
  Code (*primary_context)(Handle* context, int device) = nullptr;
  Code (*push_context)(Handle context) = nullptr;
  Code (*pop_context)(Handle* context) = nullptr;
  Code (*wait_context)() = nullptr;
  Code (*allocate)(DeviceAddress* address, std::size_t bytes) = nullptr;
  Code (*free)(DeviceAddress address) = nullptr;
  Code (*fill)(DeviceAddress address, unsigned word, std::size_t words, Handle stream) = nullptr;
  Code (*allocate_host)(void** address, std::size_t bytes, unsigned flags) = nullptr;
  Code (*free_host)(void* address) = nullptr;
  Code (*copy_in)(DeviceAddress to, const void* from, std::size_t bytes, Handle stream) = nullptr;
  Code (*copy_out)(void* to, DeviceAddress from, std::size_t bytes, Handle stream) = nullptr;
  Code (*make_stream)(Handle* stream, unsigned flags) = nullptr;
  Code (*end_stream)(Handle stream) = nullptr;
  Code (*wait_stream)(Handle stream) = nullptr;
  Code (*query_stream)(Handle stream) = nullptr;
  Code (*make_event)(Handle* event, unsigned flags) = nullptr;
  Code (*end_event)(Handle event) = nullptr;
  Code (*record_event)(Handle event, Handle stream) = nullptr;
  Code (*wait_event)(Handle event) = nullptr;
  Code (*elapsed_ms)(float* ms, Handle from, Handle to) = nullptr;
  Code (*load_module)(Handle* module, const void* image, unsigned options, int* names, void** values) = nullptr;
  Code (*end_module)(Handle module) = nullptr;
  Code (*function)(Handle* function, Handle module, const char* name) = nullptr;
  Code (*launch)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                 unsigned block_z, unsigned shared_bytes, Handle stream, void** parameters, void** extra) = nullptr;
  Code (*begin_capture)(Handle stream, int mode) = nullptr;
  Code (*end_capture)(Handle stream, Handle* graph) = nullptr;
  Code (*make_executable_graph)(Handle* executable, Handle graph, unsigned long long flags) = nullptr;
  Code (*launch_graph)(Handle executable, Handle stream) = nullptr;
  Code (*end_executable_graph)(Handle executable) = nullptr;
  Code (*end_graph)(Handle graph) = nullptr;

  /// An error unless the code is success: backend/out-of-memory, backend/device-lost after which the process is of no
  /// use for the device, else backend/library-failed. `what` says what was tried.
  [[nodiscard]] Result<void> check(Code code, const char* what) const;
  /// For a library's own error on this stream: the loss of the device, when that is behind it.
  [[nodiscard]] Error behind(Error error, Handle stream) const;
};

/// Opens the driver and starts it, once for each path; "" is the system's own. Never closed. Empty-handed: why, in
/// words.
[[nodiscard]] std::expected<const Driver*, std::string> open_driver(const std::string& path);

}  // namespace collage::cuda
