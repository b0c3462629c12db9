// Sessions of plans with open inputs: shapes that are set, served, refused.
#include <algorithm>
#include <thread>

#include "tests/api/c/c_fixture.h"

namespace collage {
namespace {

using test::CApi;
using test::code_of;
using test::is_good;
using test::kCaseWidth;
using test::PlanHandle;
using test::SessionHandle;

class CApiShapes : public CApi {
 protected:
  /// Runs n rows of `value` and checks every element.
  static void expect_rows(const SessionHandle& session, std::int64_t rows, float value) {
    ASSERT_TRUE(is_good(set_rows(session, rows)));
    const std::vector<float> in(static_cast<std::size_t>(rows) * kCaseWidth, value);
    ASSERT_TRUE(is_good(test::c_api().session_copy_input(session.get(), 0, in.data(), in.size() * sizeof(float))));
    ASSERT_TRUE(is_good(test::c_api().session_run(session.get())));
    const std::vector<float> out = output_of(session, 0);
    ASSERT_EQ(out.size(), in.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], value + static_cast<float>(i % kCaseWidth) + 1) << rows << " rows, " << i;
  }

  PlanHandle plan_ = loaded(rows_file());
  SessionHandle session_ = session_of(plan_);
};

TEST_F(CApiShapes, AreServedByTheirOwnPlansAndByTheGenericOne) {
  for (const std::int64_t rows : {8, 2, 3, 16, 1, 8, 3}) expect_rows(session_, rows, static_cast<float>(rows));
}

TEST_F(CApiShapes, AreSeenInThePorts) {
  collage_tensor_info info{};
  info.size = sizeof info;
  ASSERT_TRUE(is_good(api_.session_input_info(session_.get(), 0, &info)));
  EXPECT_EQ(info.extents[0], -1);
  EXPECT_STREQ(info.symbols[0], "n");
  for (const std::int64_t rows : {2, 5}) {
    ASSERT_TRUE(is_good(set_rows(session_, rows)));
    ASSERT_TRUE(is_good(api_.session_input_info(session_.get(), 0, &info)));
    EXPECT_STREQ(info.name, "x");
    EXPECT_EQ(info.extents[0], rows);
    EXPECT_EQ(info.symbols[0], nullptr);
    EXPECT_EQ(info.bytes, static_cast<std::size_t>(rows) * kCaseWidth * sizeof(float));
    expect_rows(session_, rows, 1);
    collage_tensor tensor{};
    tensor.size = sizeof tensor;
    ASSERT_TRUE(is_good(api_.session_output(session_.get(), 0, &tensor)));
    EXPECT_EQ(tensor.extents[0], rows);
    EXPECT_EQ(tensor.extents[1], static_cast<std::int64_t>(kCaseWidth));
  }
}

TEST_F(CApiShapes, MustBeSetBeforeAnythingElse) {
  void* data = nullptr;
  std::size_t bytes = 0;
  alignas(64) std::array<float, 16> memory{};
  collage_session* const session = session_.get();
  for (collage_status* status :
       {api_.session_input(session, 0, &data, &bytes), api_.session_copy_input(session, 0, memory.data(), 64),
        api_.session_bind_input(session, 0, memory.data(), 64), api_.session_bind_output(session, 0, memory.data(), 64),
        api_.session_run(session)})
    EXPECT_EQ(code_of(status), "session/no-shape");
}

TEST_F(CApiShapes, ThatNobodyServesAreRefused) {
  ASSERT_TRUE(is_good(set_rows(session_, 2)));
  for (const std::int64_t rows : {0, 17}) EXPECT_EQ(code_of(set_rows(session_, rows)), "shape/outside") << rows;
  EXPECT_NE(code_of(set_rows(session_, -1)), "");
  EXPECT_NE(code_of(set_rows(session_, INT64_MAX)), "");
  const std::array<std::int64_t, 2> wide = {5, 3};
  const collage_shape shape = {wide.data(), wide.size()};
  EXPECT_EQ(code_of(api_.session_set_shapes(session_.get(), &shape, 1)), "input/wrong-shape");
  EXPECT_EQ(code_of(api_.session_set_shapes(session_.get(), &shape, 0)), "input/wrong-count");
  collage_tensor_info info{};
  info.size = sizeof info;
  ASSERT_TRUE(is_good(api_.session_input_info(session_.get(), 0, &info)));
  EXPECT_EQ(info.extents[0], 2) << "the shape before stays";
  const SessionHandle closed = session_of(loaded(saved(test::rows_cases({2, 4}, false), "closed.collage")));
  EXPECT_EQ(code_of(set_rows(closed, 3)), "shape/no-case");
}

TEST_F(CApiShapes, ThatAreTooLargeForMemoryAreRefused) {
  const SessionHandle open = session_of(loaded(saved(single_case(test::plan_of_rows(-1)), "open.collage")));
  for (const std::int64_t rows : {INT64_MAX, INT64_MAX / 16 - 1})
    EXPECT_THAT(code_of(set_rows(open, rows)), testing::MatchesRegex("(runtime|api)/out-of-memory")) << rows;
  expect_rows(open, 3, 1);
}

TEST_F(CApiShapes, BindMemoryForThemselves) {
  alignas(64) std::array<float, 8> in{};
  ASSERT_TRUE(is_good(set_rows(session_, 2)));
  ASSERT_TRUE(is_good(api_.session_bind_input(session_.get(), 0, in.data(), sizeof in)));
  expect_rows(session_, 8, 3);  // has its own memory
  ASSERT_TRUE(is_good(set_rows(session_, 2)));
  ASSERT_TRUE(is_good(api_.session_run(session_.get())));
  EXPECT_EQ(output_of(session_, 0), (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST_F(CApiShapes, OfARunForgetTheOutputsOfTheOneBefore) {
  expect_rows(session_, 8, 1);
  ASSERT_TRUE(is_good(set_rows(session_, 2)));
  collage_tensor tensor{};
  tensor.size = sizeof tensor;
  EXPECT_EQ(code_of(api_.session_output(session_.get(), 0, &tensor)), "session/not-run");
}

TEST_F(CApiShapes, WhoseShapeARunDecidesTakeNoMemoryOfTheCaller) {
  alignas(64) std::array<float, 64> memory{};
  ASSERT_TRUE(is_good(set_rows(session_, 3)));
  EXPECT_EQ(code_of(api_.session_bind_output(session_.get(), 0, memory.data(), sizeof memory)), "runtime/no-port");
}

TEST_F(CApiShapes, AreSetInSeveralThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      const SessionHandle own = session_of(plan_);
      for (std::int64_t rows = 1; rows <= 16; ++rows) expect_rows(own, rows, static_cast<float>(t));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CApiShapes, WhoseKernelsThrowAreStatuses) {
  const SessionHandle session = session_of(loaded(saved(test::rows_cases({2, 13}, true), "throws.collage")));
  EXPECT_EQ(code_of(set_rows(session, 13)), "api/exception");
  expect_rows(session, 2, 1);
  EXPECT_EQ(code_of(set_rows(session, 13)), "api/exception");
  expect_rows(session, 5, 1);
}

}  // namespace
}  // namespace collage
