// Calls at once, loops on several threads and on a program's own.
#include <algorithm>
#include <atomic>
#include <thread>

#include "tvm_fixture.h"

namespace collage::test {
namespace {

const char* const kConvolved =
    "graph(%x: f32[1,32,20,20], %w: f32[32,32,3,3]) -> (%y) { %c: f32[1,32,20,20] = Conv(%x, %w) {pads=[1,1,1,1]} %y: "
    "f32[1,32,20,20] = Sigmoid(%c) }";

/// Numbers that begin where a plan's buffers do: kernels rely on it.
class Numbered {
 public:
  explicit Numbered(std::size_t count) : lines_(count / 16 + 1) {}
  explicit Numbered(const std::vector<float>& numbers) : Numbered(numbers.size()) {
    std::ranges::copy(numbers, data());
  }
  [[nodiscard]] float* data() { return lines_[0].numbers; }
  bool operator==(const Numbered&) const = default;

 private:
  struct alignas(64) Line {
    float numbers[16] = {};
    bool operator==(const Line&) const = default;
  };
  std::vector<Line> lines_;
};

class TvmThreads : public TvmTest {
 protected:
  std::unique_ptr<Kernel> load(int threads) {
    artifact_ = artifact_of(kTuned, graph_, threads);
    auto kernel = loading(kTuned).load(request_of(graph_, variants_of(kTuned, graph_).at(0), artifact_, threads));
    COLLAGE_CHECK(kernel.has_value(), kernel ? "" : to_string(kernel.error()));
    return std::move(*kernel);
  }

  Graph graph_ = graph_of(kConvolved);
  Artifact artifact_;
  Numbered x_{numbers_of(graph_, graph_.inputs[0])};
  Numbered y_{std::size_t{32} * 400};
};

TEST_F(TvmThreads, GiveTheSameNumbersToCallsAtOnce) {
  for (const int threads : {1, 2}) {
    const auto kernel = load(threads);
    std::vector<Numbered> results(4, y_);
    std::vector<std::thread> callers;
    for (Numbered& result : results)
      callers.emplace_back([&] {
        auto call = kernel->bind({.inputs = {x_.data()}, .outputs = {result.data()}});
        ASSERT_TRUE(call) << to_string(call.error());
        for (int i = 0; i < 20; ++i) EXPECT_TRUE((*call)->run());
      });
    for (std::thread& caller : callers) caller.join();
    for (const Numbered& result : results) EXPECT_TRUE(result == results[0]) << threads;
  }
}

TEST_F(TvmThreads, AreThoseOfTheProgramWhereItGivesSome) {
  struct Counted {
    std::atomic<int> loops = 0;
    static void run(void* self, std::size_t count, void (*task)(void* data, std::size_t index), void* data) {
      ++static_cast<Counted*>(self)->loops;
      for (std::size_t i = 0; i < count; ++i) task(data, i);
    }
  } counted;
  ThreadPool pool({.parallel_for = Counted::run, .pool = &counted, .threads = 0});
  const auto kernel = load(2);
  auto alone = kernel->bind({.inputs = {x_.data()}, .outputs = {y_.data()}});
  ASSERT_TRUE(alone);
  ASSERT_TRUE((*alone)->run());
  Numbered other(std::size_t{32} * 400);
  auto pooled = kernel->bind({.inputs = {x_.data()}, .outputs = {other.data()}, .pool = &pool});
  ASSERT_TRUE(pooled);
  ASSERT_TRUE((*pooled)->run());
  EXPECT_TRUE(other == y_);
  EXPECT_GT(counted.loops, 0);
  EXPECT_FALSE(pool.take_failure());
}

TEST_F(TvmThreads, CallsOutliveTheirKernel) {
  auto kernel = load(1);
  auto call = kernel->bind({.inputs = {x_.data()}, .outputs = {y_.data()}});
  ASSERT_TRUE(call);
  kernel.reset();
  EXPECT_TRUE((*call)->run());
}

}  // namespace
}  // namespace collage::test
