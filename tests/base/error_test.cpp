#include "base/error.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return fail(ExitCode::kUsage, "test/odd", "half_of", std::to_string(number), "even numbers");
  return number / 2;
}

Result<int> quarter_of(int number) {
  COLLAGE_TRY(const int half, half_of(number));
  COLLAGE_TRY(const int quarter, half_of(half));
  return quarter;
}

Result<void> check_even(int number) {
  COLLAGE_TRY_VOID(half_of(number));
  return {};
}

TEST(Error, PassesValuesThrough) { EXPECT_EQ(quarter_of(12).value(), 3); }

TEST(Error, StopsAtTheFirstFailure) {
  const auto result = quarter_of(6);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().saw, "3");
  EXPECT_FALSE(check_even(1));
  EXPECT_TRUE(check_even(2));
}

TEST(Error, PrintsOnOneLine) {
  EXPECT_EQ(to_string(half_of(3).error()), "error[test/odd]: half_of: saw 3; allowed even numbers");
  EXPECT_EQ(to_string(Error{.code = "a/b", .where = "w", .saw = "s", .allowed = {}}), "error[a/b]: w: saw s");
}

TEST(ErrorDeathTest, BrokenInvariantStopsWithItsValues) {
  EXPECT_DEATH(COLLAGE_CHECK(1 + 1 == 3, "sum was 2"), "1 \\+ 1 == 3 sum was 2");
}

}  // namespace
}  // namespace collage
