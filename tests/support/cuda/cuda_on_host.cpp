// The driver's functions for one made-up GPU. Kernels are shared objects that nvrtc_on_host.cpp has compiled.
// Threads: one mutex around everything.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNotFound = 500;
constexpr int kNotReady = 600;
constexpr int kLaunchFailed = 719;
constexpr int kCaptured = 900;  ///< not allowed while a stream is recorded
constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostParameters = 16;

using Address = std::uint64_t;

struct Three {
  unsigned x = 0, y = 0, z = 0;
};

/// The names that a compiled text has for CUDA's variables.
struct Built {
  void* library = nullptr;
  Three* thread = nullptr;
  Three* block = nullptr;
  void (**barrier)() = nullptr;
};

struct KernelOnHost {
  const Built* built = nullptr;
  std::string name;
  void* code = nullptr;
  std::size_t parameters = 0;
  bool waits = false;  ///< has barriers
};

struct Event {
  std::chrono::steady_clock::time_point at;
  std::size_t item = 0;  ///< of its stream: done when so many are
  struct Stream* stream = nullptr;
};

struct Stream {
  std::vector<std::function<int()>> items;
  std::size_t done = 0;
  bool captures = false;
  std::vector<std::function<int()>> captured;
};

struct Graph {
  std::vector<std::function<int()>> items;
};

struct Block {
  std::size_t bytes = 0;
  std::unique_ptr<std::byte[]> backing;
};

struct Gpu {
  std::mutex mutex;
  std::map<Address, Block> blocks;
  std::size_t allocated = 0;
  Stream first;         ///< of work without a stream
  int lost = kSuccess;  ///< the fault after which nothing works
};

Gpu& gpu() {
  static Gpu* const one = new Gpu;
  return *one;
}

std::size_t memory_bytes() {
  const char* const given = std::getenv("CUDA_ON_HOST_BYTES");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::size_t{4} << 30;
}

/// Where the bytes of a device's address are; null for other addresses.
std::byte* backing_of(Address address) {
  auto& blocks = gpu().blocks;
  const auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return nullptr;
  const auto& [begin, block] = *std::prev(after);
  return address - begin < block.bytes ? block.backing.get() + (address - begin) : nullptr;
}

Stream& stream_of(void* handle) { return handle == nullptr ? gpu().first : *static_cast<Stream*>(handle); }

int finish(Stream& stream, std::size_t count) {
  while (stream.done < count && gpu().lost == kSuccess) gpu().lost = stream.items[stream.done++]();
  if (stream.done == stream.items.size()) {
    // Events of a stream count on: items stay as places, without their work.
    for (auto& item : stream.items) item = nullptr;
  }
  return gpu().lost;
}

int add(Stream& stream, std::function<int()> work) {
  if (gpu().lost != kSuccess) return gpu().lost;
  (stream.captures ? stream.captured : stream.items).push_back(std::move(work));
  return kSuccess;
}

// Threads of a block that has barriers: each runs to its next barrier, then the next one does. Switching keeps what a
// function must not change; system calls, as swapcontext makes, would take most of the time.
asm(R"(
.text
cuda_on_host_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
)");
extern "C" void cuda_on_host_switch(void** left, void* entered);

struct Turns {
  void* main = nullptr;  ///< stack pointers
  std::vector<void*> threads;
  std::vector<bool> ended;
  std::size_t current = 0;
  std::function<void()> work;
};
Turns* turns = nullptr;

void leave_thread() { cuda_on_host_switch(&turns->threads[turns->current], turns->main); }

void run_thread() {
  turns->work();
  turns->ended[turns->current] = true;
  leave_thread();
}

void run_block(const KernelOnHost& kernel, unsigned threads, const std::function<void()>& call) {
  if (!kernel.waits) {
    for (unsigned t = 0; t < threads; ++t) {
      kernel.built->thread->x = t;
      call();
    }
    return;
  }
  constexpr std::size_t kStack = std::size_t{64} << 10;
  static std::vector<std::unique_ptr<std::byte[]>> stacks;  // behind the one mutex
  while (stacks.size() < threads) stacks.push_back(std::make_unique_for_overwrite<std::byte[]>(kStack));
  Turns all{.main = nullptr,
            .threads = std::vector<void*>(threads),
            .ended = std::vector<bool>(threads),
            .current = 0,
            .work = call};
  turns = &all;
  *kernel.built->barrier = leave_thread;
  for (unsigned t = 0; t < threads; ++t) {
    // As if the thread had called the switch at its beginning: six registers, then where it goes on.
    auto* const top = reinterpret_cast<void**>(stacks[t].get() + kStack) - 2;
    *top = reinterpret_cast<void*>(run_thread);
    all.threads[t] = top - 6;
  }
  for (bool some = true; some;) {
    some = false;
    for (unsigned t = 0; t < threads; ++t) {
      if (all.ended[t]) continue;
      all.current = t;
      kernel.built->thread->x = t;
      cuda_on_host_switch(&all.main, all.threads[t]);
      some = true;
    }
  }
  turns = nullptr;
}

int run_kernel(const KernelOnHost& kernel, unsigned blocks, unsigned threads,
               const std::array<Address, kMostParameters>& parameters) {
  if (const char* const fault = std::getenv("CUDA_ON_HOST_FAULT");
      fault != nullptr && kernel.name.find(fault) != std::string::npos)
    return kLaunchFailed;
  std::array<void*, kMostParameters> p{};
  for (std::size_t i = 0; i < kernel.parameters; ++i) {
    p[i] = backing_of(parameters[i]);
    if (p[i] == nullptr) return kLaunchFailed;
  }
  using Code = void (*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                        void*, void*, void*);
  const auto code = reinterpret_cast<Code>(kernel.code);
  const auto call = [&] {
    code(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15]);
  };
  for (unsigned b = 0; b < blocks; ++b) {
    kernel.built->block->x = b;
    run_block(kernel, threads, call);
  }
  return kSuccess;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return kSuccess; }
int cuDriverGetVersion(int* version) { return *version = 13000, kSuccess; }
int cuGetErrorName(int code, const char** name) {
  *name = code == kOutOfMemory    ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
          : code == kNotFound     ? "CUDA_ERROR_NOT_FOUND"
                                  : "CUDA_ERROR_INVALID_VALUE";
  return kSuccess;
}
int cuGetErrorString(int, const char** text) { return *text = "made up", kSuccess; }
int cuDeviceGetCount(int* count) { return *count = 1, kSuccess; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, ordinal == 0 ? kSuccess : kInvalidValue; }
int cuDeviceGetName(char* name, int bytes, int) {
  return std::strncpy(name, "processor in place of a GPU", static_cast<std::size_t>(bytes)), kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : attribute == 38 ? 4096 : 0;
  return kSuccess;
}
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  const std::scoped_lock lock(gpu().mutex);
  return *total = memory_bytes(), *free = *total - gpu().allocated, kSuccess;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = memory_bytes(), kSuccess; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &gpu(), kSuccess; }
/// Contexts that are current for this thread.
thread_local int depth = 0;
int cuCtxPushCurrent_v2(void*) { return ++depth, kSuccess; }
int cuCtxPopCurrent_v2(void**) { return --depth >= 0 ? kSuccess : kInvalidValue; }
int cuCtxSynchronize() { return gpu().lost; }

int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  const std::scoped_lock lock(gpu().mutex);
  if (gpu().lost != kSuccess) return gpu().lost;
  if (gpu().allocated + bytes > memory_bytes()) return kOutOfMemory;
  // Reserved, but neither readable nor writable: the bytes lie elsewhere.
  const std::size_t size = (bytes + kPage - 1) / kPage * kPage;
  void* const reserved = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return kOutOfMemory;
  *address = reinterpret_cast<Address>(reserved);
  gpu().blocks[*address] = {bytes, std::make_unique<std::byte[]>(bytes)};
  gpu().allocated += bytes;
  return kSuccess;
}
int cuMemFree_v2(Address address) {
  const std::scoped_lock lock(gpu().mutex);
  const auto found = gpu().blocks.find(address);
  if (found == gpu().blocks.end()) return kInvalidValue;
  ::munmap(reinterpret_cast<void*>(address), (found->second.bytes + kPage - 1) / kPage * kPage);
  gpu().allocated -= found->second.bytes;
  gpu().blocks.erase(found);
  return kSuccess;
}
int cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  *address = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  return *address != nullptr ? kSuccess : kOutOfMemory;
}
int cuMemFreeHost(void* address) { return std::free(address), kSuccess; }

int cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, void* stream) {
  const std::scoped_lock lock(gpu().mutex);
  return add(stream_of(stream), [=] {
    std::byte* const target = backing_of(to);
    if (target == nullptr) return kInvalidValue;
    std::memcpy(target, from, bytes);
    return kSuccess;
  });
}
int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, void* stream) {
  const std::scoped_lock lock(gpu().mutex);
  return add(stream_of(stream), [=] {
    const std::byte* const source = backing_of(from);
    if (source == nullptr) return kInvalidValue;
    std::memcpy(to, source, bytes);
    return kSuccess;
  });
}

int cuMemsetD32Async(Address to, unsigned word, std::size_t words, void* stream) {
  const std::scoped_lock lock(gpu().mutex);
  return add(stream_of(stream), [=] {
    std::byte* const target = backing_of(to);
    if (target == nullptr) return kInvalidValue;
    for (std::size_t i = 0; i < words; ++i) std::memcpy(target + i * sizeof word, &word, sizeof word);
    return kSuccess;
  });
}
int cuStreamCreate(void** stream, unsigned) { return *stream = new Stream, kSuccess; }
int cuStreamDestroy_v2(void* stream) { return delete static_cast<Stream*>(stream), kSuccess; }
int cuStreamQuery(void* handle) {
  const std::scoped_lock lock(gpu().mutex);
  const Stream& stream = stream_of(handle);
  if (gpu().lost != kSuccess) return gpu().lost;
  return stream.done == stream.items.size() ? kSuccess : kNotReady;
}
int cuStreamSynchronize(void* handle) {
  const std::scoped_lock lock(gpu().mutex);
  Stream& stream = stream_of(handle);
  if (stream.captures) return kCaptured;
  return finish(stream, stream.items.size());
}

int cuEventCreate(void** event, unsigned) { return *event = new Event, kSuccess; }
int cuEventDestroy_v2(void* event) { return delete static_cast<Event*>(event), kSuccess; }
int cuEventRecord(void* handle, void* stream_handle) {
  const std::scoped_lock lock(gpu().mutex);
  auto* const event = static_cast<Event*>(handle);
  Stream& stream = stream_of(stream_handle);
  const int code = add(stream, [event] {
    event->at = std::chrono::steady_clock::now();
    return kSuccess;
  });
  event->stream = &stream;
  event->item = stream.items.size();
  return code;
}
int cuEventSynchronize(void* handle) {
  const std::scoped_lock lock(gpu().mutex);
  auto* const event = static_cast<Event*>(handle);
  return event->stream == nullptr ? gpu().lost : finish(*event->stream, event->item);
}
int cuEventElapsedTime(float* ms, void* from, void* to) {
  *ms = std::chrono::duration<float, std::milli>(static_cast<Event*>(to)->at - static_cast<Event*>(from)->at).count();
  return kSuccess;
}

int cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  // The image begins with its size (nvrtc_on_host.cpp).
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, image, sizeof bytes);
  // A file of its own: what is opened by a path once is the same library for ever.
  std::string path = std::filesystem::temp_directory_path() / "cuda_on_host_XXXXXX";
  const int file = ::mkostemp(path.data(), O_CLOEXEC);
  if (file < 0 ||
      ::write(file, static_cast<const std::byte*>(image) + sizeof bytes, bytes) != static_cast<ssize_t>(bytes))
    return kInvalidValue;
  auto built = std::make_unique<Built>();
  ::close(file);
  built->library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ::unlink(path.c_str());
  if (built->library == nullptr) return kInvalidValue;
  built->thread = static_cast<Three*>(::dlsym(built->library, "threadIdx"));
  built->block = static_cast<Three*>(::dlsym(built->library, "blockIdx"));
  built->barrier = static_cast<void (**)()>(::dlsym(built->library, "cuda_on_host_barrier"));
  *module = built.release();
  return kSuccess;
}
int cuModuleUnload(void* module) {
  auto* const built = static_cast<Built*>(module);
  ::dlclose(built->library);
  delete built;
  return kSuccess;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  const auto* const built = static_cast<const Built*>(module);
  const auto symbol = [&](const std::string& text) { return ::dlsym(built->library, text.c_str()); };
  const auto* const parameters = static_cast<const int*>(symbol(std::string(name) + "_parameters"));
  const auto* const waits = static_cast<const int*>(symbol(std::string(name) + "_waits"));
  void* const code = symbol(name);
  if (code == nullptr || parameters == nullptr || waits == nullptr) return kNotFound;
  // Functions live as long as the process: who launches them may do so until the module ends.
  *function = new KernelOnHost{built, name, code, static_cast<std::size_t>(*parameters), *waits != 0};
  return kSuccess;
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned,
                   void* stream, void** parameters, void**) {
  const std::scoped_lock lock(gpu().mutex);
  const auto* const kernel = static_cast<const KernelOnHost*>(function);
  if (kernel->parameters > kMostParameters || threads == 0 || threads > 1024) return kInvalidValue;
  std::array<Address, kMostParameters> values{};
  for (std::size_t i = 0; i < kernel->parameters; ++i) values[i] = *static_cast<const Address*>(parameters[i]);
  return add(stream_of(stream), [=] { return run_kernel(*kernel, blocks, threads, values); });
}

int cuStreamBeginCapture_v2(void* stream, int) {
  const std::scoped_lock lock(gpu().mutex);
  stream_of(stream).captures = true;
  return gpu().lost;
}
int cuStreamEndCapture(void* handle, void** graph) {
  const std::scoped_lock lock(gpu().mutex);
  Stream& stream = stream_of(handle);
  stream.captures = false;
  *graph = new Graph{std::move(stream.captured)};
  stream.captured.clear();
  return gpu().lost;
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  return *executable = new Graph(*static_cast<Graph*>(graph)), kSuccess;
}
int cuGraphLaunch(void* executable, void* stream) {
  const std::scoped_lock lock(gpu().mutex);
  const auto* const graph = static_cast<const Graph*>(executable);
  return add(stream_of(stream), [graph] {
    for (const auto& item : graph->items)
      if (const int code = item(); code != kSuccess) return code;
    return kSuccess;
  });
}
int cuGraphExecDestroy(void* executable) { return delete static_cast<Graph*>(executable), kSuccess; }
int cuGraphDestroy(void* graph) { return delete static_cast<Graph*>(graph), kSuccess; }

// For the libraries beside this one.
int cuda_on_host_queue(void* stream, int (*work)(const void*), const void* data, std::size_t bytes) {
  const std::scoped_lock lock(gpu().mutex);
  const auto* const begin = static_cast<const std::byte*>(data);
  return add(stream_of(stream),
             [work, copy = std::vector<std::byte>(begin, begin + bytes)] { return work(copy.data()); });
}
void* cuda_on_host_backing(const void* address) { return backing_of(reinterpret_cast<Address>(address)); }

}  // extern "C"
