// Recalling what the clock decided in an earlier tune.
#include <gtest/gtest.h>

#include "tune/course.h"

namespace collage {
namespace {

class CourseTest : public testing::Test {
 protected:
  CourseTest() : store_(*Store::open("memory:")) {}

  /// A tune whose clock says this; what it acted on.
  std::vector<double> tuned(const std::string& question, double budget_s, const std::vector<double>& clock) {
    Course course;
    course.begin(store_, question, budget_s);
    std::vector<double> answers;
    for (const double now : clock) answers.push_back(course.amount(now));
    course.save(store_);
    return answers;
  }

  Store store_;
};

TEST_F(CourseTest, TheSameTuneIsCutWhereItWasBefore) {
  EXPECT_EQ(tuned("q", 60, {0, 0, 1, 7.5}), (std::vector<double>{0, 0, 1, 7.5}));
  EXPECT_EQ(tuned("q", 60, {0, 0, 0, 20}), (std::vector<double>{0, 0, 1, 7.5}));
  EXPECT_EQ(tuned("other", 60, {0, 0, 0, 20}), (std::vector<double>{0, 0, 0, 20}));
}

TEST_F(CourseTest, AMoreGenerousBudgetIsUsedAndRemembered) {
  (void)tuned("q", 60, {1});
  EXPECT_EQ(tuned("q", 90, {0}), std::vector<double>{0}) << "there is more time now";
  EXPECT_EQ(tuned("q", 30, {1}), std::vector<double>{0}) << "the better answer costs nothing";
  EXPECT_EQ(tuned("q", 90, {1}), std::vector<double>{0}) << "a smaller budget between does not lower it";
}

TEST_F(CourseTest, WhatWasNotAskedBeforeIsForTheClock) {
  (void)tuned("q", 60, {1});
  EXPECT_EQ(tuned("q", 60, {0, 3}), (std::vector<double>{1, 3}));
  EXPECT_EQ(tuned("q", 60, {0, 5, 6}), (std::vector<double>{1, 3, 6}));
}

TEST_F(CourseTest, WithoutAQuestionNothingIsRemembered) {
  Course course;
  EXPECT_FALSE(course.decides(false));
  EXPECT_TRUE(course.decides(true));
  course.save(store_);
  EXPECT_TRUE(store_.verdicts_like("").empty());
}

TEST_F(CourseTest, AMalformedEntryCountsAsNone) {
  Course first;
  first.begin(store_, "q", 60);
  (void)first.decides(true);
  first.save(store_);
  for (const auto& [key, text] : store_.verdicts_like("course|")) store_.put_verdict(key, R"({"budget": "long"})");
  EXPECT_EQ(tuned("q", 60, {0}), std::vector<double>{0});
}

}  // namespace
}  // namespace collage
