// collage_tune.hpp as a program in C++17 uses it, and the header in C.
#include "tests/api/c_tune/cpp17_tune_program.h"
#include "tests/api/c_tune/tune_fixture.h"

namespace collage::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(CTune, OffersAProgramInCpp17AllSteps) {
  const Cpp17Tuned tuned = cpp17_tune(model_, plan_, std::vector<float>(35, 1.5F));
  EXPECT_EQ(tuned.error, "");
  EXPECT_TRUE(tuned.told_progress);
  EXPECT_TRUE(tuned.told_candidates);
  EXPECT_GT(tuned.measured_us, 0);
  EXPECT_TRUE(tuned.is_verified);
  EXPECT_THAT(tuned.explained, HasSubstr("onnxruntime"));
  EXPECT_THAT(tuned.values, AllOf(SizeIs(35), Each(-2)));
  EXPECT_EQ(tuned.unmeasured, tuned.values);
}

TEST_F(CTune, GivesAProgramInCpp17ErrorsAsValues) { EXPECT_THAT(cpp17_tune_nonsense(plan_), HasSubstr("import/")); }

}  // namespace
}  // namespace collage::test
