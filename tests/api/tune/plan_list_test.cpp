#include "api/tune/plan_list.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "api/tune/page/list_page.h"
#include "base/json_numbers.h"
#include "tests/support/paths.h"
#include "tests/support/schema_check.h"
#include "tests/support/scratch_folder.h"

namespace collage {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kStored = test::source_path("/tests/api/c/stored");

/// A plan 2 times and one 0.5 times as fast as its engine, one in which an engine ships, one that was never timed.
PlanList four_plans() {
  const auto rival = [](double ratio) {
    return TimedPlan{.name = "engine, as a whole",
                     .us = 100 * ratio,
                     .faster = FasterBy{.ratio = ratio, .low = 0.9 * ratio, .high = 1.1 * ratio},
                     .is_engine = true};
  };
  PlanList list;
  list.plans = {{.file = "a.collage", .model = "a.onnx", .shipped = "mixed", .steps = 3, .us = 100, .rival = rival(2)},
                {.file = "b\"<script>.collage", .model = "b.onnx", .shipped = "mixed", .us = 100, .rival = rival(0.5)},
                {.file = "c.collage", .model = "c.onnx", .shape = "n=4", .shipped = "engine as a whole", .us = 50},
                {.file = "d.collage", .model = "d.onnx", .shipped = "cover"}};
  list.plans[0].shares = {{"host", 0.25}, {"native", 0.75}};
  return list;
}

TEST(PlanListTest, MeanIsOfPlansThatWereTimedAndAnEngineThatShipsIsAsFastAsItself) {
  EXPECT_NEAR(mean_gain(four_plans()).value(), 1, 1e-9);
  PlanList without = four_plans();
  without.plans.erase(without.plans.begin() + 1);
  EXPECT_NEAR(mean_gain(without).value(), std::sqrt(2), 1e-9);
  without.plans.erase(without.plans.begin(), without.plans.begin() + 2);
  EXPECT_FALSE(mean_gain(without));
}

TEST(PlanListTest, TextJsonAndCsvSayTheSame) {
  const PlanList list = four_plans();
  EXPECT_THAT(to_text(list), HasSubstr("       100.0   2.00x [1.80, 2.20]  a.collage\n"));
  EXPECT_THAT(to_text(list), HasSubstr("mixed: native 75 %, host 25 %\n"));
  EXPECT_THAT(to_text(list), HasSubstr("c.collage at n=4\n"));
  EXPECT_THAT(to_csv(list),
              HasSubstr("a.collage,a.onnx,,1,,mixed,3,100.0,\"engine, as a whole\",2.000,1.800,2.200\r\n"));
  EXPECT_THAT(to_csv(list), HasSubstr("\"b\"\"<script>.collage\",b.onnx"));
  EXPECT_THAT(to_csv(list), HasSubstr("c.collage,c.onnx,n=4,1,,engine as a whole,0,50.0,,,,\r\n"));
  const auto json = nlohmann::json::parse(to_json(list));
  EXPECT_EQ(json["plans"][0]["rival"]["ratio"], 2);
  EXPECT_TRUE(json["plans"][2]["rival"].is_null());
  EXPECT_EQ(test::schema_problem(json), "");
}

TEST(PlanListTest, NamesCannotLeaveThePagesData) {
  EXPECT_THAT(list_page(four_plans()), Not(HasSubstr("<script>.collage")));
}

TEST(PlanListTest, FindsPlansInFoldersAndBelowAndNamesWhatItCannotRead) {
  const test::ScratchFolder folder;
  std::filesystem::create_directories(folder.file("below"));
  std::filesystem::copy_file(kStored + "/host_only.collage", folder.file("below/one.collage"));
  std::filesystem::copy_file(kStored + "/many_shapes.collage", folder.file("two.collage"));
  std::ofstream(folder.file("broken.collage")) << "no plan";
  std::ofstream(folder.file("other.txt")) << "no plan either";
  const auto list = list_plans({folder.path().string()});
  ASSERT_TRUE(list) << to_string(list.error());
  ASSERT_GE(list->plans.size(), 3U) << "each shape of a plan for many has a row";
  EXPECT_THAT(list->plans[0].file, ::testing::EndsWith("below/one.collage"));
  EXPECT_EQ(list->plans[0].shape, "");
  EXPECT_NE(list->plans[1].shape, "");
  ASSERT_EQ(list->unreadable.size(), 1U);
  EXPECT_THAT(to_text(*list), HasSubstr("not read: "));
  EXPECT_EQ(test::schema_problem(nlohmann::json::parse(to_json(*list))), "");
}

TEST(PlanListTest, RefusesPathsWithoutPlans) {
  const test::ScratchFolder folder;
  EXPECT_EQ(list_plans({folder.path().string()}).error().code, "plan/nothing-found");
  EXPECT_EQ(list_plans({folder.file("absent")}).error().code, "file/missing");
}

}  // namespace
}  // namespace collage
