// Runs that end early because their caller asks for it, and memory that callers must not bind.
#include <chrono>
#include <thread>

#include "runtime_fixture.h"

namespace collage {
namespace {

using testing::HasSubstr;

Graph small_graph(const std::string& text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << to_string(graph.error());
  return graph ? std::move(*graph) : Graph{};
}

ExecutionContext context_of(const Graph& graph) {
  const auto executable = Executable::load(all_plain(graph), host_only, {});
  EXPECT_TRUE(executable) << to_string(executable.error());
  auto context = executable->make_context();
  EXPECT_TRUE(context) << to_string(context.error());
  return *std::move(context);
}

/// Counts up for as long as it is told; each iteration is some nanoseconds.
const char* const kCount = R"(graph g(%trips: i64[], %x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %y: f32[2] = Loop(%trips, _, %x) {body=graph body(%i: i64[], %c: bool[], %s: f32[2]) -> (%c, %t) {
      %t: f32[2] = Add(%s, %s) "Add_0"
    }} "Loop_0"
}
)";

void set_trips(ExecutionContext& context, std::int64_t trips) {
  std::memcpy(context.input(0).data(), &trips, sizeof trips);
}

TEST(Cancel, EndsARunBeforeItsFirstStep) {
  ExecutionContext context = context_of(sample_graph());
  std::stop_source source;
  source.request_stop();
  const auto done = context.run(source.get_token());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "session/cancelled");
  EXPECT_EQ(done.error().exit, ExitCode::kInterrupted);
  EXPECT_THAT(done.error().where, HasSubstr("step 0 (host)"));
  EXPECT_TRUE(context.run()) << "the next run has a request of its own";
}

TEST(Cancel, EndsALoopBetweenTwoIterations) {
  ExecutionContext context = context_of(small_graph(kCount));
  set_trips(context, std::int64_t{1} << 60);
  std::stop_source source;
  std::jthread other([&source] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    source.request_stop();
  });
  const auto done = context.run(source.get_token());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "session/cancelled");
  EXPECT_THAT(done.error().where, HasSubstr("step 0 (bodies)"));
  set_trips(context, 3);
  ASSERT_TRUE(context.run(std::stop_source().get_token())) << "a request that nobody makes";
}

class OverlapTest : public testing::Test {
 protected:
  OverlapTest()
      : context_(context_of(small_graph(R"(graph g(%a: f32[16], %b: f32[16]) -> (%s, %p) {
  opset ai.onnx 26
  %s: f32[16] = Add(%a, %b) "Add_0"
  %p: f32[16] = Mul(%a, %b) "Mul_0"
}
)"))) {}

  std::string code_of_run() {
    const auto done = context_.run();
    if (!done) where_ = done.error().where + ": " + done.error().saw;
    return done ? "" : done.error().code;
  }

  ExecutionContext context_;
  std::string where_;
  alignas(64) float one_[32] = {};
  alignas(64) float two_[16] = {};
};

TEST_F(OverlapTest, AnOutputOverAnInputIsRefused) {
  ASSERT_TRUE(context_.bind_input(0, one_));
  ASSERT_TRUE(context_.bind_output(1, one_));
  EXPECT_EQ(code_of_run(), "runtime/overlap");
  EXPECT_THAT(where_, testing::AllOf(HasSubstr("output p"), HasSubstr("input a")));
  EXPECT_EQ(code_of_run(), "runtime/overlap") << "every run is looked at until it is mended";
  ASSERT_TRUE(context_.bind_output(1, two_));
  EXPECT_EQ(code_of_run(), "");
}

TEST_F(OverlapTest, TwoOutputsInTheSameMemoryAreRefused) {
  ASSERT_TRUE(context_.bind_output(0, one_));
  ASSERT_TRUE(context_.bind_output(1, one_));
  EXPECT_EQ(code_of_run(), "runtime/overlap");
}

TEST_F(OverlapTest, InputsMayShareMemoryAndPortsMayTouch) {
  ASSERT_TRUE(context_.bind_input(0, one_));
  ASSERT_TRUE(context_.bind_input(1, one_));
  ASSERT_TRUE(context_.bind_output(0, one_ + 16));
  EXPECT_EQ(code_of_run(), "");
}

TEST_F(OverlapTest, MemoryMayChangePlacesBetweenTwoRuns) {
  ASSERT_TRUE(context_.bind_input(0, one_));
  ASSERT_TRUE(context_.bind_output(0, two_));
  EXPECT_EQ(code_of_run(), "");
  ASSERT_TRUE(context_.bind_input(0, two_));
  ASSERT_TRUE(context_.bind_output(0, one_));
  EXPECT_EQ(code_of_run(), "");
}

}  // namespace
}  // namespace collage
