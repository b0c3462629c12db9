#include "runtime/case_session.h"

#include <thread>

#include "runtime/case_table.h"
#include "runtime_fixture.h"
#include "tests/support/shape_cases.h"

namespace collage {
namespace {

using test::rows_cases;
using test::RowsBackend;

class CaseSessionTest : public testing::Test {
 protected:
  CaseSession session(const std::vector<std::int64_t>& points, bool has_generic) {
    PlanCases cases = rows_cases(points, has_generic);
    EXPECT_TRUE(share_weights(cases));
    auto loaded =
        CaseSession::load(std::move(cases), [this](const std::string&) -> Result<Backend*> { return &backend_; }, {});
    EXPECT_TRUE(loaded) << to_string(loaded.error());
    return *std::move(loaded);
  }

  /// Runs n rows of `value` and checks every element.
  static void expect_rows(CaseContext& contexts, std::int64_t n, float value) {
    const auto context = contexts.at({&n, 1});
    ASSERT_TRUE(context) << to_string(context.error());
    const auto input = (*context)->input(0);
    ASSERT_EQ(input.size(), static_cast<std::size_t>(n) * test::kCaseWidth * sizeof(float));
    for (std::size_t i = 0; i < input.size(); i += sizeof(float)) std::memcpy(input.data() + i, &value, sizeof(float));
    ASSERT_TRUE((*context)->run());
    const auto output = (*context)->output_tensor(0);
    ASSERT_TRUE(output);
    ASSERT_EQ(output->extents, (Extents{n, test::kCaseWidth}));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n) * test::kCaseWidth; ++i)
      ASSERT_EQ(static_cast<const float*>(output->data)[i], value + static_cast<float>(i % test::kCaseWidth) + 1) << i;
  }

  RowsBackend backend_;
};

TEST_F(CaseSessionTest, ServesCasesByTheirPlansAndAllElseByTheGenericOne) {
  const CaseSession loaded = session({2, 8}, true);
  CaseContext contexts = loaded.make_context();
  for (const std::int64_t n : {8, 2, 3, 16, 1, 8, 3}) expect_rows(contexts, n, static_cast<float>(n));
  EXPECT_THAT(backend_.loaded, testing::ElementsAre("rows 8", "rows 2", "open"));
}

TEST_F(CaseSessionTest, LoadsWhatIsUsedWhenItIsUsed) {
  const CaseSession loaded = session({2, 4, 8}, true);
  CaseContext contexts = loaded.make_context();
  EXPECT_EQ(loaded.loaded_count(), 0U);
  expect_rows(contexts, 4, 1);
  EXPECT_EQ(loaded.loaded_count(), 1U);
  CaseContext others = loaded.make_context();
  expect_rows(others, 4, 2);
  EXPECT_EQ(loaded.loaded_count(), 1U) << "contexts share kernels";
  expect_rows(others, 5, 2);
  EXPECT_EQ(loaded.loaded_count(), 2U);
}

TEST_F(CaseSessionTest, KeepsAContextForEveryShape) {
  const CaseSession loaded = session({2}, true);
  CaseContext contexts = loaded.make_context();
  for (const std::int64_t n : {2, 3}) {
    Context* const first = contexts.at({&n, 1}).value();
    expect_rows(contexts, 7, 0);
    EXPECT_EQ(contexts.at({&n, 1}).value(), first) << n;
  }
}

TEST_F(CaseSessionTest, SharesOneArenaAmongItsShapes) {
  const CaseSession loaded = session({2, 16}, true);
  CaseContext contexts = loaded.make_context();
  // Every run fills its scratch, which is the same memory.
  for (int round = 0; round < 3; ++round)
    for (const std::int64_t n : {2, 16, 5}) expect_rows(contexts, n, static_cast<float>(round));
}

TEST_F(CaseSessionTest, RefusesShapesThatNobodyServes) {
  CaseContext open = session({2}, true).make_context();
  for (const std::int64_t n : {0, 17, -1}) EXPECT_EQ(open.at({&n, 1}).error().code, "shape/outside") << n;
  EXPECT_EQ(open.at({}).error().code, "shape/outside");
  CaseContext closed = session({2, 4}, false).make_context();
  const std::int64_t three = 3;
  const auto refused = closed.at({&three, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "shape/no-case");
  EXPECT_THAT(refused.error().allowed, testing::HasSubstr("n=2; n=4"));
}

TEST_F(CaseSessionTest, ReadsThePointFromInputs) {
  const CaseSession loaded = session({2}, true);
  EXPECT_EQ(loaded.point_of(std::vector<Extents>{{5, 4}}).value(), (ShapePoint{5}));
  EXPECT_EQ(loaded.point_of(std::vector<Extents>{{5, 3}}).error().code, "input/wrong-shape");
  EXPECT_EQ(loaded.point_of(std::vector<Extents>{{17, 4}}).error().code, "shape/outside");
  EXPECT_EQ(loaded.point_of({}).error().code, "input/wrong-count");
}

TEST_F(CaseSessionTest, DropsTheOldestOfManyGenericShapes) {
  PlanCases cases = rows_cases({}, true);
  cases.domain.dimensions.front().high = 1000;
  ASSERT_TRUE(share_weights(cases));
  const auto loaded =
      CaseSession::load(std::move(cases), [this](const std::string&) -> Result<Backend*> { return &backend_; }, {});
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  CaseContext contexts = loaded->make_context();
  for (std::int64_t n = 1; n < 200; ++n) expect_rows(contexts, n, 1);
  for (std::int64_t n = 199; n > 0; --n) expect_rows(contexts, n, 2);
}

TEST_F(CaseSessionTest, ServesSeveralThreads) {
  const CaseSession loaded = session({2, 4, 8}, true);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      CaseContext contexts = loaded.make_context();
      for (std::int64_t n = 1; n <= 16; ++n) expect_rows(contexts, n, static_cast<float>(t));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(loaded.loaded_count(), 4U);
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

TEST(OpenPlan, WantsExtentsThatFitItsInputs) {
  RowsBackend backend;
  const BackendSource source = [&](const std::string&) -> Result<Backend*> { return &backend; };
  const auto session = Session::load(test::plan_of_rows(-1), source, {});
  ASSERT_TRUE(session) << to_string(session.error());
  EXPECT_TRUE(session->is_open());
  EXPECT_EQ(session->make_context().error().code, "runtime/open-shape");
  EXPECT_EQ(session->make_context({.inputs = {{3, 5}}, .arena = {}}).error().code, "runtime/open-shape");
  EXPECT_EQ(session->make_context({.inputs = {{-3, 4}}, .arena = {}}).error().code, "runtime/open-shape");
  const auto context = session->make_context({.inputs = {{3, 4}}, .arena = {}});
  ASSERT_TRUE(context) << to_string(context.error());
  EXPECT_EQ(to_string(context->inputs().front().type), "f32[3,4]");
}

}  // namespace
}  // namespace collage
