// What tunes of other models have shown, and what the cost model makes of it.
#include "tune/price/effect_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/tune/tune_fixture.h"
#include "tune/price/cost_model.h"
#include "tune/price/pricing_memory.h"

namespace collage {
namespace {

EffectTable table(double mean, double weight) { return {{"way|a", {.mean = mean, .weight = weight}}}; }

TEST(EffectTables, ManyTimesOfOneModelCountLittleMoreThanFew) {
  const std::vector<EffectTable> models = {table(0.0, 1000), table(1.0, 1e6)};
  const EffectTable pooled = pooled_effects(models, {});
  EXPECT_NEAR(pooled.at("way|a").mean, 0.5, 0.03);
  EXPECT_LT(pooled.at("way|a").weight, 2 / (0.1 * 0.1));
}

TEST(EffectTables, WhatTheMachineShowedCountsMoreThanWhatOthersDid) {
  const std::vector<EffectTable> models = {table(0.0, 1e6)};
  EXPECT_LT(pooled_effects(models, table(1.0, 1e6)).at("way|a").mean, 0.45);
  EXPECT_NEAR(pooled_effects({}, table(1.0, 1e6)).at("way|a").mean, 1, 1e-9);
}

TEST(EffectTables, ReadBackWhatTheyWrite) {
  const EffectTable effects = {{"way|a", {.mean = 0.25, .weight = 400}}, {"kind|Conv,3,3", {.mean = -1, .weight = 2}}};
  EXPECT_EQ(effects_from(to_json(effects)), effects);
}

/// One part of 1000 ns with the effect of a way.
CostModel::Computation computation(CostModel& model, std::size_t level, const std::string& way) {
  return {.parts = {{.base_ns = 1000, .effects = {model.effect(level, way)}}}, .effects = {}};
}

TEST(EffectTables, TellACostModelWhatToExpect) {
  CostModel model(table(std::log(3), 1e4));
  const std::size_t level = model.add_level("way", 1, true);
  const CostModel::Computation known = computation(model, level, "a");
  const CostModel::Computation unknown = computation(model, level, "b");
  EXPECT_NEAR(model.predict(known).ns, 3000, 150);
  EXPECT_NEAR(model.predict(unknown).ns, 1000, 1);
  EXPECT_LT(model.predict(known).spread, 0.3 * model.predict(unknown).spread);
}

TEST(EffectTables, GiveWayToWhatIsMeasured) {
  CostModel model(table(std::log(3), 1e4));
  const std::size_t level = model.add_level("way", 1, true);
  const CostModel::Computation known = computation(model, level, "a");
  for (int i = 0; i < 20; ++i) model.learn(known, 2000);
  model.fit();
  EXPECT_NEAR(model.predict(known).ns, 2000, 60);
}

// Else what one model showed would be counted again with every model after it.
TEST(EffectTables, HoldWhatTheModelItselfShowedAlone) {
  const auto learnt_from = [](EffectTable expected, int times) {
    CostModel model(std::move(expected));
    const std::size_t level = model.add_level("way", 1, true);
    const CostModel::Computation known = computation(model, level, "a");
    for (int i = 0; i < times; ++i) model.learn(known, 2000);
    model.fit();
    return model.learnt().at("way|a");
  };
  const KnownEffect once = learnt_from({}, 1);
  const KnownEffect twice = learnt_from(table(std::log(3), 1e4), 2);
  EXPECT_NEAR(once.mean, std::log(2), 0.01);
  EXPECT_NEAR(twice.mean, std::log(2), 0.01);
  EXPECT_NEAR(twice.weight, 2 * once.weight, 1e-6);
}

TEST(PricingMemories, AreOfOtherGraphsAndStayAsTheyWereAtTheFirstTune) {
  Store store = Store::open("memory:").value();
  const MeasureOptions options;
  const auto graph_of = [](const std::string& op) {
    return parse_graph("graph(%x: f32[4]) -> (%y) { opset ai.onnx 26 %y: f32[4] = " + op + "(%x) \"n\" }").value();
  };
  const Graph first = graph_of("Relu");
  const Graph second = graph_of("Neg");
  PricingMemory of_first(store, first, options);
  const EffectTable before = of_first.known();
  of_first.keep(table(0.5, 1e4));
  PricingMemory of_second(store, second, options);
  ASSERT_TRUE(of_second.known().contains("way|a"));
  EXPECT_NEAR(of_second.known().at("way|a").mean, 0.5, 1e-3);
  of_second.keep(table(0.1, 1e4));
  EXPECT_EQ(PricingMemory(store, first, options).known(), before) << "the same tune begins with the same";
  MeasureOptions two_threads = options;
  two_threads.threads = 2;
  EXPECT_FALSE(PricingMemory(store, second, two_threads).known().contains("way|a"));
}

}  // namespace
}  // namespace collage
