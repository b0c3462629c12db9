// Spaces of schedules as text.
#include "compiler/selection/choices.h"

#include <gtest/gtest.h>

#include "compiler/selection/condition.h"

namespace collage::native {
namespace {

using Values = std::vector<std::int64_t>;

TEST(Choices, AreReadFromText) {
  const auto choices = choices_of("tile_x: 1..4, rows: 0|1, unroll: 1|2|8");
  ASSERT_TRUE(choices) << choices.error();
  ASSERT_EQ(choices->size(), 3U);
  EXPECT_EQ(choices->at(0).name, "rows");
  EXPECT_EQ(choices->at(0).values, (Values{0, 1}));
  EXPECT_EQ(choices->at(1).values, (Values{1, 2, 3, 4}));
  EXPECT_EQ(choices->at(2).values, (Values{1, 2, 8}));
  EXPECT_TRUE(choices_of("")->empty());
}

class MalformedChoices : public testing::TestWithParam<const char*> {};

TEST_P(MalformedChoices, AreRefused) { EXPECT_FALSE(choices_of(GetParam())) << GetParam(); }

INSTANTIATE_TEST_SUITE_P(Texts, MalformedChoices,
                         testing::Values("tile_x", "tile_x: ", "tile_x: 4..1", "tile_x: a", "tile_x: 1|", "tile_x: 2|1",
                                         "tile_x: 1|1", ": 1", "a=b: 1", "a b: 1", "a: 1,b: 2", "a: 1, a: 2",
                                         "a: 0..99999999"));

TEST(Choices, OfEveryRowAreSound) {
  for (const Family* family : all_families())
    for (const Implementation& row : family->implementations) {
      const auto choices = choices_of(row.choices);
      EXPECT_TRUE(choices) << row.name << ": " << choices.error();
      EXPECT_TRUE(names_in(row.legal)) << row.name;
      EXPECT_TRUE(names_in(row.condition)) << row.name;
      EXPECT_TRUE(row.legal.empty() || !row.choices.empty()) << row.name;
    }
}

TEST(ConditionNames, AreThoseOfTheText) {
  EXPECT_EQ(names_in("a * 2 + b <= c and a > 1"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_FALSE(names_in("a <"));
  EXPECT_FALSE(names_in("a ! 2"));
  EXPECT_EQ(evaluate("nothing == 1", {}).error(), "no fact called nothing");
  EXPECT_FALSE(evaluate("a % zero == 1", {{"a", 1}, {"zero", 0}}));
  EXPECT_TRUE(*evaluate("a * 2 + a == 9", {{"a", 3}}));
  EXPECT_FALSE(evaluate("a * a == 1", {{"a", std::int64_t{1} << 40}}));
  EXPECT_FALSE(evaluate("a == 3 or a % 0 == 1", {{"a", 3}}));
}

}  // namespace
}  // namespace collage::native
