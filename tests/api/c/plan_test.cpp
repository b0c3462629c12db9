// What a program may ask of a loaded plan.
#include <cstring>

#include "base/json_numbers.h"
#include "tests/api/c/c_fixture.h"
#include "tests/support/schema_check.h"

namespace collage {
namespace {

using test::CApi;
using test::code_of;
using test::is_good;
using test::PlanHandle;

collage_tensor_info empty_info() {
  collage_tensor_info info{};
  info.size = sizeof info;
  return info;
}

std::vector<std::int64_t> extents_of(const collage_tensor_info& info) {
  return {info.extents, info.extents + info.rank};
}

TEST_F(CApi, SaysWhatInputsAndOutputsAre) {
  const PlanHandle plan = loaded(saved(single_case(all_plain(sample_graph())), "sample.collage"));
  std::size_t count = 0;
  ASSERT_TRUE(is_good(api_.plan_input_count(plan.get(), &count)));
  EXPECT_EQ(count, 2U);
  ASSERT_TRUE(is_good(api_.plan_output_count(plan.get(), &count)));
  EXPECT_EQ(count, 5U);
  collage_tensor_info info = empty_info();
  ASSERT_TRUE(is_good(api_.plan_input_info(plan.get(), 1, &info)));
  EXPECT_STREQ(info.name, "y");
  EXPECT_EQ(info.element_type, COLLAGE_FLOAT32);
  EXPECT_EQ(extents_of(info), (std::vector<std::int64_t>{1, 8, 12, 10}));
  EXPECT_EQ(info.symbols[0], nullptr);
  EXPECT_EQ(info.bytes, 960 * sizeof(float));
  ASSERT_TRUE(is_good(api_.plan_output_info(plan.get(), 0, &info)));
  EXPECT_EQ(extents_of(info), (std::vector<std::int64_t>{1, 24}));
  std::size_t index = 9;
  ASSERT_TRUE(is_good(api_.plan_input_index(plan.get(), "y", &index)));
  EXPECT_EQ(index, 1U);
}

TEST_F(CApi, NamesOpenExtents) {
  const PlanHandle plan = loaded(rows_file());
  collage_tensor_info info = empty_info();
  ASSERT_TRUE(is_good(api_.plan_input_info(plan.get(), 0, &info)));
  EXPECT_EQ(extents_of(info), (std::vector<std::int64_t>{-1, test::kCaseWidth}));
  EXPECT_STREQ(info.symbols[0], "n");
  EXPECT_EQ(info.symbols[1], nullptr);
  EXPECT_EQ(info.bytes, 0U);
  ASSERT_TRUE(is_good(api_.plan_output_info(plan.get(), 0, &info)));
  EXPECT_EQ(info.extents[0], -1);
}

TEST_F(CApi, RefusesWrongNamesAndIndices) {
  const PlanHandle plan = loaded(increment_file());
  collage_tensor_info info = empty_info();
  std::size_t index = 9;
  EXPECT_EQ(code_of(api_.plan_input_info(plan.get(), 1, &info)), "api/wrong-index");
  EXPECT_EQ(code_of(api_.plan_output_info(plan.get(), SIZE_MAX, &info)), "api/wrong-index");
  collage_status* const status = api_.plan_input_index(plan.get(), "z", &index);
  EXPECT_STREQ(api_.status_code(status), "input/unknown-name");
  EXPECT_STREQ(api_.status_allowed(status), "x");
  EXPECT_EQ(api_.status_kind(status), COLLAGE_USAGE);
  api_.status_free(status);
  EXPECT_EQ(code_of(api_.plan_output_index(plan.get(), "", &index)), "output/unknown-name");
  EXPECT_EQ(index, 9U) << "left alone";
}

TEST_F(CApi, RefusesNullPointersToOrFromAPlan) {
  const PlanHandle plan = loaded(increment_file());
  collage_tensor_info info = empty_info();
  collage_verdict verdict{};
  verdict.size = sizeof verdict;
  std::size_t count = 0;
  std::int32_t threads = 0;
  const char* json = nullptr;
  const collage_plan* const none = nullptr;
  for (collage_status* status :
       {api_.plan_input_count(none, &count), api_.plan_input_count(plan.get(), nullptr),
        api_.plan_output_count(none, &count), api_.plan_output_count(plan.get(), nullptr),
        api_.plan_input_info(none, 0, &info), api_.plan_input_info(plan.get(), 0, nullptr),
        api_.plan_output_info(none, 0, &info), api_.plan_output_info(plan.get(), 0, nullptr),
        api_.plan_input_index(none, "x", &count), api_.plan_input_index(plan.get(), nullptr, &count),
        api_.plan_input_index(plan.get(), "x", nullptr), api_.plan_output_index(none, "y", &count),
        api_.plan_output_index(plan.get(), nullptr, &count), api_.plan_threads(none, &threads),
        api_.plan_threads(plan.get(), nullptr), api_.plan_verdict(none, &verdict),
        api_.plan_verdict(plan.get(), nullptr), api_.plan_metadata(none, &json),
        api_.plan_metadata(plan.get(), nullptr)}) {
    ASSERT_NE(status, nullptr);
    EXPECT_EQ(api_.status_kind(status), COLLAGE_USAGE);
    EXPECT_EQ(code_of(status), "api/null-argument");
  }
}

/// A struct as a program with a longer header has it.
struct LongInfo {
  collage_tensor_info known{};
  std::int64_t more = 5;
};

TEST_F(CApi, WritesNoMoreThanTheCallersStructHolds) {
  const PlanHandle plan = loaded(increment_file());
  collage_tensor_info info = empty_info();
  info.size = offsetof(collage_tensor_info, extents);
  info.bytes = 77;
  ASSERT_TRUE(is_good(api_.plan_input_info(plan.get(), 0, &info)));
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.rank, 2);
  EXPECT_EQ(info.bytes, 77U);
  EXPECT_EQ(info.size, offsetof(collage_tensor_info, extents)) << "the caller's";
  LongInfo longer;
  longer.known.size = sizeof longer;
  ASSERT_TRUE(is_good(api_.plan_input_info(plan.get(), 0, &longer.known)));
  EXPECT_EQ(longer.known.bytes, test::kIncrements * sizeof(float));
  EXPECT_EQ(longer.more, 0) << "what this library has not";
  info.size = 0;
  EXPECT_EQ(code_of(api_.plan_input_info(plan.get(), 0, &info)), "api/wrong-size");
}

TEST_F(CApi, SaysHowAPlanFitsHere) {
  collage_verdict verdict{};
  verdict.size = sizeof verdict;
  std::int32_t threads = 0;
  const PlanHandle same = loaded(increment_file());
  ASSERT_TRUE(is_good(api_.plan_verdict(same.get(), &verdict)));
  EXPECT_EQ(verdict.kind, COLLAGE_SAME);
  EXPECT_EQ(verdict.reason_count, 0U);
  ASSERT_TRUE(is_good(api_.plan_threads(same.get(), &threads)));
  EXPECT_EQ(threads, 1);
  RealisedPlan other = test::increment_plan();
  other.plan.backends.front().build = "another build";
  const PlanHandle usable = loaded(saved(single_case(std::move(other)), "other.collage"));
  ASSERT_TRUE(is_good(api_.plan_verdict(usable.get(), &verdict)));
  EXPECT_EQ(verdict.kind, COLLAGE_USABLE);
  ASSERT_EQ(verdict.reason_count, 1U);
  EXPECT_THAT(verdict.reasons[0], testing::HasSubstr("another build"));
}

TEST_F(CApi, TellsWhatAPlanIsInJson) {
  const char* json = nullptr;
  const PlanHandle plan = loaded(rows_file());
  ASSERT_TRUE(is_good(api_.plan_metadata(plan.get(), &json)));
  const nlohmann::json object = nlohmann::json::parse(json);
  EXPECT_EQ(test::schema_problem(object), "");
  EXPECT_EQ(object["model"]["hash"], "abc");
  EXPECT_EQ(object["domain"], nlohmann::json::parse(R"([{"name": "n", "low": 1, "high": 16}])"));
  ASSERT_EQ(object["plans"].size(), 3U);
  EXPECT_EQ(object["plans"][1]["extents"]["n"], 8);
  EXPECT_EQ(object["plans"][1]["step_backends"], nlohmann::json::parse(R"({"rows": 1})"));
  EXPECT_EQ(object["plans"][2]["is_generic"], true);
  const PlanHandle fixed = loaded(increment_file());
  ASSERT_TRUE(is_good(api_.plan_metadata(fixed.get(), &json)));
  EXPECT_EQ(test::schema_problem(nlohmann::json::parse(json)), "");
}

}  // namespace
}  // namespace collage
