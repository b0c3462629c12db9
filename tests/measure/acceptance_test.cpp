// What is asked once, what is asked again, and when asking ends.
#include <random>
#include <set>

#include "tests/measure/pricing_fixture.h"
#include "tests/support/graph_builder.h"
#include "timing/machine.h"
#include "timing/sampling.h"

namespace collage {
namespace {

using testing_support::GraphBuilder;

Cost exact_cost(std::int64_t ns) { return Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 1}; }

std::string key_of(test::PricingLab& lab, const PriceRequest& request) {
  const PricerOptions options = lab.options();
  return cost_key(
      structure_key(lab.graph, request.region), request.candidates[0].variant,
      (*lab.registry.get(request.candidates[0].backend))->info(),
      {.threads = options.measure.threads, .accuracy = options.measure.accuracy, .machine = machine_print()});
}

TEST(Acceptance, AKnownCostIsTakenWithoutMeasuring) {
  test::PricingLab lab;
  const PriceRequest request = lab.request({0, 1}, {"test"});
  lab.store.put_cost(key_of(lab, request), exact_cost(42));
  Pricer pricer(lab.options(), lab.registry, lab.store);
  const auto priced = lab.price(pricer, {request});
  EXPECT_EQ(priced[0][0], (PricedCandidate{.cost = exact_cost(42), .reused = true}));
  EXPECT_EQ(pricer.counts().measured, 0U);
  EXPECT_FALSE(pricer.worker().is_running());
}

/// Relu, Relu, Add, Relu: the last is the first again. Whoever is asked later takes what is known.
TEST(Acceptance, AnEqualStructureElsewhereHasTheCostOfTheFirst) {
  test::PricingLab lab;
  lab.store.put_cost(key_of(lab, lab.request({0}, {"test"})), exact_cost(57));
  Pricer pricer(lab.options(), lab.registry, lab.store);
  const auto priced = lab.price(pricer, {lab.request({3}, {"test"}), lab.request({0, 1}, {"test"})});
  EXPECT_EQ(priced[0][0].cost, exact_cost(57));
  EXPECT_TRUE(lab.is_measured(priced[1][0]));
  EXPECT_NE(priced[1][0].cost, exact_cost(57)) << "another structure";
  EXPECT_EQ(pricer.counts().measured, 1U);
}

TEST(Acceptance, EqualWorkIsMeasuredOnceAndOtherWorkAnew) {
  test::PricingLab lab;
  Pricer pricer(lab.options(), lab.registry, lab.store);
  (void)lab.price(pricer, {lab.request({0}, {"test"}), lab.request({1}, {"test"}), lab.request({3}, {"test"})});
  EXPECT_EQ(pricer.counts().measured, 1U);
  (void)lab.price(pricer, {lab.request({2}, {"test"})});
  EXPECT_EQ(pricer.counts().measured, 2U) << "another operator";
  (void)lab.price(pricer, {lab.request({0}, {"test:build=other"})});
  EXPECT_EQ(pricer.counts().measured, 3U) << "another instance, as a device has one of its own";
}

std::string convolution(std::int64_t stride, ElementType element, std::int64_t size) {
  GraphBuilder net;
  const ValueId conv =
      net.add("Conv", {net.input("x", {1, 4, size, size}), net.weight("w", {4, 4, 1, 1})},
              {1, 4, size / stride, size / stride}, {{"strides", std::vector<std::int64_t>{stride, stride}}});
  Graph graph = net.take({conv});
  for (Value& value : graph.values) value.type.element = element;
  return structure_key(graph, test::region_of(graph, {0}));
}

TEST(Acceptance, StrideShapeAndTypeBelongToTheQuestion) {
  const std::string usual = convolution(1, ElementType::kFloat32, 8);
  EXPECT_EQ(convolution(1, ElementType::kFloat32, 8), usual);
  EXPECT_NE(convolution(2, ElementType::kFloat32, 8), usual);
  EXPECT_NE(convolution(1, ElementType::kFloat16, 8), usual);
  EXPECT_NE(convolution(1, ElementType::kFloat32, 16), usual);
}

/// A contender whose calls take anything between once and three times `least_ns`, on a clock of its own.
Measured sample_restless(std::int64_t least_ns, double spread, std::int64_t& spent_ns, const SamplingOptions& options) {
  std::mt19937_64 random(3);
  std::int64_t now = 0;
  SamplingSubject subject{.run = [&](std::size_t) -> Result<void> {
                            const auto share = static_cast<double>(random() % 1000) / 1000;
                            now += least_ns + static_cast<std::int64_t>(share * spread * static_cast<double>(least_ns));
                            return {};
                          },
                          .now_ns = [&] { return now; },
                          .before = nullptr};
  const auto results = sample_all(1, subject, options);
  spent_ns = now;
  EXPECT_TRUE(results[0]);
  return results[0].value_or(Timing{}).summary;
}

TEST(Acceptance, WhatNeverSettlesIsSampledSoOftenAndNoMore) {
  for (const SamplingOptions& options : {quick_sampling(), SamplingOptions{}}) {
    std::int64_t spent_ns = 0;
    const Measured restless = sample_restless(1'000'000, 2, spent_ns, options);
    EXPECT_LE(spent_ns, options.warm_up_ns + options.long_total_ns + 20'000'000);
    EXPECT_GE(restless.samples, static_cast<std::int32_t>(options.few_samples));
    EXPECT_LE(restless.samples, 400);
    // The interval says that it did not settle: more than the agreement that ends a warm-up.
    const auto width = static_cast<double>(restless.high_ns - restless.low_ns);
    EXPECT_GT(width, options.warm_agreement * static_cast<double>(restless.median_ns));
    const Measured calm = sample_restless(1'000'000, 0.01, spent_ns, options);
    EXPECT_LE(static_cast<double>(calm.high_ns - calm.low_ns), options.warm_agreement * 1'000'000);
  }
}

}  // namespace
}  // namespace collage
