// A pricer and another tuner that measures for the same store.
#include <thread>

#include "tests/measure/pricing_fixture.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

const Cost kTheirCost = Measured{.median_ns = 7, .low_ns = 7, .high_ns = 7, .samples = 1};

class PricingNextToOthers : public ::testing::Test, protected test::PricingLab {
 protected:
  /// Another tuner holds the lease of every request; the keys.
  std::vector<std::string> lease_all(const std::vector<PriceRequest>& requests) {
    Store elsewhere = std::move(*Store::open(folder.file("elsewhere.sqlite")));
    Pricer pricer(options(), registry, elsewhere);
    (void)price(pricer, requests);
    std::vector<std::string> keys;
    for (const auto& [key, cost] : elsewhere.costs_like("")) keys.push_back(key);
    for (const Lease lease : other->take_leases(keys, 60s)) EXPECT_EQ(lease, Lease::kOurs);
    return keys;
  }

  std::optional<Store> other = std::move(*Store::open(folder.file("costs.sqlite")));
};

TEST_F(PricingNextToOthers, TheirResultIsTakenWhenItComes) {
  const std::vector<PriceRequest> requests = {request({0}, {"test"})};
  const std::vector<std::string> keys = lease_all(requests);
  Pricer pricer(options(), registry, store);
  std::jthread measuring([&] {
    std::this_thread::sleep_for(150ms);
    other->put_cost(keys.at(0), kTheirCost);
  });
  const auto priced = price(pricer, requests);
  EXPECT_EQ(priced[0][0], (PricedCandidate{.cost = kTheirCost, .reused = true}));
  EXPECT_EQ(pricer.counts().measured, 0U);
  EXPECT_EQ(pricer.counts().reused, 1U);
  EXPECT_FALSE(pricer.worker().is_running());
}

TEST_F(PricingNextToOthers, WhatNobodyElseMeasuresComesFirst) {
  const std::vector<std::string> keys = lease_all({request({0}, {"test"})});
  PricerOptions watched = options();
  std::size_t reports = 0;
  watched.progress = [&](const ProgressEvent& event) {
    if (++reports == 2) {
      EXPECT_EQ(event.done, 2U);
      EXPECT_EQ(event.total, 3U);
      other->put_cost(keys.at(0), kTheirCost);
    }
  };
  Pricer pricer(watched, registry, store);
  const auto priced = price(pricer, {request({0}, {"test", "test:build=other"}), request({2}, {"test"})});
  EXPECT_EQ(priced[0][0].cost, kTheirCost);
  EXPECT_TRUE(is_measured(priced[0][1]));
  EXPECT_TRUE(is_measured(priced[1][0]));
  EXPECT_EQ(pricer.counts().measured, 2U);
}

TEST_F(PricingNextToOthers, WhatATunerLeavesBehindIsMeasured) {
  const std::vector<PriceRequest> requests = {request({0}, {"test"}), request({2}, {"test"})};
  const std::vector<std::string> keys = lease_all(requests);
  Pricer pricer(options(), registry, store);
  std::jthread dying([&] {
    std::this_thread::sleep_for(100ms);
    other.reset();
  });
  const auto priced = price(pricer, requests);
  EXPECT_TRUE(is_measured(priced[0][0]) && is_measured(priced[1][0]));
  EXPECT_EQ(pricer.counts().measured, 2U);
  EXPECT_EQ(store.lease_count(), 0U);
}

TEST_F(PricingNextToOthers, AStopEndsTheWait) {
  const std::vector<PriceRequest> requests = {request({0}, {"test"})};
  (void)lease_all(requests);
  std::stop_source source;
  Pricer pricer(options(), registry, store);
  std::jthread stopper([&] {
    std::this_thread::sleep_for(100ms);
    source.request_stop();
  });
  EXPECT_TRUE(std::holds_alternative<Unknown>(price(pricer, requests, {.stop = source.get_token()})[0][0].cost));
}

TEST_F(PricingNextToOthers, TheDeadlineEndsTheWaitForLongRegionsOnly) {
  const std::vector<PriceRequest> requests = {request({0, 1}, {"test"}), request({2}, {"test"})};
  const std::vector<std::string> keys = lease_all(requests);
  Pricer pricer(options(), registry, store);
  const Clock::time_point deadline = Clock::now();
  std::jthread measuring([&] {
    std::this_thread::sleep_for(150ms);
    for (const std::string& key : keys) other->put_cost(key, kTheirCost);
  });
  const auto priced = price(pricer, requests, {.deadline = deadline});
  EXPECT_TRUE(std::holds_alternative<Unknown>(priced[0][0].cost));
  EXPECT_EQ(priced[1][0].cost, kTheirCost);
}

TEST_F(PricingNextToOthers, LeasesOfAStoppedJobAreGivenBack) {
  std::stop_source source;
  Pricer pricer(options(), registry, store);
  std::jthread stopper([&] {
    while (other->lease_count() == 0) std::this_thread::sleep_for(1ms);
    source.request_stop();
  });
  (void)price(pricer, {request({0}, {"test:fault=run-hang"})}, {.stop = source.get_token()});
  stopper.join();
  EXPECT_EQ(other->lease_count(), 0U);
}

}  // namespace
}  // namespace collage
