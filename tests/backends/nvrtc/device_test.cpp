// A GPU as a device of plans, on the driver that is the processor: what is queued is done when somebody waits.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include "backends/common/cuda/cuda_device.h"
#include "tests/support/cuda/on_host.h"
#include "tests/support/scoped_variable.h"
#include "tests/support/written_graph.h"

namespace collage::test {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<cuda::CudaDevice> make_device() {
  const auto driver = cuda::open_driver(cuda_on_host());
  if (!driver) throw std::runtime_error(driver.error());
  const auto facts = cuda::facts_of(**driver, 0);
  if (!facts) throw std::runtime_error(facts.error());
  return std::make_unique<cuda::CudaDevice>(**driver, *facts);
}

/// Copies a byte from one place to another of the device, through the driver as kernels do.
class CopyCall final : public Call {
 public:
  CopyCall(cuda::CudaDevice& device, DeviceQueue& queue, void* host, const std::byte* from)
      : device_(device), stream_(queue.native()), host_(host), from_(from) {}
  Result<void> run() override {
    return device_.driver().check(
        device_.driver().copy_out(host_, reinterpret_cast<cuda::DeviceAddress>(from_), 1, stream_), "copy");
  }

 private:
  cuda::CudaDevice& device_;
  cuda::Handle stream_;
  void* host_;
  const std::byte* from_;
};

class CudaDeviceOnHost : public ::testing::Test {
 protected:
  std::unique_ptr<cuda::CudaDevice> device = make_device();
  std::unique_ptr<DeviceQueue> queue = device->make_queue().value();
};

TEST_F(CudaDeviceOnHost, CopiesOfAnySizeComeBackAsTheyWere) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, (std::size_t{5} << 20) + 3}) {
    std::vector<std::byte> sent(bytes);
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::byte>(i * 7 + i / 1024);
    const auto memory = device->allocate(bytes).value();
    ASSERT_TRUE(queue->copy_in(memory->data(), sent.data(), bytes));
    std::vector<std::byte> seen(bytes, std::byte{255});
    ASSERT_TRUE(queue->copy_out(seen.data(), memory->data(), bytes));
    EXPECT_EQ(seen, sent) << bytes;
  }
}

TEST_F(CudaDeviceOnHost, SaysWhenMemoryIsUsedUp) {
  const ScopedVariable few("CUDA_ON_HOST_BYTES", "1000");
  const auto memory = device->allocate(4000);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, "backend/out-of-memory");
  EXPECT_THAT(memory.error().saw, HasSubstr("allocate 4000 bytes: CUDA_ERROR_OUT_OF_MEMORY"));
}

TEST_F(CudaDeviceOnHost, TimesRunsByItsOwnEvents) {
  const auto memory = device->allocate(1).value();
  const std::byte sent{7};
  ASSERT_TRUE(queue->copy_in(memory->data(), &sent, 1));
  std::byte seen{};
  CopyCall call(*device, *queue, &seen, memory->data());
  const auto ns = queue->time(call, 100);
  ASSERT_TRUE(ns) << to_string(ns.error());
  EXPECT_EQ(seen, sent) << "timed before it was done";
  EXPECT_GE(*ns, 0);
  EXPECT_LT(*ns, 1'000'000'000);
}

TEST_F(CudaDeviceOnHost, WhatIsRecordedRunsAsOftenAsItIsStarted) {
  const auto memory = device->allocate(2).value();
  const std::vector<std::byte> sent = {std::byte{1}, std::byte{2}};
  ASSERT_TRUE(queue->copy_in(memory->data(), sent.data(), 2));
  std::vector<std::byte> seen(2);
  CopyCall first(*device, *queue, seen.data(), memory->data());
  CopyCall second(*device, *queue, seen.data() + 1, memory->data() + 1);
  const std::vector<Call*> calls = {&first, &second};
  const auto recorded = queue->record(calls);
  ASSERT_TRUE(recorded) << to_string(recorded.error());
  ASSERT_TRUE(queue->wait());
  EXPECT_EQ(seen[1], std::byte{0}) << "recorded, not run";
  for (int run = 0; run < 2; ++run) {
    seen = {std::byte{0}, std::byte{0}};
    ASSERT_TRUE((*recorded)->run());
    ASSERT_TRUE(queue->wait());
    EXPECT_EQ(seen, sent);
  }
}

/// Bytes that are allocated on the device.
std::size_t used_bytes() {
  void* const library = ::dlopen(cuda_on_host().c_str(), RTLD_NOW);
  const auto ask = reinterpret_cast<int (*)(std::size_t*, std::size_t*)>(::dlsym(library, "cuMemGetInfo_v2"));
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(ask(&free, &total), 0);
  return total - free;
}

TEST_F(CudaDeviceOnHost, KernelsLeaveNothingBehind) {
  const Graph graph = graph_of("graph(%x: f32[3,5], %wy: f32[5]) -> (%z) { %z: f32[3,5] = Add(%x, %wy) }");
  const Variant variant = variants_of(nvrtc_on_host(), graph).at(0);
  const Artifact artifact = artifact_of(compiling(nvrtc_on_host()), graph, variant);
  const LoadRequest request = request_of(graph, variant, artifact);
  ASSERT_FALSE(request.constants.empty());
  const std::size_t before = used_bytes();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(loading(nvrtc_on_host()).load(request)) << i;
  EXPECT_EQ(used_bytes(), before);
}

}  // namespace
}  // namespace collage::test
