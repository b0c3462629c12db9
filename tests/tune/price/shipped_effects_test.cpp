// The file that an installation begins with.
#include "tune/price/shipped_effects.h"

#include <gtest/gtest.h>

#include "backend/registry.h"
#include "base/buffer.h"

namespace collage {
namespace {

TEST(ShippedEffects, AreAFileOfEffectsThatCanBeRead) {
  const auto file = Buffer::map_file(own_module_folder() + "/priors.json");
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_LE(file->size(), std::size_t{2} << 20);
  const Json json = Json::parse(file->text());
  ASSERT_FALSE(json.at("sections").empty());
  for (const Json& section : json.at("sections")) {
    const EffectTable effects = effects_from(section.at("effects"));
    EXPECT_EQ(effects.size(), section.at("effects").size()) << "a weight that is not positive";
    EXPECT_GT(effects.size(), 100U) << section.at("processor");
  }
}

TEST(ShippedEffects, AreNoneForANumberOfThreadsThatNobodyTuned) { EXPECT_TRUE(shipped_effects(999).empty()); }

}  // namespace
}  // namespace collage
