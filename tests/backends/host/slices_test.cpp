// Softmax, reductions and normalisations against the same formulas in double, in every variant offered.
#include <cmath>

#include "host_fixture.h"

namespace collage {
namespace {

using Index = std::vector<std::int64_t>;

double at(const Tensor& tensor, const Index& index) {
  return static_cast<double>(tensor.data.as<float>()[static_cast<std::size_t>(flat(tensor.extents, index))]);
}

void expect_near(const Tensor& actual, const std::vector<double>& expected, double tolerance,
                 const std::string& label) {
  ASSERT_EQ(actual.data.as<float>().size(), expected.size()) << label;
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(static_cast<double>(actual.data.as<float>()[i]), expected[i], tolerance) << label << " element " << i;
}

TEST(HostSoftmax, NormalisesAlongEveryAxisAndDoesNotOverflow) {
  const Tensor x = random_floats({2, 5, 3, 19}, 1, 60, 130);
  for (const std::string op : {"Softmax", "LogSoftmax"}) {
    for (std::size_t axis = 0; axis < 4; ++axis) {
      HostCase under_test;
      under_test.output(under_test.node(op, {under_test.input(x)}, {x.value_type()},
                                        {{"axis", static_cast<std::int64_t>(axis) - 4}})[0]);
      std::vector<double> expected;
      for_each_index(x.extents, [&](Index index) {
        const double own = at(x, index);
        double total = 0;
        for (index[axis] = 0; index[axis] < x.extents[axis]; ++index[axis]) total += std::exp(at(x, index) - own);
        expected.push_back(op == "Softmax" ? 1 / total : -std::log(total));
      });
      const std::vector<VariantRun> runs = run_all(under_test);
      EXPECT_EQ(runs.size(), 2U);
      for (const VariantRun& run : runs)
        expect_near(run.outputs[0], expected, op == "Softmax" ? 1e-6 : 2e-5, op + run.variant.name);
    }
  }
}

struct Reduction {
  std::string op;
  double start;
  double (*step)(double, double);
  double (*finish)(double, double count);
};

TEST(HostReduce, FoldsNeighbouringAxesInBothFormats) {
  const std::vector<Reduction> reductions = {
      {"ReduceSum", 0, [](double a, double x) { return a + x; }, [](double a, double) { return a; }},
      {"ReduceMean", 0, [](double a, double x) { return a + x; }, [](double a, double n) { return a / n; }},
      {"ReduceMax", -1e30, [](double a, double x) { return std::max(a, x); }, [](double a, double) { return a; }},
      {"ReduceMin", 1e30, [](double a, double x) { return std::min(a, x); }, [](double a, double) { return a; }},
      {"ReduceL2", 0, [](double a, double x) { return a + x * x; }, [](double a, double) { return std::sqrt(a); }},
      {"ReduceSumSquare", 0, [](double a, double x) { return a + x * x; }, [](double a, double) { return a; }},
  };
  const Tensor x = random_floats({2, 21, 5, 7}, 3);
  const std::vector<Index> choices = {{2, 3}, {-1}, {1}, {0, 1, 2, 3}, {1, 2}, {0}};
  for (const Reduction& reduction : reductions) {
    for (const Index& axes : choices) {
      for (const std::int64_t keep : {0, 1}) {
        Index folded(4, 0);
        for (const std::int64_t axis : axes) folded[static_cast<std::size_t>(axis < 0 ? axis + 4 : axis)] = 1;
        Extents kept, out;
        double count = 1;
        for (std::size_t i = 0; i < 4; ++i) {
          kept.push_back(folded[i] ? 1 : x.extents[i]);
          if (folded[i]) count *= static_cast<double>(x.extents[i]);
          if (keep != 0 || !folded[i]) out.push_back(kept.back());
        }
        std::vector<double> expected(static_cast<std::size_t>(element_count(kept)), reduction.start);
        for_each_index(x.extents, [&](const Index& index) {
          Index to = index;
          for (std::size_t i = 0; i < 4; ++i)
            if (folded[i]) to[i] = 0;
          double& slot = expected[static_cast<std::size_t>(flat(kept, to))];
          slot = reduction.step(slot, at(x, index));
        });
        for (double& value : expected) value = reduction.finish(value, count);
        HostCase under_test;
        const std::vector<ValueId> in = {under_test.input(x), under_test.integers(axes)};
        under_test.output(under_test.node(reduction.op, in, {ValueType::tensor(ElementType::kFloat32, out)},
                                          {{"keepdims", keep}})[0]);
        for (const VariantRun& run : run_all(under_test))
          expect_near(run.outputs[0], expected, 2e-3, reduction.op + run.variant.name);
      }
    }
  }
}

TEST(HostReduce, OffersOnlyFormatsWhereTheAxesLieTogether) {
  const Tensor x = random_floats({2, 4, 5, 6});
  const auto names = [&](const Index& axes) {
    HostCase under_test;
    Extents out = x.extents;
    for (const std::int64_t axis : axes) out[static_cast<std::size_t>(axis)] = 1;
    const std::vector<ValueId> in = {under_test.input(x), under_test.integers(axes)};
    under_test.output(under_test.node("ReduceSum", in, {ValueType::tensor(ElementType::kFloat32, out)})[0]);
    std::vector<std::string> found;
    if (const auto variants = host_support(under_test))
      for (const Variant& variant : *variants) found.push_back(variant.name);
    return found;
  };
  EXPECT_THAT(names({2, 3}), testing::ElementsAre("plain", "channels_last"));
  EXPECT_THAT(names({1, 2}), testing::ElementsAre("plain"));
  EXPECT_THAT(names({1, 3}), testing::ElementsAre("channels_last"));
  EXPECT_THAT(names({0, 2}), testing::ElementsAre("channels_last"));
}

TEST(HostReduce, PoolsGloballyInBothFormats) {
  const Tensor x = random_floats({2, 35, 7, 7}, 3);
  HostCase under_test;
  under_test.output(under_test.node("GlobalAveragePool", {under_test.input(x)},
                                    {ValueType::tensor(ElementType::kFloat32, {2, 35, 1, 1})})[0]);
  std::vector<double> expected(70, 0);
  for_each_index(x.extents,
                 [&](const Index& i) { expected[static_cast<std::size_t>(i[0] * 35 + i[1])] += at(x, i) / 49; });
  const std::vector<VariantRun> runs = run_all(under_test);
  EXPECT_EQ(runs.size(), 2U);
  for (const VariantRun& run : runs) expect_near(run.outputs[0], expected, 1e-5, run.variant.name);
}

TEST(HostNormalise, CentresAndScalesRows) {
  const Tensor x = random_floats({3, 4, 37}, 1, 100, 101);
  const Tensor scale = random_floats({37}, 2);
  const Tensor bias = random_floats({37}, 3);
  for (const bool has_bias : {true, false}) {
    HostCase under_test;
    std::vector<ValueId> in = {under_test.input(x), under_test.constant(scale)};
    if (has_bias) in.push_back(under_test.input(bias));
    under_test.output(under_test.node("LayerNormalization", in, {x.value_type()}, {{"epsilon", 1e-3F}})[0]);
    std::vector<double> expected;
    for_each_index(x.extents, [&](Index i) {
      const double own = at(x, i);
      const auto column = static_cast<std::size_t>(i[2]);
      double sum = 0, squares = 0;
      for (i[2] = 0; i[2] < 37; ++i[2]) sum += at(x, i);
      for (i[2] = 0; i[2] < 37; ++i[2]) squares += (at(x, i) - sum / 37) * (at(x, i) - sum / 37);
      const double normal = (own - sum / 37) / std::sqrt(squares / 37 + 1e-3);
      expected.push_back(normal * static_cast<double>(scale.data.as<float>()[column]) +
                         (has_bias ? static_cast<double>(bias.data.as<float>()[column]) : 0));
    });
    for (const VariantRun& run : run_all(under_test)) expect_near(run.outputs[0], expected, 2e-4, "LayerNormalization");
  }
}

TEST(HostNormalise, DividesByTheRootMeanSquare) {
  const Tensor x = random_floats({5, 48}, 1);
  const Tensor scale = random_floats({48}, 2);
  HostCase under_test;
  const std::vector<ValueId> in = {under_test.input(x), under_test.input(scale)};
  under_test.output(under_test.node("RMSNormalization", in, {x.value_type()})[0]);
  std::vector<double> expected;
  for_each_index(x.extents, [&](Index i) {
    const double own = at(x, i) * static_cast<double>(scale.data.as<float>()[static_cast<std::size_t>(i[1])]);
    double squares = 0;
    for (i[1] = 0; i[1] < 48; ++i[1]) squares += at(x, i) * at(x, i);
    expected.push_back(own / std::sqrt(squares / 48 + 1e-5));
  });
  for (const VariantRun& run : run_all(under_test)) expect_near(run.outputs[0], expected, 1e-5, "RMSNormalization");
}

}  // namespace
}  // namespace collage
