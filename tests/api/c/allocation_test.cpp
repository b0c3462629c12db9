// A run through C allocates nothing, and neither does setting a shape that was set before.
#include "tests/api/c/c_fixture.h"
#include "tests/support/allocation_count.h"

namespace collage::test {
namespace {

TEST_F(CApi, AllocatesNothingInARun) {
  const PlanHandle plan = loaded(increment_file());
  const SessionHandle session = session_of(plan);
  ASSERT_TRUE(is_good(api_.session_run(session.get())));
  const std::size_t before = allocation_count();
  collage_status* const status = api_.session_run(session.get());
  EXPECT_EQ(allocation_count(), before);
  EXPECT_TRUE(is_good(status));
}

/// y = x + 1 in a loop that two threads share.
RealisedPlan shared_increment_plan() {
  Graph graph;
  graph.opsets = {{"", 26}};
  const Extents extents = {256, 1024};
  const ValueId x = add_input(graph, "x", extents);
  const ValueId one = add_constant(graph, "one", make_tensor<float>(ElementType::kFloat32, {1}, {1}));
  graph.outputs = {add_op(graph, "Add", {x, one}, extents)};
  RealisedPlan plan = all_plain(graph);
  plan.plan.threads = 2;
  return plan;
}

void one_by_one(void* pool, std::size_t count, void (*task)(void*, std::size_t), void* data) {
  ++*static_cast<int*>(pool);
  for (std::size_t i = 0; i < count; ++i) task(data, i);
}

TEST_F(CApi, AllocatesNothingInARunOnThePoolOfTheProgram) {
  const PlanHandle plan = loaded(saved(single_case(shared_increment_plan()), "shared.collage"));
  int loops = 0;
  collage_session_options options{};
  options.size = sizeof options;
  options.parallel_for = one_by_one;
  options.pool = &loops;
  collage_session* made = nullptr;
  ASSERT_TRUE(is_good(api_.session_create(plan.get(), &options, &made)));
  const SessionHandle session(made);
  const std::size_t before = allocation_count();
  collage_status* const status = api_.session_run(made);
  EXPECT_EQ(allocation_count(), before);
  EXPECT_TRUE(is_good(status));
  EXPECT_EQ(loops, 1);
}

TEST_F(CApi, AllocatesNothingForAKnownShape) {
  const PlanHandle plan = loaded(rows_file());
  const SessionHandle session = session_of(plan);
  for (const std::int64_t rows : {2, 8, 3, 16}) ASSERT_TRUE(is_good(set_rows(session, rows)));
  collage_tensor_info info{};
  info.size = sizeof info;
  ASSERT_TRUE(is_good(api_.session_input_info(session.get(), 0, &info)));
  const std::size_t before = allocation_count();
  bool is_right = true;
  for (const std::int64_t rows : {3, 2, 16, 8})
    is_right = is_right && set_rows(session, rows) == nullptr &&
               api_.session_input_info(session.get(), 0, &info) == nullptr && info.extents[0] == rows &&
               api_.session_run(session.get()) == nullptr;
  EXPECT_EQ(allocation_count(), before);
  EXPECT_TRUE(is_right);
}

}  // namespace
}  // namespace collage::test
