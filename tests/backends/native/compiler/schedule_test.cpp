// Schedules as text, in which they are part of a variant's name.
#include <gtest/gtest.h>

#include "compiler/selection/strategy.h"
#include "tests/support/dice.h"

namespace collage::native {
namespace {

TEST(Schedule, IsTextInTheOrderOfNames) {
  EXPECT_EQ(Schedule().text(), "");
  EXPECT_EQ((Schedule{{"tile_x", 14}}.text()), "tile_x=14");
  EXPECT_EQ((Schedule{{"tile_x", 14}, {"rows", 0}, {"tile_c", -2}}.text()), "rows=0,tile_c=-2,tile_x=14");
}

TEST(Schedule, ReadsBackWhatItWrote) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    std::string text;
    for (std::size_t i = 0; i < dice.below(5); ++i)
      text += (text.empty() ? "" : ",") + std::string(1, static_cast<char>('a' + i)) +
              "_x=" + std::to_string(static_cast<std::int64_t>(dice.next()));
    const auto read = Schedule::parse(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->text(), text);
    EXPECT_EQ(*Schedule::parse(read->text()), *read);
  }
}

TEST(Schedule, GivesItsChoices) {
  const Schedule schedule = *Schedule::parse("tile_c=2,tile_x=14");
  EXPECT_EQ(schedule["tile_c"], 2);
  EXPECT_EQ(schedule["tile_x"], 14);
  EXPECT_EQ(schedule, (Schedule{{"tile_x", 14}, {"tile_c", 2}}));
}

class MalformedSchedule : public testing::TestWithParam<const char*> {};

TEST_P(MalformedSchedule, IsRefused) { EXPECT_FALSE(Schedule::parse(GetParam())) << GetParam(); }

INSTANTIATE_TEST_SUITE_P(Texts, MalformedSchedule,
                         testing::Values("tile_x", "tile_x=", "tile_x=a", "tile_x=1x", "tile_x=1.5", "tile_x= 1",
                                         "tile_x=+1", "tile_x=0x10", "tile_x=1;tile_c=2", ",", ",tile_x=1",
                                         "tile_x=1,,tile_c=2", "tile_x=1,tile_c", "tile_x==1",
                                         "tile_x=99999999999999999999"));

}  // namespace
}  // namespace collage::native
