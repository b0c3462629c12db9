// How time for tuning is shared, with costs that are made up.
#include "tune/schedules/schedule_tuning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace collage {
namespace {

/// 64 x 8 settings; the time falls towards one corner, by as much as a kernel may gain at all.
TuningSpace space_of(const std::string& way) {
  TuningSpace space{.way = way,
                    .choices = {{.name = "a", .values = {}}, {.name = "b", .values = {1, 2, 3, 4, 5, 6, 7, 8}}},
                    .is_legal = [](const Settings& s) { return s[0] + s[1] <= 70; },
                    .seeds = {{1, 1}},
                    .shape = {}};
  for (std::int64_t a = 1; a <= 64; ++a) space.choices[0].values.push_back(a);
  return space;
}

/// Kernels of which each may become so many times as fast, and how often each was measured.
struct Workshop {
  struct Kind {
    std::int64_t ns;
    std::int64_t gain_ns;
    double gain;  ///< share of the time that the best settings save
  };

  explicit Workshop(std::vector<Kind> all) : kinds(std::move(all)) {
    for (std::size_t k = 0; k < kinds.size(); ++k)
      kernels.push_back({.space = space_of("way" + std::to_string(k)),
                         .ns = kinds[k].ns,
                         .gain_ns = kinds[k].gain_ns,
                         .fastest = "way" + std::to_string(k) + "/a=1,b=1",
                         .known = {{{1, 1}, kinds[k].ns}}});
  }

  KernelTuning tuning(std::size_t most) {
    KernelTuning tuning;
    tuning.measure = [this](std::size_t k, const std::vector<std::string>& names) -> Result<std::vector<Cost>> {
      std::vector<Cost> costs;
      for (const std::string& name : names) {
        tried.push_back(name);
        costs.push_back(cost(k, *settings_of(kernels[k].space, name)));
      }
      return costs;
    };
    tuning.improved = [this](std::size_t k) -> Result<std::int64_t> {
      improved.push_back(kernels[k].fastest);
      return kernels[k].gain_ns;
    };
    tuning.near = [this](std::size_t k) { return near[k]; };
    tuning.is_over = [this, most] { return tried.size() >= most; };
    return tuning;
  }

  [[nodiscard]] Cost cost(std::size_t k, const Settings& s) const {
    if (s[0] % 7 == 5) return Infeasible{{RefusalReason::kCompile, "made up"}};
    const double left =
        (std::abs(std::log2(static_cast<double>(s[0]) / 32)) + std::abs(static_cast<double>(s[1]) - 6)) / 10;
    const auto ns = static_cast<std::int64_t>(static_cast<double>(kinds[k].ns) * (1 - kinds[k].gain * (1 - left)));
    return Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 1};
  }

  [[nodiscard]] std::size_t tries_of(std::size_t k) const { return kernels[k].tried; }

  std::vector<Kind> kinds;
  std::vector<TunableKernel> kernels;
  std::map<std::size_t, std::vector<Settings>> near;
  std::vector<std::string> tried;
  std::vector<std::string> improved;
};

TEST(ScheduleTuning, MakesKernelsFasterAndTellsEachGain) {
  Workshop shop({{1000, 400, 0.4}});
  ASSERT_TRUE(tune_kernels(shop.kernels, shop.tuning(80)));
  EXPECT_LT(shop.kernels[0].ns, 660);
  ASSERT_FALSE(shop.improved.empty());
  EXPECT_EQ(shop.improved.back(), shop.kernels[0].fastest);
  EXPECT_GT(shop.kernels[0].refused, 0U);
  EXPECT_EQ(shop.kernels[0].tried, shop.tried.size());
}

TEST(ScheduleTuning, TakesNothingThatCannotBeOnABestPath) {
  Workshop shop({{1000, 0, 0.5}, {1000, 100, 0.1}});
  ASSERT_TRUE(tune_kernels(shop.kernels, shop.tuning(1000)));
  EXPECT_EQ(shop.tries_of(0), 0U);
  EXPECT_GT(shop.tries_of(1), 0U);
}

TEST(ScheduleTuning, SharesTimeByWhatThePlacementMayGain) {
  Workshop shop({{1000, 90, 0.3}, {9000, 900, 0.3}, {2000, 200, 0.3}});
  ASSERT_TRUE(tune_kernels(shop.kernels, shop.tuning(60)));
  EXPECT_GT(shop.tries_of(1), shop.tries_of(2));
  EXPECT_GE(shop.tries_of(2), shop.tries_of(0));
}

TEST(ScheduleTuning, LeavesKernelsThatGainNothing) {
  Workshop shop({{1000, 400, 0.0}, {1000, 200, 0.4}});
  const auto finished = tune_kernels(shop.kernels, shop.tuning(10'000));
  ASSERT_TRUE(finished);
  EXPECT_TRUE(*finished) << "both are done before the time is over";
  EXPECT_LE(shop.tries_of(0), 40U);
  EXPECT_LT(shop.kernels[1].ns, 700);
}

TEST(ScheduleTuning, EndsWhenTheTimeIsOver) {
  Workshop shop({{1000, 400, 0.4}});
  const auto finished = tune_kernels(shop.kernels, shop.tuning(8));
  ASSERT_TRUE(finished);
  EXPECT_FALSE(*finished);
  EXPECT_EQ(shop.tried.size(), 8U);
}

TEST(ScheduleTuning, IsTheSameForTheSameCostsAndSeed) {
  const std::vector<Workshop::Kind> kinds = {{1000, 90, 0.3}, {9000, 900, 0.2}};
  Workshop a(kinds);
  Workshop b(kinds);
  Workshop c(kinds);
  ASSERT_TRUE(tune_kernels(a.kernels, a.tuning(60)));
  ASSERT_TRUE(tune_kernels(b.kernels, b.tuning(60)));
  KernelTuning other = c.tuning(60);
  other.seed = 2;
  ASSERT_TRUE(tune_kernels(c.kernels, other));
  EXPECT_EQ(a.tried, b.tried);
  EXPECT_NE(a.tried, c.tried);
}

TEST(ScheduleTuning, BeginsWithTheBestOfNearShapes) {
  Workshop shop({{1000, 400, 0.4}});
  shop.near[0] = {{32, 6}};
  ASSERT_TRUE(tune_kernels(shop.kernels, shop.tuning(4)));
  EXPECT_EQ(shop.tried.front(), "way0/a=32,b=6");
  EXPECT_EQ(shop.kernels[0].fastest, "way0/a=32,b=6");
}

TEST(ScheduleTuning, AStopTeachesNothing) {
  Workshop shop({{1000, 400, 0.4}});
  KernelTuning stopped = shop.tuning(1000);
  bool is_over = false;
  stopped.measure = [&](std::size_t, const std::vector<std::string>& names) -> Result<std::vector<Cost>> {
    is_over = true;
    return std::vector<Cost>(names.size(), Unknown{});
  };
  stopped.is_over = [&] { return is_over; };
  ASSERT_TRUE(tune_kernels(shop.kernels, stopped));
  EXPECT_EQ(shop.kernels[0].tried, 0U);
  EXPECT_EQ(shop.kernels[0].ns, 1000);
}

}  // namespace
}  // namespace collage
