// A run of a kernel allocates nothing: every operator new of the process is counted here, on any thread.
#include <atomic>
#include <cstdlib>
#include <new>

#include "native_fixture.h"

namespace {
std::atomic<std::size_t> allocations = 0;  // a counter that operator new can reach has to be global

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* counted_or_throw(std::size_t bytes, std::size_t alignment = 16) {
  void* memory = counted(bytes == 0 ? 1 : bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t bytes) { return counted_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return counted_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes == 0 ? 1 : bytes, 16); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_or_throw(bytes, static_cast<std::size_t>(alignment));
}
// Not inlined, or GCC takes the pair of new and free() in a caller for a mistake.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace collage::test {
namespace {

constexpr const char* kConvolution =
    "graph(%x: f32[1,32,12,12], %w: f32[32,32,3,3]) -> (%y) { "
    "%y: f32[1,32,12,12] = Conv(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1]} }";
constexpr const char* kLong = "graph(%a: f32[1048576]) -> (%y) { %y: f32[1048576] = Tanh(%a) }";

struct alignas(64) Line {
  std::byte bytes[64];
};

class Allocation : public testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(Allocation, NeverHappensInARun) {
  const auto& [text, threads] = GetParam();
  const Graph graph = graph_of(text);
  const CompileOptions options{.threads = threads};
  for (const Variant& variant : variants_of(compiling(), graph, options)) {
    SCOPED_TRACE(variant.name);
    const Artifact artifact = artifact_of(compiling(), graph, variant, options);
    const auto kernel = loading().load(request_of(graph, variant, artifact, threads));
    ASSERT_TRUE(kernel) << to_string(kernel.error());
    const ValueType& in = graph.value(graph.inputs[0]).type;
    const ValueType& out = graph.value(graph.outputs[0]).type;
    std::vector<Line> input(byte_count(in.element, in.extents()) / 64 + 1);
    std::vector<Line> output(byte_count(out.element, out.extents()) / 64 + 1);
    std::vector<Line> workspace(artifact.workspace_bytes / 64 + 1);
    const auto call =
        (*kernel)->bind({.inputs = {input.data()}, .outputs = {output.data()}, .workspace = workspace.data()});
    ASSERT_TRUE(call && (*call)->run()) << "the first run starts the threads";
    const std::size_t before = allocations;
    bool all_ran = true;
    for (int i = 0; i < 5; ++i) all_ran = (*call)->run().has_value() && all_ran;
    EXPECT_EQ(allocations, before);
    EXPECT_TRUE(all_ran);
    EXPECT_GT(before, 0U) << "they are counted at all";
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Allocation,
                         testing::Combine(testing::Values(kConvolution, kLong), testing::Values(1, 2)));

}  // namespace
}  // namespace collage::test
