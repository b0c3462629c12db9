// Conditions over named numbers.
#include "compiler/selection/condition.h"

#include <gtest/gtest.h>

namespace collage::native {
namespace {

const Facts& facts() {
  static const Facts facts = {{"kernel", 3}, {"channels", 32}, {"lanes", 16}, {"groups", 1}, {"zero", 0}, {"low", -4}};
  return facts;
}

struct Case {
  const char* text;
  bool holds;
};

class Condition : public testing::TestWithParam<Case> {};

TEST_P(Condition, HoldsAsWritten) { EXPECT_EQ(holds(GetParam().text, facts()), GetParam().holds) << GetParam().text; }

INSTANTIATE_TEST_SUITE_P(Comparisons, Condition,
                         testing::Values(Case{"kernel == 3", true}, Case{"kernel == 4", false},
                                         Case{"kernel != 4", true}, Case{"kernel != 3", false},
                                         Case{"kernel <= 3", true}, Case{"kernel <= 2", false},
                                         Case{"kernel >= 3", true}, Case{"kernel >= 4", false},
                                         Case{"kernel < 4", true}, Case{"kernel < 3", false}, Case{"kernel > 2", true},
                                         Case{"kernel > 3", false}, Case{"low < zero", true}, Case{"low == -4", true},
                                         Case{"3 == kernel", true}));

INSTANTIATE_TEST_SUITE_P(Arithmetic, Condition,
                         testing::Values(Case{"channels % lanes == 0", true}, Case{"channels % 5 == 2", true},
                                         Case{"kernel * kernel == 9", true}, Case{"96 == kernel * channels", true},
                                         Case{"kernel * lanes % 10 == 8", true},  // left to right
                                         Case{"lanes % 10 * kernel == 18", true},
                                         // Products bind closer than sums, on either side.
                                         Case{"kernel + lanes * 2 == 35", true},
                                         Case{"kernel * lanes + channels % 5 == 50", true},
                                         Case{"19 == low + kernel + lanes + 4", true},
                                         Case{"channels * kernel > lanes * 6", false}));

INSTANTIATE_TEST_SUITE_P(Connectives, Condition,
                         testing::Values(Case{"", true}, Case{"kernel == 3 and groups == 1", true},
                                         Case{"kernel == 3 and groups == 2", false},
                                         Case{"kernel == 4 and groups == 1", false},
                                         Case{"kernel == 4 or groups == 1", true},
                                         Case{"kernel == 3 or groups == 2", true},
                                         Case{"kernel == 4 or groups == 2", false},
                                         // "and" binds closer than "or", on either side.
                                         Case{"kernel == 3 or kernel == 4 and groups == 2", true},
                                         Case{"groups == 2 and kernel == 4 or kernel == 3", true},
                                         Case{"kernel == 4 or kernel == 3 and groups == 2", false},
                                         Case{"kernel == 3 and channels >= 32 and lanes == 16 and groups < 2", true},
                                         Case{"kernel == 1 or kernel == 2 or kernel == 3", true}));

INSTANTIATE_TEST_SUITE_P(Spacing, Condition,
                         testing::Values(Case{"  kernel   ==  3  ", true}, Case{" ", true},
                                         Case{" kernel == 4 ", false}));

TEST(ConditionDeath, StopsOnWhatIsNoCondition) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(holds("no_such_fact == 1", facts())), "no fact called no_such_fact");
  EXPECT_DEATH(static_cast<void>(holds("kernel = 3", facts())), "no comparison: =");
  EXPECT_DEATH(static_cast<void>(holds("kernel == 3 groups == 1", facts())), "a condition that goes on");
}

}  // namespace
}  // namespace collage::native
