// After a context is made, a run allocates nothing: every operator new of the process is counted.
#include "runtime_fixture.h"
#include "tests/support/allocation_count.h"

namespace collage {
namespace {

TEST(Allocation, IsCountedAtAll) {
  const std::size_t before = test::allocation_count();
  const auto executable = Executable::load(all_plain(sample_graph()), host_only, {});
  EXPECT_GT(test::allocation_count(), before + 10);
}

TEST(Allocation, NeverHappensInARun) {
  const Graph graph = sample_graph();
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Dice dice(seed);
    auto plan = HostPlanner(graph, [&](std::size_t variants) { return dice.below(variants); }).plan();
    ASSERT_TRUE(plan);
    const auto executable = Executable::load(*plan, host_only, {});
    auto context = executable->make_context();
    std::vector<std::int64_t> times(executable->plan().steps.size());
    const std::size_t before = test::allocation_count();
    const bool ran = context->run().has_value() && context->run_profiled(times).has_value();
    EXPECT_EQ(test::allocation_count(), before) << "seed " << seed;
    EXPECT_TRUE(ran);
  }
}

TEST(Allocation, NeverHappensInARunOfBodies) {
  const auto graph = parse_graph(R"(graph g(%cond: bool[], %init: f32[2], %a: f32[4,2]) -> (%last, %stack) {
  opset ai.onnx 26
  %last: f32[2], %stack: f32[4,2] = Scan(%init, %a) captures(%cond) {body=graph body(%s: f32[2], %p: f32[2]) -> (%t, %t) {
      capture %cond: bool[]
      %t: f32[2] = If(%cond) captures(%p, %s) {else_branch=graph no() -> (%q) {
          capture %s: f32[2]
          capture %p: f32[2]
          %q: f32[2] = Add(%s, %p) "Add_0"
        }, then_branch=graph yes() -> (%r) {
          capture %s: f32[2]
          capture %p: f32[2]
          constant %trips = i64[]{3}
          %r: f32[2] = Loop(%trips, _, %s) captures(%p) {body=graph inner(%i: i64[], %c: bool[], %u: f32[2]) -> (%c, %n) {
              capture %p: f32[2]
              %n: f32[2] = Add(%u, %p) "Add_0"
            }} "Loop_0"
        }} "If_0"
    }, num_scan_inputs=1} "Scan_0"
}
)");
  ASSERT_TRUE(graph) << to_string(graph.error());
  const auto executable = Executable::load(all_plain(*graph), host_only, {});
  ASSERT_TRUE(executable) << to_string(executable.error());
  auto context = executable->make_context();
  for (const bool condition : {false, true}) {
    context->input(0)[0] = std::byte{condition};
    const std::size_t before = test::allocation_count();
    const bool ran = context->run().has_value();
    EXPECT_EQ(test::allocation_count(), before) << condition;
    EXPECT_TRUE(ran);
  }
}

}  // namespace
}  // namespace collage
