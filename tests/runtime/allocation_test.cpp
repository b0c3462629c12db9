// After a context is made, a run allocates nothing: every operator new of the process is counted here.
#include <cstdlib>
#include <new>

#include "runtime_fixture.h"

namespace {
thread_local std::size_t allocations = 0;  // a counter that operator new can reach has to be global

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes == 0 ? 1 : bytes, 16); }
void* operator new[](std::size_t bytes) { return counted(bytes == 0 ? 1 : bytes, 16); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes == 0 ? 1 : bytes, 16); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
// Not inlined, or GCC takes the pair of new and free() in a caller for a mistake.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace collage {
namespace {

TEST(Allocation, IsCountedAtAll) {
  const std::size_t before = allocations;
  const auto session = Session::load(all_plain(sample_graph()), host_only, {});
  EXPECT_GT(allocations, before + 10);
}

TEST(Allocation, NeverHappensInARun) {
  const Graph graph = sample_graph();
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Dice dice(seed);
    auto plan = HostPlanner(graph, [&](std::size_t variants) { return dice.below(variants); }).plan();
    ASSERT_TRUE(plan);
    const auto session = Session::load(*plan, host_only, {});
    auto context = session->make_context();
    std::vector<std::int64_t> times(session->plan().steps.size());
    const std::size_t before = allocations;
    const bool ran = context->run().has_value() && context->run_profiled(times).has_value();
    EXPECT_EQ(allocations, before) << "seed " << seed;
    EXPECT_TRUE(ran);
  }
}

}  // namespace
}  // namespace collage
