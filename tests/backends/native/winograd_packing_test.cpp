// Winograd's transform of weights: against the paper's matrices, and as a part of a whole convolution.
#include <gtest/gtest.h>

#include "packing.h"
#include "tests/support/dice.h"

namespace collage::native {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out(a.size(), std::vector<double>(b[0].size(), 0));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b[0].size(); ++j)
      for (std::size_t k = 0; k < b.size(); ++k) out[i][j] += a[i][k] * b[k][j];
  return out;
}

Matrix transposed(const Matrix& a) {
  Matrix out(a[0].size(), std::vector<double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[0].size(); ++j) out[j][i] = a[i][j];
  return out;
}

/// The matrices of Lavin and Gray.
Matrix g_of(std::int64_t tile) {
  if (tile == 2) return {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  return {{1. / 4, 0, 0},
          {-1. / 6, -1. / 6, -1. / 6},
          {-1. / 6, 1. / 6, -1. / 6},
          {1. / 24, 1. / 12, 1. / 6},
          {1. / 24, -1. / 12, 1. / 6},
          {0, 0, 1}};
}
Matrix b_transposed(std::int64_t tile) {
  if (tile == 2) return {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  return {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
          {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
}
Matrix a_transposed(std::int64_t tile) {
  if (tile == 2) return {{1, 1, 1, 0}, {0, 1, -1, -1}};
  return {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};
}

/// Random weights [outputs][inputs][3][3], packed, and looked up in either form.
class Winograd : public testing::TestWithParam<std::int64_t> {
 protected:
  static constexpr std::int64_t kOutputs = 5;
  static constexpr std::int64_t kInputs = 3;
  static constexpr std::int64_t kBlock = 4;

  void SetUp() override {
    Dice dice(11);
    for (float& tap : taps_) tap = static_cast<float>(dice.below(2001)) / 1000.F - 1.F;
    const auto bytes = pack({.kind = PackingKind::kWinograd, .numbers = {kOutputs, kInputs, GetParam(), kBlock}},
                            make_tensor(ElementType::kFloat32, {kOutputs, kInputs, 3, 3}, taps_));
    ASSERT_TRUE(bytes) << to_string(bytes.error());
    const auto values = bytes->as<float>();
    packed_.assign(values.begin(), values.end());
  }
  [[nodiscard]] std::int64_t points() const { return GetParam() + 2; }
  [[nodiscard]] Matrix taps(std::int64_t k, std::int64_t c) const {
    Matrix out(3, std::vector<double>(3));
    for (std::size_t i = 0; i < 9; ++i)
      out[i / 3][i % 3] = static_cast<double>(taps_[static_cast<std::size_t>((k * kInputs + c) * 9) + i]);
    return out;
  }
  [[nodiscard]] double weight(std::int64_t k, std::int64_t c, std::size_t i, std::size_t j) const {
    const std::int64_t point = static_cast<std::int64_t>(i) * points() + static_cast<std::int64_t>(j);
    const std::int64_t at = ((k / kBlock * points() * points() + point) * kInputs + c) * kBlock + k % kBlock;
    return static_cast<double>(packed_.at(static_cast<std::size_t>(at)));
  }

  std::vector<float> taps_ = std::vector<float>(kOutputs * kInputs * 9);
  std::vector<float> packed_;
};

TEST_P(Winograd, IsTheTransformOfThePaper) {
  for (std::int64_t k = 0; k < kOutputs; ++k)
    for (std::int64_t c = 0; c < kInputs; ++c) {
      const Matrix g = g_of(GetParam());
      const Matrix u = product(product(g, taps(k, c)), transposed(g));
      for (std::size_t i = 0; i < u.size(); ++i)
        for (std::size_t j = 0; j < u.size(); ++j) EXPECT_NEAR(weight(k, c, i, j), u[i][j], 1e-7);
    }
}

TEST_P(Winograd, FillsTheTailWithZeros) {
  for (std::int64_t k = kOutputs; k < 2 * kBlock; ++k)
    for (std::int64_t c = 0; c < kInputs; ++c) EXPECT_EQ(weight(k, c, 1, 1), 0);
  EXPECT_EQ(packed_.size(), static_cast<std::size_t>(2 * kBlock * kInputs * points() * points()));
}

TEST_P(Winograd, GivesADirectConvolutionOfOneTile) {
  Dice dice(5);
  std::vector<Matrix> d(
      kInputs, Matrix(static_cast<std::size_t>(points()), std::vector<double>(static_cast<std::size_t>(points()))));
  for (Matrix& channel : d)
    for (auto& row : channel)
      for (double& x : row) x = static_cast<double>(dice.below(2001)) / 1000 - 1;
  const auto tile = static_cast<std::size_t>(GetParam());
  for (std::int64_t k = 0; k < kOutputs; ++k) {
    Matrix sum(static_cast<std::size_t>(points()), std::vector<double>(static_cast<std::size_t>(points()), 0));
    Matrix direct(tile, std::vector<double>(tile, 0));
    for (std::int64_t c = 0; c < kInputs; ++c) {
      const Matrix& in = d[static_cast<std::size_t>(c)];
      const Matrix b = b_transposed(GetParam());
      const Matrix v = product(product(b, in), transposed(b));
      for (std::size_t i = 0; i < v.size(); ++i)
        for (std::size_t j = 0; j < v.size(); ++j) sum[i][j] += v[i][j] * weight(k, c, i, j);
      const Matrix g = taps(k, c);
      for (std::size_t i = 0; i < tile * tile * 9; ++i) {
        const std::size_t y = i / 9 / tile, x = i / 9 % tile, ky = i % 9 / 3, kx = i % 3;
        direct[y][x] += in[y + ky][x + kx] * g[ky][kx];
      }
    }
    const Matrix a = a_transposed(GetParam());
    const Matrix seen = product(product(a, sum), transposed(a));
    for (std::size_t i = 0; i < tile; ++i)
      for (std::size_t j = 0; j < tile; ++j) EXPECT_NEAR(seen[i][j], direct[i][j], 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiles, Winograd, testing::Values(2, 4));

}  // namespace
}  // namespace collage::native
