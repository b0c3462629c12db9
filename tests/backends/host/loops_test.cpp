// The f32 loops are compiled three times; each must give what the baseline gives, on every machine that can run it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "backends/host/elementwise/element_loops.h"
#include "backends/host/slices/slices.h"
#include "tests/support/dice.h"
#include "tests/support/processor.h"

namespace collage::host {
namespace {

std::vector<float> floats(std::size_t n, std::uint64_t seed, float low, float high) {
  Dice dice(seed);
  std::vector<float> values(n);
  for (float& value : values)
    value = low + (high - low) * static_cast<float>(dice.below(1 << 20)) / static_cast<float>(1 << 20);
  return values;
}

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

const std::vector<std::string>& float_operations() {
  static const std::vector<std::string> names = {"Abs",
                                                 "Neg",
                                                 "Relu",
                                                 "Sigmoid",
                                                 "Tanh",
                                                 "Exp",
                                                 "Log",
                                                 "Erf",
                                                 "Sqrt",
                                                 "Rsqrt",
                                                 "Reciprocal",
                                                 "Square",
                                                 "Cube",
                                                 "Floor",
                                                 "Ceil",
                                                 "Round",
                                                 "Sign",
                                                 "Sin",
                                                 "Cos",
                                                 "Softplus",
                                                 "Softsign",
                                                 "Mish",
                                                 "Swish",
                                                 "Gelu",
                                                 "GeluTanh",
                                                 "HardSigmoid",
                                                 "HardSwish",
                                                 "LeakyRelu",
                                                 "ThresholdedRelu",
                                                 "Elu",
                                                 "Celu",
                                                 "Selu",
                                                 "Clip",
                                                 "Scale",
                                                 "Add",
                                                 "Sub",
                                                 "Mul",
                                                 "Div",
                                                 "Min",
                                                 "Max",
                                                 "PRelu",
                                                 "Pow",
                                                 "Fmod"};
  return names;
}

void expect_alike(ElementLoop loop, ElementLoop baseline, const std::string& name) {
  ASSERT_NE(loop, nullptr) << name;
  const std::size_t n = 1003;
  const std::vector<float> a = floats(n, 1, 0.01F, 5), b = floats(n, 2, 0.5F, 3);
  std::vector<float> x(n + 1, 77), y(n + 1, 77);
  const void* in[3] = {a.data(), b.data(), b.data()};
  const double params[2] = {0.3, 1.2};
  loop(x.data(), in, params, static_cast<std::int64_t>(n));
  baseline(y.data(), in, params, static_cast<std::int64_t>(n));
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_NEAR(x[i], y[i], 2e-6F * std::max(1.0F, std::abs(y[i]))) << name << " " << a[i];
  EXPECT_EQ(x[n], 77.0F) << name << " wrote past its end";
}

TEST(FloatLoops, AgreeOnAllInstructionSets) {
  for (const std::string& name : float_operations()) {
    if (has_avx2()) expect_alike(find_float_loop_avx2(name), find_float_loop_baseline(name), name);
    if (test::has_avx512()) expect_alike(find_float_loop_avx512(name), find_float_loop_baseline(name), name);
  }
  EXPECT_EQ(find_float_loop_baseline("Relu6"), nullptr);
  EXPECT_EQ(find_float_loop_baseline("Rel"), nullptr);
}

void expect_alike(SliceLoops::Loop loop, SliceLoops::Loop baseline, std::size_t results) {
  for (const Slices& slices : {Slices{3, 37, 1}, Slices{2, 5, 33}, Slices{1, 1, 7}, Slices{4, 16, 1}}) {
    const auto n = static_cast<std::size_t>(slices.outer * slices.length * slices.inner);
    const std::vector<float> in = floats(n, 3, -2, 2);
    std::vector<float> x(n, 0), y(n, 0), work(static_cast<std::size_t>(slices.inner) * 2);
    loop(slices, in.data(), x.data(), work.data());
    baseline(slices, in.data(), y.data(), work.data());
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(x[i], y[i], 2e-5F) << results;
  }
}

TEST(SliceLoops, AgreeOnAllInstructionSets) {
  const SliceLoops baseline = slice_loops_baseline();
  std::vector<SliceLoops> others;
  if (has_avx2()) others.push_back(slice_loops_avx2());
  if (test::has_avx512()) others.push_back(slice_loops_avx512());
  constexpr SliceLoops::Loop SliceLoops::*kLoops[] = {
      &SliceLoops::softmax, &SliceLoops::log_softmax, &SliceLoops::sum,  &SliceLoops::mean,
      &SliceLoops::max,     &SliceLoops::min,         &SliceLoops::norm, &SliceLoops::sum_of_squares};
  for (const SliceLoops& loops : others)
    for (std::size_t k = 0; k < std::size(kLoops); ++k) expect_alike(loops.*kLoops[k], baseline.*kLoops[k], k);
}

}  // namespace
}  // namespace collage::host
