// Names of settings, and back.
#include "backend/strategy.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

TuningSpace space() {
  return {.way = "direct.nhwc",
          .choices = {{.name = "rows", .values = {0, 1}}, {.name = "tile_c", .values = {1, 2, 16}}},
          .is_legal = [](const Settings& settings) { return settings[0] == 0 || settings[1] < 16; },
          .seeds = {},
          .shape = {}};
}

TEST(TuningSpace, NamesSettingsAndReadsThemBack) {
  EXPECT_EQ(name_of(space(), {0, 16}), "direct.nhwc/rows=0,tile_c=16");
  EXPECT_EQ(settings_of(space(), "direct.nhwc/rows=0,tile_c=16"), (Settings{0, 16}));
  EXPECT_EQ(way_of("direct.nhwc/rows=0,tile_c=16"), "direct.nhwc");
  EXPECT_EQ(way_of("default"), "default");
}

class NoSettings : public testing::TestWithParam<const char*> {};

TEST_P(NoSettings, AreReadFromOtherTexts) { EXPECT_FALSE(settings_of(space(), GetParam())) << GetParam(); }

INSTANTIATE_TEST_SUITE_P(Texts, NoSettings,
                         testing::Values("", "direct.nhwc", "direct.nhwc/", "direct.nhwc/rows=0",
                                         "direct.plain/rows=0,tile_c=2", "direct.nhwc/rows=0,tile_c=3",
                                         "direct.nhwc/rows=1,tile_c=16", "direct.nhwc/rows=0,tile_c=2,",
                                         "direct.nhwc/rows=0,tile_c=2,more=1", "direct.nhwc/tile_c=2,rows=0",
                                         "direct.nhwc/rows=0;tile_c=2", "direct.nhwc/rows=,tile_c=2",
                                         "direct.nhwc/rows=0x,tile_c=2"));

}  // namespace
}  // namespace collage
