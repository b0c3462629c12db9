// Class fast: steps in 16 bits that are right one by one, and together are not.
#include "api/tune/verify.h"
#include "numbers/record.h"
#include "tests/tune/end_to_end/misbehaviour_fixture.h"
#include "tune/confirm/confirm.h"

namespace collage {
namespace {

/// What every stored candidate of the honest backends costs: far more than the test backend takes for anything.
constexpr std::int64_t kHonestNs = 1'000'001;

class OutputsInClassFast : public ::testing::Test {
 protected:
  /// Tunes with honest backends first. Their costs are then replaced by one that makes the test backend's steps best.
  /// `pins` of nodes leave out engines that take all of them.
  Result<TuneReport> tuned(const std::string& instance, const std::optional<OutputBound>& bound = std::nullopt,
                           const std::vector<NodeRule>& pins = {}) {
    test::write_model(test::small_graph(), scratch_.file("model.onnx"));
    COLLAGE_TRY_VOID(tune_with({}, bound));
    {
      COLLAGE_TRY(Store store, Store::open(scratch_.file("store")));
      for (const auto& [key, cost] : store.costs_like(""))
        if (std::holds_alternative<Measured>(cost))
          store.put_cost(key,
                         Measured{.median_ns = kHonestNs, .low_ns = kHonestNs, .high_ns = kHonestNs, .samples = 9});
    }
    return tune_with({instance}, bound, pins);
  }

  /// How the check of a plan ends that is right on the timed inputs and wrong on the others; empty where the check does
  /// not look at the others.
  Result<std::string> failure_on_more_inputs(const std::string& plan) {
    Registry registry(test::module_folders());
    COLLAGE_TRY(const LoadedPlan loaded, LoadedPlan::load(plan, registry));
    COLLAGE_TRY(Session session, loaded.make_session());
    const std::vector<Tensor> inputs(session.inputs().size(), test::numbers({6, 16}, 1));
    COLLAGE_TRY_VOID(session.set_inputs(inputs));
    COLLAGE_TRY_VOID(session.run());
    COLLAGE_TRY(const std::vector<Tensor> outputs, session.copy_outputs());
    const std::vector<Tensor> others(outputs.size(), test::numbers({6, 16}, 100));
    COLLAGE_TRY_VOID(write_record(scratch_.file("inputs"), session.inputs(), inputs));
    COLLAGE_TRY_VOID(write_record(scratch_.file("outputs"), session.outputs(), outputs));
    COLLAGE_TRY_VOID(write_record(scratch_.file("others"), session.outputs(), others));
    COLLAGE_TRY(const std::vector<ConfirmLane> lanes,
                confirm_here({.plans = {{.name = "plan", .file = plan}},
                              .inputs = scratch_.file("inputs"),
                              .expected = scratch_.file("outputs"),
                              .more = {{.inputs = scratch_.file("inputs"), .expected = scratch_.file("others")}},
                              .min_rounds = 0},
                             registry));
    return lanes.front().failure;
  }

  Result<TuneReport> tuned_again(const std::string& instance) { return tune_with({instance}, std::nullopt); }

  static std::size_t narrow_steps(const TuneReport& report) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = report.cover.find("+bf16", at)) != std::string::npos; ++at) ++count;
    return count;
  }

  static bool has_note(const TuneReport& report, const std::string& part) {
    return std::ranges::any_of(report.notes,
                               [&](const std::string& note) { return note.find(part) != std::string::npos; });
  }

  void expect_right_outputs(const TuneReport& report) {
    Registry registry(test::module_folders());
    const auto verified =
        verify_plan({.plan = report.plan, .model = std::nullopt, .seeds = 5, .input_ranges = {}}, registry);
    ASSERT_TRUE(verified) << to_string(verified.error());
    EXPECT_TRUE(verified->ok) << to_text(*verified);
  }

 private:
  static Result<void> write_record(const std::string& path, const std::vector<TensorPort>& ports,
                                   const std::vector<Tensor>& tensors) {
    COLLAGE_TRY(RecordWriter writer, RecordWriter::create(path));
    for (std::size_t p = 0; p < ports.size(); ++p) COLLAGE_TRY_VOID(writer.add(ports[p].name, tensors[p]));
    return writer.finish();
  }

  Result<TuneReport> tune_with(const std::vector<std::string>& others, const std::optional<OutputBound>& bound,
                               const std::vector<NodeRule>& pins = {}) {
    TuneOptions options;
    options.model = scratch_.file("model.onnx");
    options.output = scratch_.file("plan.collage");
    options.backends = {"onnxruntime"};
    options.backends.insert(options.backends.end(), others.begin(), others.end());
    options.accuracy = Accuracy::kFast;
    options.bound = bound;
    options.rules = pins;
    options.measures_all = true;  // else what is measured depends on the costs, which are replaced here
    options.store = scratch_.file("store");
    options.budget_s = test::kAmpleBudgetSeconds;
    options.worker_command = test::worker_command();
    Registry registry(test::module_folders());
    return tune(options, registry);
  }

  test::Scratch scratch_;
};

TEST_F(OutputsInClassFast, StepsInSixteenBitsStayWhereTheOutputsAreInside) {
  const auto report = tuned("test:narrow=1.001");
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(narrow_steps(*report), 4U) << report->cover;
  EXPECT_FALSE(has_note(*report, "times the bound"));
  expect_right_outputs(*report);
}

/// Four steps of the same factor: each errs by as much as the others, and all together by their sum.
TEST_F(OutputsInClassFast, ThePlanTellsWhatItsStepsInSixteenBitsGainAndErr) {
  const std::string instance = "test:narrow=1.001";
  const auto report = tuned(instance, std::nullopt, {{.kind = NodeRule::Kind::kPin, .glob = "*", .backend = instance}});
  ASSERT_TRUE(report) << to_string(report.error());
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const auto precision = plan->plan.report->explanation->precision;
  ASSERT_TRUE(precision) << report->shipped;
  EXPECT_EQ(precision->bound, "fast");
  EXPECT_EQ(precision->sets, 16U) << "a small model";
  ASSERT_TRUE(precision->predicted_share);
  EXPECT_NEAR(*precision->predicted_share, precision->share, 0.5 * precision->share);
  ASSERT_EQ(precision->steps.size(), 4U);
  for (const ExplainedNarrowStep& step : precision->steps) {
    EXPECT_EQ(step.element, "bf16");
    EXPECT_GT(step.gain_ns.value_or(0), 0) << step.step;
    EXPECT_GT(step.share.value_or(0), 0) << step.step;
    EXPECT_LE(step.share.value_or(1), *precision->predicted_share) << step.step;
  }
}

/// Each step errs by 0.9 %, which is inside its bound; four together err by 3.6 %, which is outside the plan's.
TEST_F(OutputsInClassFast, SomeStepsGoBackToFullPrecisionWhereTheyErrTooMuchTogether) {
  const auto report = tuned("test:narrow=1.009");
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_TRUE(has_note(*report, "times the bound")) << report->cover;
  EXPECT_TRUE(has_note(*report, "of 4 nodes keep full precision"));
  EXPECT_FALSE(has_note(*report, "4 of 4 nodes")) << "not one by one";
  EXPECT_LT(narrow_steps(*report), 4U) << report->cover;
  expect_right_outputs(*report);
}

/// Floats of 16 bits that err by 3.6 % together, fixed point by 0.2 %.
TEST_F(OutputsInClassFast, StepsInFixedPointStayWhereFloatsOfSixteenBitsErrTooMuch) {
  const auto report = tuned("test:narrow=1.009,fixed=1.0005");
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_TRUE(has_note(*report, "round in fixed point alone"));
  EXPECT_NE(report->cover.find("+i16"), std::string::npos) << report->cover;
  expect_right_outputs(*report);
}

TEST_F(OutputsInClassFast, TheSameTuneKeepsTheSameNodesInFullPrecision) {
  const auto first = tuned("test:narrow=1.009");
  const auto again = tuned_again("test:narrow=1.009");
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->cover, again->cover);
  EXPECT_EQ(first->notes, again->notes);
}

TEST_F(OutputsInClassFast, ABoundOfTheUsersDecidesHowManyStay) {
  const auto report = tuned("test:narrow=1.009", output_bound_of("max=1e-5"));
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(narrow_steps(*report), 0U) << report->cover;
  expect_right_outputs(*report);
}

/// A plan in full precision is judged as in class standard. A model that chooses by the last bits of its numbers has
/// some inputs on which no engine gives the outputs of the reference.
TEST_F(OutputsInClassFast, OnlyPlansWithSixteenBitsAreJudgedOnMoreInputs) {
  const std::string instance = "test:narrow=1.001";
  const std::vector<NodeRule> pins = {{.kind = NodeRule::Kind::kPin, .glob = "*", .backend = instance}};
  const auto narrow = tuned(instance, std::nullopt, pins);
  ASSERT_TRUE(narrow) << to_string(narrow.error());
  const auto narrow_failure = failure_on_more_inputs(narrow->plan);
  ASSERT_TRUE(narrow_failure) << to_string(narrow_failure.error());
  EXPECT_NE(*narrow_failure, "");

  const auto full = tuned(instance, output_bound_of("max=1e-5"), pins);
  ASSERT_TRUE(full) << to_string(full.error());
  const auto full_failure = failure_on_more_inputs(full->plan);
  ASSERT_TRUE(full_failure) << to_string(full_failure.error());
  EXPECT_EQ(*full_failure, "");
}

TEST_F(OutputsInClassFast, AStepThatRoundsTooMuchIsRefused) {
  const auto report = tuned("test:narrow=1.05");
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(narrow_steps(*report), 0U) << report->cover;
  EXPECT_GE(report->refused, 3U);
  expect_right_outputs(*report);
}

}  // namespace
}  // namespace collage
