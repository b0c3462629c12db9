#include "backends/tvm/kernel_object.h"

#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "backends/common/object/object_file.h"
#include "base/float_mode.h"

namespace collage::tvm {
namespace {

thread_local const LoopThreads* loop_threads = nullptr;
thread_local std::string last_error;

// ---- what kernels ask of their host ------------------------------------------------------------------------------

/// Memory that kernels of this thread take while they run. A block is kept for the next call that fits into it.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    for (const Block& block : blocks_) std::free(block.data);
  }

  void* take(std::uint64_t bytes) {
    for (Block& block : blocks_)
      if (!block.is_taken && block.bytes >= bytes) {
        block.is_taken = true;
        return block.data;
      }
    constexpr std::uint64_t kAlign = 64;
    const std::uint64_t whole = std::max((bytes + kAlign - 1) / kAlign * kAlign, kAlign);
    void* data = std::aligned_alloc(kAlign, whole);
    if (data != nullptr) blocks_.push_back({.data = data, .bytes = whole, .is_taken = true});
    return data;
  }

  /// False for what was taken elsewhere.
  bool give_back(const void* data) {
    const auto found = std::ranges::find(blocks_, data, &Block::data);
    if (found != blocks_.end()) found->is_taken = false;
    return found != blocks_.end();
  }

 private:
  struct Block {
    void* data;
    std::uint64_t bytes;
    bool is_taken;
  };
  std::vector<Block> blocks_;
};

Workspace& workspace() {
  thread_local Workspace own;
  return own;
}

void* alloc_workspace(int /*device_type*/, int /*device*/, std::uint64_t bytes, int /*type_code*/, int /*bits*/) {
  return workspace().take(bytes);
}

int free_workspace(int /*device_type*/, int /*device*/, void* data) { return workspace().give_back(data) ? 0 : -1; }

/// What a task learns about the loop that it is a part of.
struct LoopFacts {
  void* barrier = nullptr;  ///< kernels of this backend's schedules do not wait for one another
  std::int32_t tasks = 1;
};
using LoopTask = int (*)(int task, LoopFacts* facts, void* closure);

int on_openmp(LoopTask task, LoopFacts facts, void* closure, int threads) {
  std::atomic<int> failed = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < facts.tasks; ++i) {
    const DefaultFloatMode mode;
    LoopFacts own = facts;
    if (const int result = task(i, &own, closure); result != 0) failed = result;
  }
  return failed;
}

int on_pool(LoopTask task, LoopFacts facts, void* closure, ThreadPool& pool) {
  std::atomic<int> failed = 0;
  pool.run(static_cast<std::size_t>(facts.tasks), [&](std::size_t i) {
    LoopFacts own = facts;
    if (const int result = task(static_cast<int>(i), &own, closure); result != 0) failed = result;
  });
  return failed;
}

int launch(const LoopThreads& here, LoopTask task, void* closure, int wanted) {
  const int threads = here.pool != nullptr ? here.pool->tasks(here.threads) : here.threads;
  LoopFacts facts{.tasks = wanted > 0 ? wanted : threads};
  if (threads > 1 && facts.tasks > 1)
    return here.pool != nullptr ? on_pool(task, facts, closure, *here.pool) : on_openmp(task, facts, closure, threads);
  for (int i = 0; i < facts.tasks; ++i)
    if (const int result = task(i, &facts, closure); result != 0) return result;
  return 0;
}

/// `wanted`: how many tasks; 0 = as many as there are threads. Inside of a task this thread's loops run on it alone.
int parallel_launch(LoopTask task, void* closure, int wanted) {
  const LoopThreads* const here = std::exchange(loop_threads, nullptr);
  const int result = launch(here != nullptr ? *here : LoopThreads(), task, closure, wanted);
  loop_threads = here;
  return result;
}

void set_error(const char* kind, const char** parts, std::int32_t count) {
  last_error = kind != nullptr ? kind : "error";
  last_error += ": ";
  for (std::int32_t i = 0; i < count; ++i)
    if (parts[i] != nullptr) last_error += parts[i];
}

/// A pointer that the object has when its kernels use it.
template <class Function>
void give(void* handle, const char* name, Function* function) {
  if (void* place = ::dlsym(handle, name)) *static_cast<Function**>(place) = function;
}

}  // namespace

Result<std::shared_ptr<const KernelObject>> KernelObject::load(std::string_view bytes) {
  COLLAGE_TRY(void* const handle, open_object(bytes, "tvm"));
  auto object = std::make_shared<const KernelObject>(handle);
  give(handle, "__TVMBackendAllocWorkspace", alloc_workspace);
  give(handle, "__TVMBackendFreeWorkspace", free_workspace);
  give(handle, "__TVMBackendParallelLaunch", parallel_launch);
  using SetError = void (*)(decltype(set_error)*);
  if (const auto attach = reinterpret_cast<SetError>(::dlsym(handle, "__collage_set_error"))) attach(set_error);
  return object;
}

KernelObject::~KernelObject() { ::dlclose(handle_); }

KernelFunction KernelObject::kernel(const std::string& name) const {
  return reinterpret_cast<KernelFunction>(::dlsym(handle_, ("__tvm_ffi_" + name).c_str()));
}

void BoundKernel::add(void* data, const Extents& extents) {
  extents_.push_back(extents);
  tensors_.push_back({.data = data,
                      .rank = static_cast<std::int32_t>(extents.size()),
                      .extents = extents_.back().data(),
                      .strides = nullptr});
  values_.push_back({.kind = KernelValue::kTensor, .pointer = &tensors_.back()});
}

bool BoundKernel::run() const {
  KernelValue nothing;
  return function_(nullptr, values_.data(), static_cast<std::int32_t>(values_.size()), &nothing) == 0;
}

Result<void> run_kernels(const std::vector<BoundKernel>& kernels, const LoopThreads& threads) {
  loop_threads = &threads;
  const bool all = std::ranges::all_of(kernels, [](const BoundKernel& kernel) { return kernel.run(); });
  loop_threads = nullptr;
  if (all) return {};
  return fail(ExitCode::kUnsupported, "backend/library-failed", "tvm", last_error, "kernels that run");
}

}  // namespace collage::tvm
