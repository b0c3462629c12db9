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
