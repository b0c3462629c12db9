// Linear Resize against ONNX's formula in double, in every variant and on several threads.
#include <cmath>

#include "host_fixture.h"

namespace collage {
namespace {

struct Sizes {
  Extents in;
  std::int64_t height, width;
};

double source_of(const std::string& mode, std::int64_t x, std::int64_t in, std::int64_t out) {
  const double scale = static_cast<double>(out) / static_cast<double>(in);
  const auto position = static_cast<double>(x);
  double source = (position + 0.5) / scale - 0.5;
  if (mode == "asymmetric") source = position / scale;
  if (mode == "align_corners")
    source = out == 1 ? 0 : position * static_cast<double>(in - 1) / static_cast<double>(out - 1);
  if (mode == "pytorch_half_pixel" && out == 1) source = 0;
  return std::clamp(source, 0.0, static_cast<double>(in - 1));
}

std::vector<double> resized(const Tensor& x, const Sizes& sizes, const std::string& mode) {
  std::vector<double> result;
  const auto pixel = [&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return static_cast<double>(x.data.as<float>()[static_cast<std::size_t>(flat(sizes.in, {n, c, h, w}))]);
  };
  for_each_index({sizes.in[0], sizes.in[1], sizes.height, sizes.width}, [&](const std::vector<std::int64_t>& at) {
    const double h = source_of(mode, at[2], sizes.in[2], sizes.height);
    const double w = source_of(mode, at[3], sizes.in[3], sizes.width);
    const auto h0 = static_cast<std::int64_t>(h), w0 = static_cast<std::int64_t>(w);
    const std::int64_t h1 = std::min(h0 + 1, sizes.in[2] - 1), w1 = std::min(w0 + 1, sizes.in[3] - 1);
    const double v = h - static_cast<double>(h0), u = w - static_cast<double>(w0);
    const auto row = [&](std::int64_t y) {
      return pixel(at[0], at[1], y, w0) * (1 - u) + pixel(at[0], at[1], y, w1) * u;
    };
    result.push_back(row(h0) * (1 - v) + row(h1) * v);
  });
  return result;
}

HostCase resize_case(const Tensor& x, const Sizes& sizes, const std::string& mode, std::vector<Attribute> more = {}) {
  HostCase under_test;
  more.push_back({"mode", std::string("linear")});
  more.push_back({"coordinate_transformation_mode", mode});
  const ValueType out = ValueType::tensor(ElementType::kFloat32, {sizes.in[0], sizes.in[1], sizes.height, sizes.width});
  const ValueId in = under_test.input(x);
  const ValueId target = under_test.integers({sizes.in[0], sizes.in[1], sizes.height, sizes.width});
  under_test.output(under_test.node("Resize", {in, ValueId{}, ValueId{}, target}, {out}, std::move(more))[0]);
  return under_test;
}

TEST(HostLinearResize, BlendsNeighboursInEveryCoordinateMode) {
  for (const Sizes& sizes : {Sizes{{1, 21, 5, 7}, 23, 40}, Sizes{{2, 3, 9, 8}, 4, 3}, Sizes{{1, 16, 1, 1}, 6, 5},
                             Sizes{{2, 5, 6, 6}, 1, 12}, Sizes{{1, 1, 4, 4}, 4, 4}}) {
    const Tensor x = random_floats(sizes.in);
    for (const std::string mode : {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"}) {
      const std::vector<double> expected = resized(x, sizes, mode);
      const std::vector<VariantRun> runs = run_all(resize_case(x, sizes, mode));
      ASSERT_FALSE(runs.empty());
      for (const VariantRun& run : runs)
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(static_cast<double>(run.outputs[0].data.as<float>()[i]), expected[i], 2e-5)
              << mode << " " << run.variant.name << " element " << i;
    }
  }
}

TEST(HostLinearResize, GivesTheSameOnSeveralThreads) {
  const Sizes sizes{{2, 24, 17, 19}, 65, 70};
  const Tensor x = random_floats(sizes.in);
  const HostCase under_test = resize_case(x, sizes, "half_pixel");
  for (const VariantRun& run : run_all(under_test))
    EXPECT_TRUE(runner_of(under_test).run(run.variant, run.artifact, 3) == run.outputs) << run.variant.name;
}

TEST(HostLinearResize, RefusesWhatItDoesNotCompute) {
  const Sizes sizes{{1, 3, 8, 8}, 4, 4};
  const Tensor x = random_floats(sizes.in);
  EXPECT_FALSE(host_support(resize_case(x, sizes, "tf_crop_and_resize")));
  EXPECT_FALSE(host_support(resize_case(x, sizes, "half_pixel", {{"antialias", std::int64_t{1}}})));
}

}  // namespace
}  // namespace collage
