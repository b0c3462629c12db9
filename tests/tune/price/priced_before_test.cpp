// Recalling the costs that a tune had when its pricing ended.
#include "tune/price/priced_before.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

const Cost kTimed = Measured{.median_ns = 5, .low_ns = 4, .high_ns = 6, .samples = 9};
const Cost kSampled = Estimated{.ns = 7, .is_sampled = true};
const Cost kForecast = Estimated{.ns = 8};
const Cost kRefused = Infeasible{{.reason = RefusalReason::kShape, .detail = "odd"}};

class PricedBeforeTest : public testing::Test {
 protected:
  PricedBeforeTest() : store_(*Store::open("memory:")) {}

  /// Of a pool of five, of which four were asked for, one twice.
  static PricedBefore pricing() {
    return priced_with(60, std::vector<std::size_t>{3, 0, 1, 0}, {kTimed, kSampled, kForecast, kRefused, Unknown{}});
  }
  void keep(const PricedBefore& pricing) { keep_pricing({.question = "q", .pricing = pricing}, store_); }

  Store store_;
};

TEST_F(PricedBeforeTest, KnowsWhatToAskTheStoreForAndWhatToForecast) {
  PricedBefore kept = pricing();
  kept.is_cut = true;
  kept.rounds = 1;
  keep(kept);
  const auto before = recall_pricing(store_, "q", 60, 5);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->sampled, std::vector<std::size_t>{1});
  EXPECT_EQ(before->priced, (std::vector<std::size_t>{0, 3}));
  EXPECT_EQ(before->forecast, (std::vector<std::pair<std::size_t, std::int64_t>>{{2, 8}}));
  EXPECT_EQ(before->costs_hash, hash_of({kTimed, kSampled, kForecast, kRefused, Unknown{}}));
  EXPECT_NE(before->costs_hash, hash_of({kTimed, kTimed, kForecast, kRefused, Unknown{}}));
  EXPECT_TRUE(before->is_cut);
  EXPECT_EQ(before->rounds, 1);
}

TEST_F(PricedBeforeTest, ALargerBudgetOrAnotherQuestionGoesOn) {
  keep(pricing());
  EXPECT_TRUE(recall_pricing(store_, "q", 20, 5));
  EXPECT_FALSE(recall_pricing(store_, "q", 61, 5));
  EXPECT_FALSE(recall_pricing(store_, "other", 60, 5));
}

TEST_F(PricedBeforeTest, ARecordThatCannotBeOfThisPoolCountsAsNone) {
  keep(pricing());
  EXPECT_FALSE(recall_pricing(store_, "q", 60, 3));
  PricedBefore foreign = pricing();
  foreign.forecast = {{5, 1}};
  keep(foreign);
  EXPECT_FALSE(recall_pricing(store_, "q", 60, 5));
}

}  // namespace
}  // namespace collage
