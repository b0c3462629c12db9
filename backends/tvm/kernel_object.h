// A shared object of kernels that TVM compiled, in a process without TVM: gives it the functions that it asks of its
// host.
// In:  the bytes of the object. Out: its kernels as functions, for as long as it lives.
// Threads: a parallel loop runs on the threads of the LoopThreads of the thread that called the kernel. Blocks of
//       memory that a kernel takes stay with the thread that took them first, for its next calls.
// Source: tvm/ffi/c_api.h of apache-tvm-ffi 0.1.14, tvm/runtime/c_backend_api.h of TVM 0.27, dlpack/dlpack.h 1.1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/thread_pool.h"
#include "base/error.h"
#include "ir/type.h"

namespace collage::tvm {

/// A tensor as kernels are given it: dense, f32, on the processor.
struct KernelTensor {
  void* data = nullptr;
  std::int32_t device_type = 1;
  std::int32_t device = 0;
  std::int32_t rank = 0;
  std::uint8_t type_code = 2;
  std::uint8_t bits = 32;
  std::uint16_t lanes = 1;
  const std::int64_t* extents = nullptr;
  const std::int64_t* strides = nullptr;  ///< null: row-major
  std::uint64_t offset = 0;
};

/// What a kernel is called with, and returns.
struct KernelValue {
  std::int32_t kind = 0;  ///< kTensor, or 0 for nothing
  std::uint32_t padding = 0;
  void* pointer = nullptr;
  static constexpr std::int32_t kTensor = 7;
};

using KernelFunction = int (*)(void* self, const KernelValue* arguments, std::int32_t count, KernelValue* result);

/// Where the parallel loops of a thread's kernel calls run: on `pool`, or where that is null on OpenMP's threads.
struct LoopThreads {
  int threads = 1;
  ThreadPool* pool = nullptr;
};

class KernelObject {
 public:
  /// Errors as of open_object().
  [[nodiscard]] static Result<std::shared_ptr<const KernelObject>> load(std::string_view bytes);
  explicit KernelObject(void* handle) : handle_(handle) {}
  ~KernelObject();
  KernelObject(const KernelObject&) = delete;
  KernelObject& operator=(const KernelObject&) = delete;

  /// Null when there is none.
  [[nodiscard]] KernelFunction kernel(const std::string& name) const;

 private:
  void* handle_;
};

/// A kernel with its tensors. Neither moves once it is ready.
class BoundKernel {
 public:
  BoundKernel(KernelFunction function, std::size_t arguments) : function_(function) {
    tensors_.reserve(arguments);
    extents_.reserve(arguments);
    values_.reserve(arguments);
  }
  BoundKernel(BoundKernel&&) = default;
  BoundKernel& operator=(BoundKernel&&) = delete;

  /// At most as many as the constructor was told.
  void add(void* data, const Extents& extents);
  /// False when the kernel refused what it was given; last_error() says why.
  [[nodiscard]] bool run() const;

 private:
  KernelFunction function_;
  std::vector<KernelTensor> tensors_;
  std::vector<Extents> extents_;
  std::vector<KernelValue> values_;
};

/// Runs kernels one after the other on this thread. Nothing is allocated once the threads have run them before. Error
/// backend/library-failed.
[[nodiscard]] Result<void> run_kernels(const std::vector<BoundKernel>& kernels, const LoopThreads& threads);

}  // namespace collage::tvm
