// Functions that would lose digits if written as their definition is, against double.
#include <cmath>
#include <functional>

#include "native_fixture.h"

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

}  // namespace
}  // namespace collage::test
