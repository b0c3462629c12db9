#include "store/keys.h"

#include <set>

#include "tests/measure/measure_fixture.h"
#include "timing/machine.h"

namespace collage {
namespace {

TEST(Keys, CostKeyDependsOnEverythingACostDependsOn) {
  const BackendInfo info = {.name = "a:opt=1", .kind = "a", .version = "1", .build = "b1"};
  const Variant variant = {.name = "direct", .input_formats = {plain()}, .output_formats = {plain()}};
  const MeasureContext context = {.threads = 1, .accuracy = Accuracy::kStandard, .machine = "m"};
  std::set<std::string> keys = {cost_key("s", variant, info, context), cost_key("t", variant, info, context)};
  for (const auto change : std::vector<void (*)(Variant&, BackendInfo&, MeasureContext&)>{
           [](Variant&v, BackendInfo&, MeasureContext&) { v.name = "wino"; },
           [](Variant&v, BackendInfo&, MeasureContext&) { v.input_formats = {channels_last()}; },
           [](Variant&v, BackendInfo&, MeasureContext&) { v.output_formats = {channels_last()}; },
           [](Variant&, BackendInfo&b, MeasureContext&) { b.name = "a:opt=2"; },
           [](Variant&, BackendInfo&b, MeasureContext&) { b.version = "2"; },
           [](Variant&, BackendInfo&b, MeasureContext&) { b.build = "b2"; },
           [](Variant&, BackendInfo&, MeasureContext&c) { c.threads = 2; },
           [](Variant&, BackendInfo&, MeasureContext&c) { c.accuracy = Accuracy::kStrict; },
           [](Variant&, BackendInfo&, MeasureContext&c) { c.displaced_bytes = 1 << 24; },
           [](Variant&, BackendInfo&, MeasureContext&c) { c.machine = "n"; }}) {
    Variant v = variant;
    BackendInfo b = info;
    MeasureContext c = context;
    change(v, b, c);
    keys.insert(cost_key("s", v, b, c));
  }
  EXPECT_EQ(keys.size(), 12U);
}

TEST(Keys, OfWhatHasNoSixteenBitsAreThoseOfClassStandard) {
  const BackendInfo info{.name = "a", .kind = "a", .version = "1", .build = "b1"};
  const MeasureContext standard;
  MeasureContext fast;
  fast.accuracy = Accuracy::kFast;
  const Variant full{"direct", {plain()}, {plain()}};
  EXPECT_EQ(cost_key("s", full, info, fast), cost_key("s", full, info, standard));
  const Variant narrow{"direct.bf16", {plain()}, {plain()}};
  EXPECT_NE(cost_key("s", narrow, info, fast), cost_key("s", narrow, info, standard));
  const ValueType type = ValueType::tensor(ElementType::kFloat32, {1, 8, 3, 3});
  const Conversion reordered{.type = type, .from = {}, .to = {.format = channels_last()}};
  EXPECT_EQ(conversion_key(reordered, info, fast), conversion_key(reordered, info, standard));
  const Conversion rounded{.type = type, .from = {}, .to = {.format = {"plain.bf16"}}};
  EXPECT_NE(conversion_key(rounded, info, fast), conversion_key(rounded, info, standard));
}

TEST(Keys, PlaceHashSeesWeightsAndPortNames) {
  const Graph graph = test::chain_graph();
  const Region region = test::region_of(graph, {2});
  ConstantHashes known;
  const std::string before = place_hash(graph, region, known);
  EXPECT_EQ(place_hash(graph, region, known), before);
  Graph other = graph;
  other.value(region.constants[0]).constant = test::numbers({2, 300}, 5);
  ConstantHashes fresh;
  EXPECT_NE(weights_hash(other, region), weights_hash(graph, region));
  EXPECT_NE(place_hash(other, region, fresh), before);
  Graph renamed = graph;
  renamed.value(region.outputs[0]).name = "another";
  ConstantHashes again;
  EXPECT_EQ(weights_hash(renamed, region), weights_hash(graph, region));
  EXPECT_NE(place_hash(renamed, region, again), before);
}

TEST(Machine, PrintIsOneStableLine) {
  EXPECT_EQ(machine_print(), machine_print());
  EXPECT_EQ(machine_print().find('\n'), std::string::npos);
  EXPECT_NE(machine_print().find("cores"), std::string::npos);
}

}  // namespace
}  // namespace collage
