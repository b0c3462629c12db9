#include "tune/schedules/stored_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collage {
namespace {

using ShapeFacts = std::map<std::string, std::int64_t>;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const MeasureContext kContext = {.threads = 1, .accuracy = Accuracy::kStandard, .machine = "this one"};

BackendInfo backend(const std::string& build = "b1") {
  BackendInfo info;
  info.name = info.kind = "native";
  info.version = "1";
  info.build = build;
  return info;
}

Variant direct(const std::string& settings) {
  return {.name = "direct.nhwc/" + settings, .input_formats = {channels_last()}, .output_formats = {channels_last()}};
}

class StoredSettingsTest : public ::testing::Test {
 protected:
  void put(const std::string& structure, const Variant& variant, std::int64_t ns, const BackendInfo& info = backend(),
           const MeasureContext& context = kContext) {
    store.put_cost(cost_key(structure, variant, info, context),
                   Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 1});
  }

  Store store = *Store::open("memory:");
};

TEST_F(StoredSettingsTest, KnowsAllThatWasTriedOfOneWay) {
  put("A", direct("tile_c=1"), 50);
  put("A", direct("tile_c=2"), 40);
  put("B", direct("tile_c=3"), 10);
  put("A", direct("tile_c=4"), 10, backend("b2"));
  put("A", {.name = "direct.nhwc/tile_c=5", .input_formats = {plain()}, .output_formats = {plain()}}, 10);
  put("A", {.name = "packed.nhwc/tile_c=6", .input_formats = {channels_last()}, .output_formats = {channels_last()}},
      10);
  MeasureContext two = kContext;
  two.threads = 2;
  put("A", direct("tile_c=7"), 10, backend(), two);
  const StoredSettings stored(store, backend(), kContext);
  std::vector<std::string> names;
  for (const auto& [name, cost] : stored.of("A", direct("tile_c=1"))) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("direct.nhwc/tile_c=1", "direct.nhwc/tile_c=2"));
  EXPECT_THAT(stored.of("C", direct("tile_c=1")), IsEmpty());
}

TEST_F(StoredSettingsTest, GivesTheBestOfTheNearestShapes) {
  put("near", direct("tile_c=1"), 50);
  put("near", direct("tile_c=2"), 40);
  put("far", direct("tile_c=3"), 10);
  put("own", direct("tile_c=4"), 10);
  {
    StoredSettings first(store, backend(), kContext);
    first.note_shape("far", direct("tile_c=3"), ShapeFacts{{"channels", 512}});
    first.note_shape("near", direct("tile_c=1"), ShapeFacts{{"channels", 64}});
    first.note_shape("own", direct("tile_c=4"), ShapeFacts{{"channels", 32}});
    first.note_shape("untimed", direct("tile_c=4"), ShapeFacts{{"channels", 32}});
  }
  StoredSettings stored(store, backend(), kContext);
  EXPECT_THAT(stored.near("own", direct("tile_c=4"), ShapeFacts{{"channels", 32}}, 2),
              ElementsAre("direct.nhwc/tile_c=2", "direct.nhwc/tile_c=3"));
  EXPECT_THAT(stored.near("own", direct("tile_c=4"), ShapeFacts{{"channels", 32}}, 1),
              ElementsAre("direct.nhwc/tile_c=2"));
  stored.note_cost("near", direct("tile_c=9"), Measured{.median_ns = 5, .low_ns = 5, .high_ns = 5, .samples = 1});
  EXPECT_THAT(stored.near("own", direct("tile_c=4"), ShapeFacts{{"channels", 32}}, 1),
              ElementsAre("direct.nhwc/tile_c=9"));
  EXPECT_THAT(StoredSettings(store, backend("b2"), kContext).near("own", direct("x"), ShapeFacts{}, 9), IsEmpty());
}

TEST(ShapeDistance, IsOfRatios) {
  EXPECT_EQ(shape_distance({{"a", 7}}, {{"a", 7}}), 0);
  EXPECT_DOUBLE_EQ(shape_distance({{"a", 7}}, {{"a", 15}}), shape_distance({{"a", 15}}, {{"a", 31}}));
  EXPECT_EQ(shape_distance({{"a", 7}}, {}), shape_distance({}, {{"a", 7}}));
  EXPECT_GT(shape_distance({{"a", 7}, {"b", 1}}, {{"a", 7}, {"b", 2}}), 0);
}

}  // namespace
}  // namespace collage
