// Recalling what the clock decided in an earlier tune.
#include <gtest/gtest.h>

#include "tune/deadline_log.h"

namespace collage {
namespace {

using Decisions = std::vector<std::pair<std::string, double>>;

class DeadlineLogTest : public testing::Test {
 protected:
  DeadlineLogTest() : store_(*Store::open("memory:")) {}

  /// A tune whose clock says this, by name; what it acted on.
  Decisions tuned(const std::string& question, double budget_s, const Decisions& clock) {
    DeadlineLog log;
    log.begin(store_, question, budget_s);
    Decisions answers;
    for (const auto& [name, now] : clock) answers.emplace_back(name, log.amount("stage", name, now));
    log.save(store_);
    return answers;
  }

  Store store_;
};

TEST_F(DeadlineLogTest, TheSameTuneIsCutWhereItWasBefore) {
  const Decisions first = {{"a", 0}, {"b", 1}, {"seconds", 7.5}};
  EXPECT_EQ(tuned("q", 60, first), first);
  EXPECT_EQ(tuned("q", 60, {{"a", 0}, {"b", 0}, {"seconds", 20}}), first);
  const Decisions other = {{"a", 0}, {"b", 0}, {"seconds", 20}};
  EXPECT_EQ(tuned("other", 60, other), other);
}

TEST_F(DeadlineLogTest, DecisionsAreFoundByNameWhateverTheirOrder) {
  (void)tuned("q", 60, {{"a", 1}, {"b", 0}});
  EXPECT_EQ(tuned("q", 60, {{"b", 1}, {"between", 1}, {"a", 0}}), (Decisions{{"b", 0}, {"between", 1}, {"a", 1}}));
}

TEST_F(DeadlineLogTest, StagesKeepTheirDecisionsApart) {
  DeadlineLog log;
  log.begin(store_, "q", 60);
  EXPECT_TRUE(log.decides("covers", "mixed", true));
  log.save(store_);
  DeadlineLog next;
  next.begin(store_, "q", 60);
  EXPECT_FALSE(next.decides("context", "mixed", false));
  EXPECT_TRUE(next.decides("covers", "mixed", false));
}

TEST_F(DeadlineLogTest, AMoreGenerousBudgetIsUsedAndRemembered) {
  (void)tuned("q", 60, {{"a", 1}});
  EXPECT_EQ(tuned("q", 90, {{"a", 0}}), (Decisions{{"a", 0}})) << "there is more time now";
  EXPECT_EQ(tuned("q", 30, {{"a", 1}}), (Decisions{{"a", 0}})) << "the better answer costs nothing";
  EXPECT_EQ(tuned("q", 90, {{"a", 1}}), (Decisions{{"a", 0}})) << "a smaller budget between does not lower it";
}

TEST_F(DeadlineLogTest, WithoutAQuestionNothingIsRemembered) {
  DeadlineLog log;
  EXPECT_FALSE(log.decides("stage", "a", false));
  EXPECT_TRUE(log.decides("stage", "a", true));
  log.save(store_);
  EXPECT_TRUE(store_.verdicts_like("").empty());
}

TEST_F(DeadlineLogTest, AMalformedEntryCountsAsNone) {
  (void)tuned("q", 60, {{"a", 1}});
  for (const auto& [key, text] : store_.verdicts_like("deadlines|")) store_.put_verdict(key, R"({"budget": "long"})");
  EXPECT_EQ(tuned("q", 60, {{"a", 0}}), (Decisions{{"a", 0}}));
}

}  // namespace
}  // namespace collage
