// Functions and rows that would lose digits if written as their definition is, against double.
#include <algorithm>
#include <cmath>
#include <functional>

#include "native_fixture.h"
#include "tests/support/long_run.h"

namespace collage::test {
namespace {

struct FunctionCase {
  const char* op;
  double (*exact)(double x);
};

void PrintTo(const FunctionCase& one, std::ostream* out) { *out << one.op; }

class Function : public testing::TestWithParam<FunctionCase> {};

TEST_P(Function, KeepsItsDigitsFarFromZero) {
  const auto& [op, exact] = GetParam();
  const Graph graph = graph_of(
      "graph(%x: f32[4096]) -> (%y) {\n constant %w = f32[]{32}\n %s: f32[4096] = Mul(%x, %w)\n %y: f32[4096] = " +
      std::string(op) + "(%s)\n}");
  const auto inputs = inputs_of(graph);
  const auto x = inputs[0].data.as<float>();
  const auto outputs = run_variant(graph, variant_of(compiling(), graph, ""));
  ASSERT_EQ(outputs.size(), 1U);
  const auto y = outputs[0].data.as<float>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double wanted = exact(static_cast<double>(x[i] * 32.F));
    ASSERT_NEAR(static_cast<double>(y[i]), wanted, 1e-5 * std::abs(wanted)) << op << " of " << x[i] * 32.F;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Function,
                         testing::Values(FunctionCase{"Softplus", [](double x) { return std::log1p(std::exp(x)); }},
                                         FunctionCase{"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
                                         FunctionCase{"Tanh", [](double x) { return std::tanh(x); }},
                                         FunctionCase{"Sinh", [](double x) { return std::sinh(x); }},
                                         FunctionCase{"Asinh", [](double x) { return std::asinh(x); }},
                                         FunctionCase{"Sin", [](double x) { return std::sin(x); }},
                                         FunctionCase{"Atan", [](double x) { return std::atan(x); }},
                                         FunctionCase{"Softsign", [](double x) { return x / (1 + std::abs(x)); }}),
                         [](const testing::TestParamInfo<FunctionCase>& function) {
                           return std::string(function.param.op);
                         });

class SoftmaxRows : public testing::TestWithParam<std::size_t> {};

TEST_P(SoftmaxRows, KeepTheirDigitsHoweverFarApartTheyAre) {
  const std::size_t length = GetParam();
  const std::string type = "f32[6," + std::to_string(length) + "]";
  const Graph graph = graph_of("graph(%x: " + type + ") -> (%y) {\n constant %w = f32[]{32}\n %s: " + type +
                               " = Mul(%x, %w)\n %y: " + type + " = Softmax(%s) {axis=-1}\n}");
  const auto inputs = inputs_of(graph);
  const auto x = inputs[0].data.as<float>();
  const auto outputs = run_variant(graph, variant_of(compiling(), graph, ""));
  const auto y = outputs.at(0).data.as<float>();
  for (std::size_t row = 0; row < x.size(); row += length) {
    const auto power = [&](std::size_t i) { return std::exp(static_cast<double>(x[row + i] * 32.F)); };
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i) sum += power(i);
    for (std::size_t i = 0; i < length; ++i)
      ASSERT_NEAR(static_cast<double>(y[row + i]), power(i) / sum, 1e-5 * power(i) / sum + 1e-37) << row << ' ' << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Lengths, SoftmaxRows,
    testing::ValuesIn(sample_of<std::size_t>({1, 2, 7, 15, 16, 17, 31, 48, 63, 64, 65, 100, 197, 1100, 39}, 3)));

TEST(Softmax, OfMaskedPlacesIsZero) {
  const Graph graph = graph_of(R"(graph(%x: f32[5,39]) -> (%y) {
    constant %large = f32[]{1e30}
    constant %zero = f32[]{0}
    %far: f32[5,39] = Mul(%x, %large)
    %masked: f32[5,39] = Min(%far, %zero)
    %y: f32[5,39] = Softmax(%masked) {axis=-1}
  })");
  const auto inputs = inputs_of(graph);
  const auto x = inputs[0].data.as<float>();
  const auto outputs = run_variant(graph, variant_of(compiling(), graph, ""));
  const auto y = outputs.at(0).data.as<float>();
  for (std::size_t row = 0; row < x.size(); row += 39) {
    const auto kept = std::count_if(x.begin() + row, x.begin() + row + 39, [](float value) { return value >= 0; });
    for (std::size_t i = row; i < row + 39; ++i)
      ASSERT_NEAR(y[i], x[i] >= 0 ? 1.F / static_cast<float>(kept) : 0.F, 1e-6F) << i;
  }
}

}  // namespace
}  // namespace collage::test
