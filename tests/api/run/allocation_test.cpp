// A session allocates nothing after it has met a shape: every operator new of the process is counted.
#include "api/run/loaded_plan.h"
#include "tests/runtime/runtime_fixture.h"
#include "tests/support/allocation_count.h"
#include "tests/support/shape_cases.h"

namespace collage {
namespace {

TEST(SessionAllocation, NeverHappensInARunOfFixedShapes) {
  const auto plan = LoadedPlan::load(single_case(all_plain(sample_graph())), host_only);
  ASSERT_TRUE(plan) << to_string(plan.error());
  auto session = plan->make_session();
  ASSERT_TRUE(session);
  std::vector<std::int64_t> times(session->plan().steps.size());
  const std::size_t before = test::allocation_count();
  const bool ran = session->run().has_value() && session->run_profiled(times).has_value();
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_TRUE(ran);
}

TEST(SessionAllocation, NeverHappensWhenAKnownShapeIsFound) {
  test::RowsBackend backend;
  PlanCases cases = test::rows_cases({2, 8}, true);
  ASSERT_TRUE(share_weights(cases, relocate_external_data));
  const auto plan =
      LoadedPlan::load(std::move(cases), [&](const std::string&) -> Result<Backend*> { return &backend; });
  ASSERT_TRUE(plan) << to_string(plan.error());
  auto session = plan->make_session();
  ASSERT_TRUE(session);
  std::vector<std::vector<Extents>> shapes;
  for (const std::int64_t n : {2, 8, 3, 16}) shapes.push_back({{n, test::kCaseWidth}});
  for (const std::vector<Extents>& shape : shapes) ASSERT_TRUE(session->set_shapes(shape));
  const std::size_t before = test::allocation_count();
  bool ran = true;
  for (int round = 0; round < 3; ++round)
    for (const std::vector<Extents>& shape : shapes)
      ran = ran && session->set_shapes(shape).has_value() && session->run().has_value();
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace collage
