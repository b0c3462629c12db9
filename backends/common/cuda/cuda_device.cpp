#include "backends/common/cuda/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace collage::cuda {
namespace {

constexpr unsigned kStreamOfItsOwn = 1;  // CU_STREAM_NON_BLOCKING
constexpr int kCaptureRelaxed = 2;       // CU_STREAM_CAPTURE_MODE_RELAXED: the stream is nobody else's
/// A piece of a copy. Two of them are pinned by each queue that copies.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

class CudaMemory final : public DeviceMemory {
 public:
  CudaMemory(CudaDevice& device, DeviceAddress address) : device_(device), address_(address) {}
  /// The driver waits for what is under way.
  ~CudaMemory() override {
    if (const auto current = device_.use()) (void)device_.driver().free(address_);
  }
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  [[nodiscard]] std::byte* data() const override { return reinterpret_cast<std::byte*>(address_); }

 private:
  CudaDevice& device_;
  DeviceAddress address_;
};

/// A graph that was recorded on a queue.
class GraphCall final : public Call {
 public:
  GraphCall(CudaDevice& device, Handle stream, Handle graph) : device_(device), stream_(stream), graph_(graph) {}
  ~GraphCall() override {
    if (const auto current = device_.use()) (void)device_.driver().end_executable_graph(graph_);
  }
  GraphCall(const GraphCall&) = delete;
  GraphCall& operator=(const GraphCall&) = delete;

  Result<void> run() override {
    COLLAGE_TRY(const CurrentContext current, device_.use());
    return device_.driver().check(device_.driver().launch_graph(graph_, stream_), "start a graph");
  }

 private:
  CudaDevice& device_;
  Handle stream_;
  Handle graph_;
};

class CudaQueue final : public DeviceQueue {
 public:
  CudaQueue(CudaDevice& device, Handle stream) : device_(device), driver_(device.driver()), stream_(stream) {}
  ~CudaQueue() override {
    const auto current = device_.use();
    if (!current) return;
    (void)driver_.wait_stream(stream_);
    for (Piece& piece : pieces_) {
      if (piece.bytes != nullptr) (void)driver_.free_host(piece.bytes);
      if (piece.copied != nullptr) (void)driver_.end_event(piece.copied);
    }
    for (const Handle event : {begin_, end_})
      if (event != nullptr) (void)driver_.end_event(event);
    (void)driver_.end_stream(stream_);
  }
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  [[nodiscard]] void* native() const override { return stream_; }

  Result<void> wait() override {
    COLLAGE_TRY(const CurrentContext current, device_.use());
    return driver_.check(driver_.wait_stream(stream_), "wait for a stream");
  }

  Result<void> copy_in(std::byte* to, const std::byte* from, std::size_t bytes) override {
    COLLAGE_TRY(const CurrentContext current, device_.use());
    COLLAGE_TRY_VOID(prepare_copies());
    for (std::size_t done = 0; done < bytes; done += kPieceBytes) {
      Piece& piece = pieces_[done / kPieceBytes % pieces_.size()];
      const std::size_t part = std::min(kPieceBytes, bytes - done);
      COLLAGE_TRY_VOID(driver_.check(driver_.wait_event(piece.copied), "wait for a copy"));
      std::memcpy(piece.bytes, from + done, part);
      COLLAGE_TRY_VOID(driver_.check(driver_.copy_in(address(to + done), piece.bytes, part, stream_), "copy in"));
      COLLAGE_TRY_VOID(driver_.check(driver_.record_event(piece.copied, stream_), "record an event"));
    }
    return wait();
  }

  Result<void> copy_out(std::byte* to, const std::byte* from, std::size_t bytes) override {
    COLLAGE_TRY(const CurrentContext current, device_.use());
    COLLAGE_TRY_VOID(prepare_copies());
    // The copy of one piece is queued before the piece before it is taken.
    const std::size_t count = (bytes + kPieceBytes - 1) / kPieceBytes;
    for (std::size_t i = 0; i <= count; ++i) {
      if (i < count) COLLAGE_TRY_VOID(send_out(i, from, bytes));
      if (i > 0) COLLAGE_TRY_VOID(take_out(i - 1, to, bytes));
    }
    return wait();
  }

  /// Before the first run memory is filled that leaves nothing in the GPU's last cache, as the rest of a model would;
  /// meanwhile the host queues the run, so that the GPU does not wait for it.
  Result<std::int64_t> time(Call& call, std::int64_t runs) override {
    COLLAGE_TRY(const CurrentContext current, device_.use());
    for (Handle* event : {&begin_, &end_})
      if (*event == nullptr) COLLAGE_TRY_VOID(driver_.check(driver_.make_event(event, 0), "make an event"));
    COLLAGE_TRY_VOID(empty_cache());
    COLLAGE_TRY_VOID(driver_.check(driver_.record_event(begin_, stream_), "record an event"));
    for (std::int64_t i = 0; i < runs; ++i) COLLAGE_TRY_VOID(call.run());
    COLLAGE_TRY_VOID(driver_.check(driver_.record_event(end_, stream_), "record an event"));
    COLLAGE_TRY_VOID(driver_.check(driver_.wait_event(end_), "wait for an event"));
    float ms = 0;
    COLLAGE_TRY_VOID(driver_.check(driver_.elapsed_ms(&ms, begin_, end_), "read a time"));
    return std::llround(static_cast<double>(ms) * 1e6);
  }

  /// Null where some call cannot be recorded: it is then run by itself.
  Result<std::unique_ptr<Call>> record(std::span<Call* const> calls) override {
    COLLAGE_TRY(const CurrentContext current, device_.use());
    COLLAGE_TRY_VOID(driver_.check(driver_.begin_capture(stream_, kCaptureRelaxed), "begin a graph"));
    Result<void> done;
    for (Call* const call : calls)
      if (done) done = call->run();
    // The stream has to leave its capture in any case.
    Handle graph = nullptr;
    const Result<void> ended = driver_.check(driver_.end_capture(stream_, &graph), "end a graph");
    Handle executable = nullptr;
    if (done && ended)
      done = driver_.check(driver_.make_executable_graph(&executable, graph, 0), "make a graph");
    else if (done)
      done = ended;
    if (graph != nullptr) (void)driver_.end_graph(graph);
    if (done) return std::make_unique<GraphCall>(device_, stream_, executable);
    if (done.error().code == kDeviceLost) return std::unexpected(std::move(done).error());
    return nullptr;
  }

 private:
  struct Piece {
    void* bytes = nullptr;
    Handle copied = nullptr;
  };

  static DeviceAddress address(const std::byte* of) { return reinterpret_cast<DeviceAddress>(of); }

  Result<void> prepare_copies() {
    for (Piece& piece : pieces_) {
      if (piece.bytes == nullptr)
        COLLAGE_TRY_VOID(driver_.check(driver_.allocate_host(&piece.bytes, kPieceBytes, 0), "pin memory"));
      if (piece.copied == nullptr)
        COLLAGE_TRY_VOID(driver_.check(driver_.make_event(&piece.copied, 0), "make an event"));
    }
    return {};
  }

  Result<void> send_out(std::size_t index, const std::byte* from, std::size_t bytes) {
    Piece& piece = pieces_[index % pieces_.size()];
    const std::size_t begin = index * kPieceBytes;
    COLLAGE_TRY_VOID(driver_.check(
        driver_.copy_out(piece.bytes, address(from + begin), std::min(kPieceBytes, bytes - begin), stream_),
        "copy out"));
    return driver_.check(driver_.record_event(piece.copied, stream_), "record an event");
  }

  Result<void> take_out(std::size_t index, std::byte* to, std::size_t bytes) {
    Piece& piece = pieces_[index % pieces_.size()];
    const std::size_t begin = index * kPieceBytes;
    COLLAGE_TRY_VOID(driver_.check(driver_.wait_event(piece.copied), "wait for a copy"));
    std::memcpy(to + begin, piece.bytes, std::min(kPieceBytes, bytes - begin));
    return {};
  }

  Result<void> empty_cache() {
    const auto bytes = static_cast<std::size_t>(2 * device_.facts().cache_bytes);
    if (bytes == 0) return {};
    if (!other_) {
      COLLAGE_TRY(other_, device_.allocate(bytes));
    }
    return driver_.check(driver_.fill(address(other_->data()), 0, bytes / sizeof(std::uint32_t), stream_),
                         "fill memory");
  }

  CudaDevice& device_;
  const Driver& driver_;
  Handle stream_;
  std::unique_ptr<DeviceMemory> other_;  ///< as large as two of the GPU's last caches
  std::array<Piece, 2> pieces_;
  Handle begin_ = nullptr;
  Handle end_ = nullptr;
};

}  // namespace

std::string GpuFacts::print() const {
  return fmt::format("{} {}.{} CUDA {}.{}", name, capability / 10, capability % 10, driver_version / 1000,
                     driver_version % 1000 / 10);
}

std::expected<GpuFacts, std::string> facts_of(const Driver& driver, int ordinal) {
  GpuFacts facts{.ordinal = ordinal};
  int count = 0;
  if (driver.device_count(&count) != kSuccess || count == 0) return std::unexpected("no GPU that the driver shows");
  if (ordinal < 0 || ordinal >= count) return std::unexpected(fmt::format("no GPU {}: there are {}", ordinal, count));
  int device = 0;
  std::array<char, 256> name{};
  std::size_t bytes = 0;
  const auto attribute = [&](Attribute which) {
    int value = 0;
    return driver.device_attribute(&value, which, device) == kSuccess ? value : 0;
  };
  if (driver.device(&device, ordinal) != kSuccess ||
      driver.device_name(name.data(), static_cast<int>(name.size()) - 1, device) != kSuccess ||
      driver.device_memory(&bytes, device) != kSuccess || driver.driver_version(&facts.driver_version) != kSuccess)
    return std::unexpected(fmt::format("GPU {} does not answer", ordinal));
  facts.name = name.data();
  facts.bytes = static_cast<std::int64_t>(bytes);
  facts.capability = attribute(Attribute::kCapabilityMajor) * 10 + attribute(Attribute::kCapabilityMinor);
  facts.cache_bytes = attribute(Attribute::kCacheBytes);
  return facts;
}

Result<void> CudaDevice::retain() {
  const std::scoped_lock lock(mutex_);
  if (context_ != nullptr) return {};
  int device = 0;
  Handle context = nullptr;
  COLLAGE_TRY_VOID(driver_.check(driver_.device(&device, facts_.ordinal), "find the GPU"));
  COLLAGE_TRY_VOID(driver_.check(driver_.primary_context(&context, device), "make a context"));
  context_ = context;
  return {};
}

Result<CurrentContext> CudaDevice::use() {
  if (context_ == nullptr) COLLAGE_TRY_VOID(retain());
  COLLAGE_TRY_VOID(driver_.check(driver_.push_context(context_), "use the context"));
  return CurrentContext(driver_);
}

Result<std::unique_ptr<DeviceMemory>> CudaDevice::allocate(std::size_t bytes) {
  COLLAGE_TRY(const CurrentContext current, use());
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  DeviceAddress address = 0;
  COLLAGE_TRY_VOID(driver_.check(driver_.allocate(&address, size), fmt::format("allocate {} bytes", size).c_str()));
  return std::make_unique<CudaMemory>(*this, address);
}

Result<std::unique_ptr<DeviceQueue>> CudaDevice::make_queue() {
  COLLAGE_TRY(const CurrentContext current, use());
  Handle stream = nullptr;
  COLLAGE_TRY_VOID(driver_.check(driver_.make_stream(&stream, kStreamOfItsOwn), "make a stream"));
  return std::make_unique<CudaQueue>(*this, stream);
}

}  // namespace collage::cuda
