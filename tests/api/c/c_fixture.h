// Plans in files and what tests ask of the C interface. All calls go through the table, as those of a program do.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "api/c/collage.h"
#include "plan/file/cases_file.h"
#include "tests/runtime/runtime_fixture.h"
#include "tests/support/paths.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shape_cases.h"

namespace collage::test {

inline const collage_api& c_api() { return *collage_get_api(COLLAGE_API_VERSION); }

/// The code of a status, "" for none. Takes it.
inline std::string code_of(collage_status* status) {
  const std::string code = c_api().status_code(status);
  c_api().status_free(status);
  return code;
}

inline testing::AssertionResult is_good(collage_status* status) {
  const std::string message = c_api().status_message(status);
  const bool good = status == nullptr;
  c_api().status_free(status);
  return good ? testing::AssertionSuccess() : testing::AssertionFailure() << message;
}

struct FreeHandle {
  void operator()(collage_plan* plan) const { c_api().plan_free(plan); }
  void operator()(collage_session* session) const { c_api().session_free(session); }
  void operator()(collage_cancel* cancel) const { c_api().cancel_free(cancel); }
};
using PlanHandle = std::unique_ptr<collage_plan, FreeHandle>;
using SessionHandle = std::unique_ptr<collage_session, FreeHandle>;

/// y = x + 1 by the host backend, f32[6,16].
inline RealisedPlan increment_plan() {
  Graph graph;
  graph.opsets = {{"", 26}};
  const ValueId x = add_input(graph, "x", {6, 16});
  const ValueId one = add_constant(graph, "one", make_tensor<float>(ElementType::kFloat32, {1}, {1}));
  graph.outputs = {add_op(graph, "Add", {x, one}, {6, 16})};
  return all_plain(graph);
}
inline constexpr std::size_t kIncrements = 96;

/// s = s + s as often as the first input says: some nanoseconds each time.
inline RealisedPlan doubling_plan() {
  return all_plain(parse_graph(R"(graph g(%trips: i64[], %x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %y: f32[2] = Loop(%trips, _, %x) {body=graph body(%i: i64[], %c: bool[], %s: f32[2]) -> (%c, %t) {
      %t: f32[2] = Add(%s, %s) "Add_0"
    }} "Loop_0"
}
)")
                       .value());
}

class CApi : public testing::Test {
 protected:
  static void SetUpTestSuite() { ::setenv("COLLAGE_BACKEND_PATH", test::build_path("/tests/modules/rows").c_str(), 1); }

  std::string saved(PlanCases cases, const std::string& name) const {
    EXPECT_TRUE(cases.domain.dimensions.empty() || share_weights(cases, relocate_external_data));
    const auto done = save_cases(cases, folder_.file(name));
    EXPECT_TRUE(done) << to_string(done.error());
    return folder_.file(name);
  }
  std::string doubling_file() const { return saved(single_case(doubling_plan()), "doubling.collage"); }
  std::string increment_file() const { return saved(single_case(increment_plan()), "increment.collage"); }
  /// x f32[n,4] -> y = x + (1, 2, 3, 4), n = 1..16: kernels for 2 and 8 rows, a generic one for all others.
  std::string rows_file() const { return saved(rows_cases({2, 8}, true), "rows.collage"); }

  static PlanHandle loaded(const std::string& path) {
    collage_plan* plan = nullptr;
    EXPECT_TRUE(is_good(c_api().plan_load_file(path.c_str(), nullptr, &plan)));
    return PlanHandle(plan);
  }
  static SessionHandle session_of(const PlanHandle& plan) {
    collage_session* session = nullptr;
    EXPECT_TRUE(is_good(c_api().session_create(plan.get(), nullptr, &session)));
    return SessionHandle(session);
  }

  static collage_status* set_rows(const SessionHandle& session, std::int64_t rows) {
    const std::array<std::int64_t, 2> extents = {rows, kCaseWidth};
    const collage_shape shape = {extents.data(), extents.size()};
    return c_api().session_set_shapes(session.get(), &shape, 1);
  }

  static std::vector<float> output_of(const SessionHandle& session, std::size_t index) {
    collage_tensor tensor{};
    tensor.size = sizeof tensor;
    EXPECT_TRUE(is_good(c_api().session_output(session.get(), index, &tensor)));
    const auto* const values = static_cast<const float*>(tensor.data);
    return {values, values + tensor.bytes / sizeof(float)};
  }

  const collage_api& api_ = c_api();
  test::ScratchFolder folder_;
};

}  // namespace collage::test
