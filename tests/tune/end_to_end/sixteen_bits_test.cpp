// Tunes in class fast in which kernels of 16 bits seem to take next to no time: whatever ships keeps to its bound on
// fresh inputs, and numbers that 16 bits cannot hold stay in full precision. Long: ./dev soak bounds.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "api/tune/verify.h"
#include "plan/file/plan_file.h"
#include "store/store.h"
#include "tests/support/long_run.h"
#include "tests/support/scoped_variable.h"
#include "tests/support/small_networks.h"
#include "tests/tune/tune_fixture.h"
#include "tune/tune.h"

namespace collage {
namespace {

using testing_support::add_conv;
using testing_support::NetworkBuilder;

/// What a stored candidate costs in place of its time, so that as much as possible is stored in 16 bits.
constexpr std::int64_t kNarrowNs = 1'000;
constexpr std::int64_t kFullNs = 100'000;

/// A chain of three to eight layers with random weights, branches that meet again, and a mean at its end.
Graph random_network(std::uint64_t seed) {
  NetworkBuilder net(seed);
  const Extents in = {1, 16, 12, 12};
  ValueId x = net.input("x", in);
  const std::size_t layers = 3 + net.dice().below(6);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    switch (net.dice().below(6)) {
      case 0:
        x = add_conv(net, x, in[1], 3);
        break;
      case 1:
        x = net.add("Relu", {add_conv(net, x, in[1], 1)}, in);
        break;
      case 2:
        x = add_conv(net, x, in[1], 3, in[1]);
        break;
      case 3:
        x = net.add("Sigmoid", {x}, in);
        break;
      case 4:
        x = net.add("Mul", {net.add("Tanh", {x}, in), x}, in);
        break;
      default:
        x = net.add("Add", {x, net.weight({in[1], 1, 1}, 2.0F)}, in);
        break;
    }
  }
  const ValueId mean = net.add("ReduceMean", {x, net.integers({2, 3})}, {1, in[1], 1, 1});
  return net.take({x, add_conv(net, mean, 10, 1)});
}

/// From what 16 bits can hardly miss to what they can hardly keep.
std::string random_bound(Dice& dice) {
  const auto between = [&](double low, double high) {
    return std::exp(std::log(low) + static_cast<double>(dice.below(1001)) / 1000 * std::log(high / low));
  };
  switch (dice.below(4)) {
    case 0:
      return "fast";
    case 1:
      return fmt::format("max={:.3g}", between(1.1e-4, 3e-2));
    case 2:
      return fmt::format("mean={:.3g}", between(5e-5, 1e-2));
    default:
      return fmt::format("max={:.3g},cosine>={:.7f}", between(2e-4, 3e-2), 1 - between(1e-7, 1e-3));
  }
}

/// Whether the variant or a format of a cost's key is one of 16 bits; its hashes may hold the same letters.
bool names_16_bits(const std::string& key) {
  std::istringstream words(key);
  for (std::string word; words >> word;)
    for (const char* field : {"variant=", "in=", "out=", "from=", "to="})
      if (word.starts_with(field) && word.find("f16") != std::string::npos) return true;
  return false;
}

/// Never destroyed: at the end of the process an engine's own threads may be gone before the engine.
Registry& registry() {
  static auto* const made = new Registry(test::module_folders());
  return *made;
}

bool has_backends() { return registry().get("native") && registry().get("onnxruntime"); }

/// Of one model, in a type of 16 bits that need not be the processor's.
class NarrowTune {
 public:
  NarrowTune(const Graph& graph, const std::string& element) : element_("COLLAGE_NARROW_ELEMENT", element) {
    test::write_model(graph, scratch_.file("model.onnx"));
  }

  /// `native` alone runs the nodes. A tune fills the store; its costs are then replaced by those in favour of 16 bits,
  /// and the second tune uses them.
  Result<TuneReport> run(const std::string& bound) {
    const TuneOptions options = options_for(bound);
    COLLAGE_TRY_VOID(tune(options, registry()));
    {
      COLLAGE_TRY(Store store, Store::open(options.store));
      for (const auto& [key, cost] : store.costs_like("")) {
        if (!std::holds_alternative<Measured>(cost)) continue;
        const std::int64_t ns = names_16_bits(key) ? kNarrowNs : kFullNs;
        store.put_cost(key, Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 9});
      }
    }
    return tune(options, registry());
  }

  /// With the costs that are measured, and time for a plan made before they are.
  Result<TuneReport> run_once(const std::string& bound) { return tune(options_for(bound), registry()); }

 private:
  [[nodiscard]] TuneOptions options_for(const std::string& bound) const {
    TuneOptions options = test::small_tune(scratch_, {"native"});
    options.budget_s = 10 * test::kAmpleBudgetSeconds;  // compiling takes long on a busy machine
    options.bound = output_bound_of(bound);
    options.accuracy = options.bound->accuracy;
    options.rules = {{.kind = NodeRule::Kind::kPin, .glob = "*", .backend = "native"}};
    return options;
  }

  test::ScopedVariable element_;
  test::Scratch scratch_;
};

/// On inputs that no tune has seen.
void expect_right_outputs(const std::string& plan) {
  const auto verified = verify_plan(
      {.plan = plan, .model = std::nullopt, .shapes = {}, .seeds = 5, .seed = 1000, .input_ranges = {}}, registry());
  ASSERT_TRUE(verified) << to_string(verified.error());
  EXPECT_TRUE(verified->ok) << to_text(*verified);
}

class RandomBounds : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RandomBounds, HoldOnFreshInputs) {
  if (!has_backends()) GTEST_SKIP() << "without native or a reference";
  const std::size_t seed = GetParam();
  Dice dice(seed);
  const std::string bound = random_bound(dice);
  SCOPED_TRACE(fmt::format("seed {}, {}", seed, bound));
  NarrowTune tune(random_network(seed), seed % 2 == 0 ? "bf16" : "f16");
  const auto report = tune.run(bound);
  ASSERT_TRUE(report) << to_string(report.error());
  expect_right_outputs(report->plan);

  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const auto& precision = plan->plan.report->explanation->precision;
  fmt::print("seed {:2}, {}: ", seed, bound);
  if (precision)
    fmt::print("{} of {} steps in {}; of the bound: foreseen {:.3f}, seen {:.3f}\n", precision->steps.size(),
               plan->plan.steps.size(), precision->steps.front().element, precision->predicted_share.value_or(NAN),
               precision->share);
  else
    fmt::print("in full precision\n");
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomBounds, testing::Range(std::size_t{0}, test::by_length<std::size_t>(2, 50)));

/// Whatever the times of its kernels are.
TEST(NodesThatErrTooMuch, AreKnownBeforeAnythingIsMeasured) {
  if (!has_backends()) GTEST_SKIP() << "without native or a reference";
  NarrowTune tune(random_network(2), "bf16");
  const auto report = tune.run_once("max=1e-3");
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_THAT(report->notes, testing::Contains(testing::HasSubstr("plan \"made quickly\" errs")));
  expect_right_outputs(report->plan);
  const auto again = tune.run_once("max=1e-3");
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->notes, report->notes);
}

/// What an exponential makes of the rounding of large numbers is too much whichever kernel does it.
TEST(NodesThatErrTooMuch, AreThoseWhoseOperatorAloneRoundsTooMuch) {
  if (!has_backends()) GTEST_SKIP() << "without native or a reference";
  NetworkBuilder net(3);
  const Extents in = {1, 6, 100, 100};
  const ValueId x = net.input("x", in);
  NarrowTune tune(net.take({net.add("Softmax", {x}, in)}), "bf16");
  const auto report = tune.run_once("fast");
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_THAT(report->notes,
              testing::Contains(testing::HasSubstr("without 16-bit floats, because they alone round too much: 1")));
  EXPECT_THAT(report->cover, testing::Not(testing::HasSubstr("bf16")));
  expect_right_outputs(report->plan);
}

/// x times this factor, and what that gives divided by it again: in between lie numbers that 16 bits may not hold.
Graph scaled_and_back(float factor) {
  NetworkBuilder net(1);
  const Extents in = {1, 16, 12, 12};
  const ValueId x = net.input("x", in);
  const ValueId large = net.add("Mul", {x, net.scalar(factor)}, in);
  const ValueId sum = net.add("Relu", {add_conv(net, large, in[1], 3, 1, false)}, in);
  return net.take({net.add("Mul", {net.add("Tanh", {net.add("Div", {sum, net.scalar(factor)}, in)}, in), x}, in)});
}

std::size_t narrow_steps(const std::string& plan) {
  const auto loaded = load_plan(plan);
  EXPECT_TRUE(loaded) << to_string(loaded.error());
  const auto& precision = loaded->plan.report->explanation->precision;
  return precision ? precision->steps.size() : 0;
}

/// Beyond the largest number of float16, and below its smallest normal one.
TEST(NumbersThatSixteenBitsCannotHold, StayInFullPrecision) {
  if (!has_backends()) GTEST_SKIP() << "without native or a reference";
  for (const float factor : std::vector<float>{1e6F, 1e-8F}) {
    if (factor < 1 && !test::by_length(false, true)) continue;
    SCOPED_TRACE(factor);
    NarrowTune tune(scaled_and_back(factor), "f16");
    const auto report = tune.run("fast");
    ASSERT_TRUE(report) << to_string(report.error());
    EXPECT_GT(report->refused, 0U);
    expect_right_outputs(report->plan);
  }
}

/// bfloat16 has the range of float32.
TEST(NumbersThatSixteenBitsCannotHold, AreHeldByBfloat16) {
  if (!has_backends()) GTEST_SKIP() << "without native or a reference";
  NarrowTune tune(scaled_and_back(1e6F), "bf16");
  const auto report = tune.run("max=0.05");
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_GT(narrow_steps(report->plan), 0U) << report->cover;
  expect_right_outputs(report->plan);
}

/// Roots of negative numbers and reciprocals of zeros are where the reference has them.
TEST(NumbersThatSixteenBitsCannotHold, NaNAndInfinityStayWhereTheyAre) {
  if (!has_backends()) GTEST_SKIP() << "without native or a reference";
  NetworkBuilder net(1);
  const Extents in = {1, 16, 12, 12};
  const ValueId x = net.input("x", in);
  const ValueId root = net.add("Sqrt", {x}, in);
  const ValueId reciprocal = net.add("Reciprocal", {net.add("Relu", {x}, in)}, in);
  const Graph graph = net.take({net.add("Mul", {root, x}, in), net.add("Add", {reciprocal, x}, in)});
  for (const std::string element : {"f16", "bf16"}) {
    if (element == "bf16" && !test::by_length(false, true)) continue;
    SCOPED_TRACE(element);
    NarrowTune tune(graph, element);
    const auto report = tune.run("fast");
    ASSERT_TRUE(report) << to_string(report.error());
    expect_right_outputs(report->plan);
  }
}

}  // namespace
}  // namespace collage
