// The file that an installation begins with.
#include "tune/price/shipped_effects.h"

#include <gtest/gtest.h>

#include "backend/registry.h"
#include "base/buffer.h"
#include "base/json.h"

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

/// A file with one effect, whose mean is the number of threads, for each of these.
std::string file_for(const std::string& processor, const std::vector<int>& threads) {
  Json sections = Json::array();
  for (const int count : threads)
    sections.push_back({{"processor", processor},
                        {"threads", count},
                        {"models", 2},
                        {"effects", {{"all|", {static_cast<double>(count), 1.0}}}}});
  return to_line(Json{{"schema", kPriorsSchema}, {"sections", sections}});
}

TEST(ShippedEffects, AreThoseOfTheNearestNumberOfThreads) {
  const std::string file = file_for(processor_class(), {1, 8});
  for (const auto& [threads, nearest] : {std::pair(1, 1.0), {2, 1.0}, {4, 8.0}, {8, 8.0}, {64, 8.0}})
    EXPECT_EQ(effects_in(file, threads).at("all|").mean, nearest) << threads;
}

TEST(ShippedEffects, AreNoneForAnotherClassOfProcessor) { EXPECT_TRUE(effects_in(file_for("abacus", {1}), 1).empty()); }

}  // namespace
}  // namespace collage
