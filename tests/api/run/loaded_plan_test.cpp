#include "api/run/loaded_plan.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "api/run/case_table.h"
#include "plan/file/cases_file.h"
#include "plan/file/plan_file.h"
#include "tests/runtime/runtime_fixture.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shape_cases.h"

namespace collage {
namespace {

using test::rows_cases;
using test::RowsBackend;

class LoadedPlanTest : public testing::Test {
 protected:
  LoadedPlan loaded(PlanCases cases) {
    EXPECT_TRUE(share_weights(cases, relocate_external_data));
    auto plan =
        LoadedPlan::load(std::move(cases), [this](const std::string&) -> Result<Backend*> { return &backend_; });
    EXPECT_TRUE(plan) << to_string(plan.error());
    return *std::move(plan);
  }
  LoadedPlan loaded(const std::vector<std::int64_t>& points, bool has_generic) {
    return loaded(rows_cases(points, has_generic));
  }
  static Session session_of(const LoadedPlan& plan) { return plan.make_session().value(); }

  static Result<void> set_rows(Session& session, std::int64_t n) {
    return session.set_shapes(std::vector<Extents>{{n, test::kCaseWidth}});
  }

  /// Runs n rows of `value` and checks every element.
  static void expect_rows(Session& session, std::int64_t n, float value) {
    const auto set = set_rows(session, n);
    ASSERT_TRUE(set) << to_string(set.error());
    const auto input = session.input(0);
    ASSERT_EQ(input.size(), static_cast<std::size_t>(n) * test::kCaseWidth * sizeof(float));
    for (std::size_t i = 0; i < input.size(); i += sizeof(float)) std::memcpy(input.data() + i, &value, sizeof(float));
    ASSERT_TRUE(session.run());
    const auto output = session.output_tensor(0);
    ASSERT_TRUE(output);
    ASSERT_EQ(output->extents, (Extents{n, test::kCaseWidth}));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n) * test::kCaseWidth; ++i)
      ASSERT_EQ(static_cast<const float*>(output->data)[i], value + static_cast<float>(i % test::kCaseWidth) + 1) << i;
  }

  RowsBackend backend_;
};

TEST_F(LoadedPlanTest, ServesCasesByTheirPlansAndAllElseByTheGenericOne) {
  Session session = session_of(loaded({2, 8}, true));
  for (const std::int64_t n : {8, 2, 3, 16, 1, 8, 3}) expect_rows(session, n, static_cast<float>(n));
  EXPECT_THAT(backend_.loaded, testing::ElementsAre("rows 8", "rows 2", "open"));
}

TEST_F(LoadedPlanTest, LoadsTheKernelsOfAShapeOnceWhenTheyAreNeeded) {
  const LoadedPlan plan = loaded({2, 4, 8}, true);
  Session session = session_of(plan);
  EXPECT_TRUE(backend_.loaded.empty());
  expect_rows(session, 4, 1);
  EXPECT_EQ(backend_.loaded.size(), 1U);
  Session other = session_of(plan);
  expect_rows(other, 4, 2);
  EXPECT_EQ(backend_.loaded.size(), 1U) << "sessions share kernels";
  expect_rows(other, 5, 2);
  EXPECT_EQ(backend_.loaded.size(), 2U);
}

TEST_F(LoadedPlanTest, KeepsTheMemoryOfEveryShape) {
  Session session = session_of(loaded({2}, true));
  for (const std::int64_t n : {2, 3}) {
    ASSERT_TRUE(set_rows(session, n));
    const std::byte* const first = session.input(0).data();
    expect_rows(session, 7, 0);
    ASSERT_TRUE(set_rows(session, n));
    EXPECT_EQ(session.input(0).data(), first) << n;
  }
}

TEST_F(LoadedPlanTest, SharesOneArenaAmongItsShapes) {
  Session session = session_of(loaded({2, 16}, true));
  // Every run fills its scratch, which is the same memory.
  for (int round = 0; round < 3; ++round)
    for (const std::int64_t n : {2, 16, 5}) expect_rows(session, n, static_cast<float>(round));
}

TEST_F(LoadedPlanTest, RefusesShapesThatNobodyServes) {
  Session open = session_of(loaded({2}, true));
  for (const std::int64_t n : {0, 17}) EXPECT_EQ(set_rows(open, n).error().code, "shape/outside") << n;
  EXPECT_FALSE(set_rows(open, -1));
  EXPECT_EQ(open.set_shapes({}).error().code, "input/wrong-count");
  EXPECT_EQ(open.set_shapes(std::vector<Extents>{{5, 3}}).error().code, "input/wrong-shape");
  Session closed = session_of(loaded({2, 4}, false));
  const auto refused = set_rows(closed, 3);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "shape/no-case");
  EXPECT_THAT(refused.error().allowed, testing::HasSubstr("n=2; n=4"));
}

TEST_F(LoadedPlanTest, DropsTheOldestOfManyShapesThatAreNoCase) {
  PlanCases cases = rows_cases({}, true);
  cases.domain.dimensions.front().high = 1000;
  Session session = session_of(loaded(std::move(cases)));
  for (std::int64_t n = 1; n < 200; ++n) expect_rows(session, n, 1);
  for (std::int64_t n = 199; n > 0; --n) expect_rows(session, n, 2);
}

TEST_F(LoadedPlanTest, ServesSeveralThreads) {
  const LoadedPlan plan = loaded({2, 4, 8}, true);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Session session = session_of(plan);
      for (std::int64_t n = 1; n <= 16; ++n) expect_rows(session, n, static_cast<float>(t));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(backend_.loaded.size(), 4U);
}

TEST_F(LoadedPlanTest, SaysWhatItsInputsAndOutputsAre) {
  const LoadedPlan open = loaded({2, 4}, true);
  EXPECT_TRUE(open.has_open_inputs());
  EXPECT_EQ(to_string(open.domain()), "n=1..16");
  EXPECT_EQ(to_string(open.inputs().front().type), "f32[n,4]");
  EXPECT_EQ(open.inputs().front().bytes, 0U);
  EXPECT_EQ(open.input_index("x").value(), 0U);
  EXPECT_EQ(open.output_index("y").value(), 0U);
  const auto unknown = open.input_index("z");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "input/unknown-name");
  EXPECT_EQ(unknown.error().allowed, "x");
  const LoadedPlan cases_only = loaded({2, 4}, false);
  EXPECT_EQ(to_string(cases_only.outputs().front().type), "f32[?,4]");
  EXPECT_EQ(cases_only.outputs().front().bytes, 0U);
  const LoadedPlan fixed = loaded(single_case(test::plan_of_rows(3)));
  EXPECT_FALSE(fixed.has_open_inputs());
  EXPECT_EQ(to_string(fixed.outputs().front().type), "f32[3,4]");
  EXPECT_EQ(fixed.outputs().front().bytes, 48U);
}

TEST_F(LoadedPlanTest, RunsAnOpenPlanOfOneEngineAtAnyShape) {
  Session session = session_of(loaded(single_case(test::plan_of_rows(-1))));
  EXPECT_EQ(session.run().error().code, "session/no-shape");
  for (const std::int64_t n : {3, 5, 3}) expect_rows(session, n, static_cast<float>(n));
  EXPECT_FALSE(session.set_shapes(std::vector<Extents>{{3, 5}}));
  expect_rows(session, 3, 7);
}

TEST_F(LoadedPlanTest, RefusesAnotherNumberOfThreadsThanThePlanWasTunedFor) {
  const auto refused = LoadedPlan::load(single_case(test::plan_of_rows(3)),
                                        [this](const std::string&) -> Result<Backend*> { return &backend_; },
                                        {.threads = 7, .machine = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "plan/other-threads");
}

TEST(LoadedPlan, GivesTheSameFromAFileAsFromMemory) {
  const test::ScratchFolder folder;
  const RealisedPlan plan = all_plain(sample_graph());
  ASSERT_TRUE(save_plan(plan, folder.file("x.collage")));
  const auto from_file = LoadedPlan::load(folder.file("x.collage"), test_registry());
  const auto from_memory = LoadedPlan::load(single_case(plan), host_only);
  ASSERT_TRUE(from_file) << to_string(from_file.error());
  std::vector<std::vector<Tensor>> outputs;
  for (const LoadedPlan& loaded : {*from_file, *from_memory}) {
    Session session = loaded.make_session().value();
    for (std::size_t i = 0; i < 2; ++i) fill_input(session, i, 5 + i);
    ASSERT_TRUE(session.run());
    outputs.push_back(session.copy_outputs().value());
  }
  EXPECT_EQ(outputs[0], outputs[1]);
}

TEST(LoadedPlan, ThatIsNotThereOrNoPlanIsAnError) {
  const test::ScratchFolder folder;
  EXPECT_EQ(LoadedPlan::load(folder.file("none.collage"), test_registry()).error().exit, ExitCode::kIo);
  std::ofstream(folder.file("text.collage")) << "no plan";
  EXPECT_EQ(LoadedPlan::load(folder.file("text.collage"), test_registry()).error().exit, ExitCode::kBadInput);
}

/// The libraries that the loader brings in with libcollage_api_run.so; `ldd` prints them.
TEST(LoadedPlan, NeedsNeitherProtobufNorAnyMeansOfTuning) {
  const test::ScratchFolder folder;
  const std::string command = "ldd " API_RUN_LIBRARY " > " + folder.file("libraries");
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream file(folder.file("libraries"));
  const std::string libraries{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(libraries, testing::HasSubstr("libcollage_runtime"));
  for (const char* other : {"protobuf", "collage_onnx", "collage_store", "collage_measure", "collage_search",
                            "collage_tune", "collage_passes", "sqlite"})
    EXPECT_THAT(libraries, testing::Not(testing::HasSubstr(other)));
}

TEST(CaseTable, FindsEveryCaseAndNothingElse) {
  const std::uint64_t seed = 7;
  Dice dice(seed);
  for (int trial = 0; trial < 50; ++trial) {
    const std::size_t dimensions = 1 + dice.below(3);
    PlanCases cases;
    for (std::size_t d = 0; d < dimensions; ++d)
      cases.domain.dimensions.push_back({std::string(1, char('a' + d)), 0, 5});
    std::set<ShapePoint> points;
    for (std::size_t i = dice.below(20); i > 0; --i) {
      ShapePoint point;
      for (std::size_t d = 0; d < dimensions; ++d) point.push_back(static_cast<std::int64_t>(dice.below(6)));
      points.insert(point);
    }
    for (const ShapePoint& point : points) cases.cases.push_back({.point = point, .plan = {}});
    const CaseTable table(cases);
    ShapePoint point(dimensions, 0);
    for (bool more = true; more;) {
      const auto expected = points.find(point);
      const std::size_t position = static_cast<std::size_t>(std::distance(points.begin(), expected));
      EXPECT_EQ(table.find(point), expected == points.end() ? CaseTable::kNone : position) << "seed " << seed;
      more = false;
      for (std::size_t d = 0; d < dimensions && !more; ++d) {
        more = ++point[d] < 6;
        if (!more) point[d] = 0;
      }
    }
  }
}

}  // namespace
}  // namespace collage
