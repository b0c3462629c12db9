// Requests that are run together: which may be, and that each gets its own rows.
#include "serve/batch_run.h"

#include <array>

#include "serve/status.h"
#include "tests/runtime/runtime_fixture.h"
#include "tests/serve/serve_fixture.h"
#include "tests/support/shape_cases.h"

namespace collage::test {
namespace {

using ::testing::ElementsAre;

/// A request of x f32[rows,4] whose elements are all `value`.
struct RowsRequest : PendingRequest {
  RowsRequest(std::int64_t count, float value) {
    rows = count;
    numbers.assign(static_cast<std::size_t>(count) * kCaseWidth, value);
    inputs.push_back({.extents = {count, kCaseWidth}, .bytes = std::as_bytes(std::span(numbers))});
    wanted = {true};
  }
  /// The first element of each row of the output.
  [[nodiscard]] std::vector<float> firsts() const {
    std::vector<float> found;
    for (std::size_t at = 0; at < outputs.at(0).bytes.size(); at += kCaseWidth * sizeof(float)) {
      float value;
      std::memcpy(&value, outputs[0].bytes.data() + at, sizeof value);
      found.push_back(value);
    }
    return found;
  }
  std::vector<float> numbers;
};

class BatchTest : public ServeTest {
 protected:
  [[nodiscard]] LoadedPlan& plan() {
    if (!plan_) {
      const auto loaded = LoadedPlan::load(rows_cases({2, 8}, true), source_);
      EXPECT_TRUE(loaded) << to_string(loaded.error());
      plan_.emplace(*loaded);
    }
    return *plan_;
  }

  RowsBackend backend_;
  BackendSource source_ = [this](const std::string&) -> Result<Backend*> { return &backend_; };
  std::optional<LoadedPlan> plan_;
};

TEST_F(BatchTest, TheDimensionIsTheFirstAxisOfAllInputsAndOutputs) {
  PlanCases cases = rows_cases({2, 8}, true);
  const auto rule = batch_rule_of(cases);
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->dimension, 0U);
  EXPECT_EQ(rule->most, 16);
  cases.inputs.front().type.shape = Shape{{.extent = -1, .symbol = "n"}, {.extent = -1, .symbol = "n"}};
  EXPECT_FALSE(batch_rule_of(cases)) << "an axis behind the first has it too";
  cases.inputs.front().type.shape = Shape{{.extent = 4, .symbol = {}}, {.extent = -1, .symbol = "n"}};
  EXPECT_FALSE(batch_rule_of(cases)) << "another axis has it";
  cases.inputs.clear();
  EXPECT_FALSE(batch_rule_of(cases));
}

TEST_F(BatchTest, JoinsUpToTheLargestOfTheDomain) {
  const PlanCases cases = rows_cases({2, 8}, true);
  const BatchRule rule = *batch_rule_of(cases);
  RowsRequest ten(10, 1);
  RowsRequest six(6, 1);
  RowsRequest seven(7, 1);
  PendingRequest* const first = &ten;
  EXPECT_TRUE(may_join(cases, rule, {&first, 1}, six));
  EXPECT_FALSE(may_join(cases, rule, {&first, 1}, seven));
  six.inputs.front().extents.back() = 5;
  EXPECT_FALSE(may_join(cases, rule, {&first, 1}, six)) << "another extent behind the first axis";
}

TEST_F(BatchTest, JoinsOnlyToShapesThatThePlanServes) {
  const PlanCases cases = rows_cases({2, 4}, false);
  const BatchRule rule = *batch_rule_of(cases);
  RowsRequest two(2, 1);
  RowsRequest other(2, 1);
  RowsRequest one(1, 1);
  PendingRequest* const first = &two;
  EXPECT_TRUE(may_join(cases, rule, {&first, 1}, other));
  EXPECT_FALSE(may_join(cases, rule, {&first, 1}, one));
}

TEST_F(BatchTest, EachRequestGetsItsOwnRows) {
  Session session = plan().make_session().value();
  RowsRequest one(1, 10);
  RowsRequest three(3, 20);
  RowsRequest two(2, 30);
  const std::vector<PendingRequest*> batch = {&one, &three, &two};
  run_batch(plan(), session, batch);
  EXPECT_THAT(one.firsts(), ElementsAre(11));
  EXPECT_THAT(three.firsts(), ElementsAre(21, 21, 21));
  EXPECT_THAT(two.firsts(), ElementsAre(31, 31));
  EXPECT_EQ(three.outputs[0].extents, (Extents{3, 4}));
}

TEST(RunLimit, EndsARunThatTakesLonger) {
  const Graph graph = parse_graph(R"(graph g(%trips: i64[], %x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %y: f32[2] = Loop(%trips, _, %x) {body=graph body(%i: i64[], %c: bool[], %s: f32[2]) -> (%c, %t) {
      %t: f32[2] = Add(%s, %s) "Add_0"
    }} "Loop_0"
}
)")
                          .value();
  const LoadedPlan plan = LoadedPlan::load(single_case(all_plain(graph)), BackendSource(host_only)).value();
  Session session = plan.make_session().value();
  std::int64_t trips = std::int64_t{1} << 60;
  const std::array<float, 2> x = {1, 2};
  PendingRequest request;
  request.inputs = {{.extents = {}, .bytes = std::as_bytes(std::span(&trips, 1))},
                    {.extents = {2}, .bytes = std::as_bytes(std::span(x))}};
  request.wanted = {true};
  PendingRequest* const pending = &request;
  run_batch(plan, session, {&pending, 1}, {.cancel = {}, .deadline = later(std::chrono::milliseconds(10))});
  ASSERT_TRUE(request.error);
  EXPECT_EQ(request.error->code, "session/deadline");
  EXPECT_EQ(http_status_of(*request.error), 504);
  trips = 1;
  request.error.reset();
  run_batch(plan, session, {&pending, 1}, {.cancel = {}, .deadline = later(std::chrono::hours(1))});
  EXPECT_FALSE(request.error);
}

TEST_F(BatchTest, OneBadRequestFailsAlone) {
  start({.sessions = 1, .backend_places = {}});
  ASSERT_TRUE(host().current()->batch_rule());
  close_gate();
  std::vector<std::thread> clients;
  std::vector<Reply> replies(5);
  for (std::size_t i = 0; i < replies.size(); ++i)
    clients.emplace_back([&, i] {
      replies[i] = post(kInfer, infer_text({i == 3 ? 666 : static_cast<float>(i), 0, 0, 0}));
    });
  while (host().metrics().requests.load() < replies.size()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  open_gate();
  for (std::thread& client : clients) client.join();
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (i == 3)
      EXPECT_EQ(replies[i].code(), "runtime/bad-operand");
    else
      EXPECT_EQ(replies[i].json()["outputs"][0]["data"][0], i + 1) << replies[i].body;
  }
}

TEST_F(BatchTest, WaitingRequestsAreRunTogether) {
  start({.sessions = 1, .backend_places = {}});
  close_gate();
  std::vector<std::thread> clients;
  const auto send = [&] { clients.emplace_back([&] { (void)post(kInfer, infer_text({1, 2, 3, 4})); }); };
  send();
  await_held();
  for (int i = 0; i < 6; ++i) send();
  await_queue(6);
  open_gate();
  for (std::thread& client : clients) client.join();
  const std::string text = get("/metrics").body;
  EXPECT_NE(text.find("collage_batch_requests_sum{model=\"rows\"} 7\n"), std::string::npos) << text;
  EXPECT_NE(text.find("collage_batch_requests_count{model=\"rows\"} 2\n"), std::string::npos) << text;
}

TEST_F(BatchTest, RowsThatDependOnEachOtherAreNeverJoined) {
  write_file("mixes");
  start({.sessions = 1, .backend_places = {}});
  EXPECT_FALSE(host().current()->batch_rule());
  EXPECT_EQ(get("/v2/models/rows/config").json()["max_batch_size"], 0);
}

TEST_F(BatchTest, RowsThatShareAScaleAreNeverJoined) {
  write_file("scales");
  start({.sessions = 1, .backend_places = {}});
  EXPECT_FALSE(host().current()->batch_rule());
}

TEST_F(BatchTest, RowsOfAModelThatRefusesLargeNumbersAreJoined) {
  write_file("small");
  start({.sessions = 1, .backend_places = {}});
  EXPECT_TRUE(host().current()->batch_rule());
}

TEST_F(BatchTest, ARunThatThrowsFailsOnlyItsRequest) {
  start({.sessions = 1, .backend_places = {}});
  const Reply reply = post(kInfer, infer_text({667, 2, 3, 4}));
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.code(), "serve/exception");
  expect_alive();
}

}  // namespace
}  // namespace collage::test
