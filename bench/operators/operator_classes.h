// The kinds of operators that the benchmark tells apart, and how fast each is to be.
// In: a node. Out: its class; tables of classes and goals.
// Cost: one look at a node.
// conv_winograd and conv_3x3 are the 3x3 convolutions of stride 1 inside and outside the bounds of the goal for them.
// The bounds of a convolution that suits Winograd are those where oneDNN gains by it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ir/graph.h"

namespace collage::bench {

/// What a backend's time is compared with.
enum class Opponent : std::uint8_t { kBestRival, kOnnxRuntime, kOpenVino };

/// The geometric mean over the classes that have it is to be at least `ratio`.
struct Goal {
  std::string_view name;
  std::string_view title;
  Opponent opponent = Opponent::kBestRival;
  double ratio = 1;
};

struct OperatorClass {
  std::string_view name;
  std::string_view goal;   ///< empty: shown without one
  std::size_t wanted = 0;  ///< configurations
};

inline constexpr std::array kGoals = {
    Goal{"direct", "direct convolution and matrix products", Opponent::kBestRival, 0.95},
    Goal{"winograd", "3x3 with 32 to 128 channels on maps from 20x20", Opponent::kBestRival, 1.5},
    Goal{"depthwise", "depthwise convolution", Opponent::kBestRival, 1.2},
    Goal{"chains", "element-wise, concat and resize chains", Opponent::kOnnxRuntime, 2.0},
    Goal{"norms", "softmax and norms", Opponent::kBestRival, 1.3},
    Goal{"int8", "8-bit convolution and matrix products", Opponent::kOpenVino, 1.0},
};

inline constexpr std::array kOperatorClasses = {
    OperatorClass{"conv_direct", "direct", 8},  OperatorClass{"conv_pointwise", "direct", 9},
    OperatorClass{"conv_3x3", "direct", 4},     OperatorClass{"conv_winograd", "winograd", 9},
    OperatorClass{"depthwise", "depthwise", 8}, OperatorClass{"conv_other", "", 4},
    OperatorClass{"conv_transpose", "", 3},     OperatorClass{"matmul", "direct", 8},
    OperatorClass{"batch_matmul", "direct", 4}, OperatorClass{"attention", "", 3},
    OperatorClass{"elementwise", "chains", 7},  OperatorClass{"concat", "chains", 6},
    OperatorClass{"resize", "chains", 5},       OperatorClass{"pooling", "", 5},
    OperatorClass{"softmax", "norms", 5},       OperatorClass{"norm", "norms", 7},
    OperatorClass{"reduction", "", 4},          OperatorClass{"int8", "int8", 14},
};

/// The class of a heavy operator by itself; empty for work that only makes chains and for what has no class.
[[nodiscard]] std::string_view class_of(const Graph& graph, const Node& node);

/// Takes element-wise work behind it along.
[[nodiscard]] bool takes_epilogue(std::string_view class_name);

/// ConvInteger, MatMulInteger, QLinearConv, QLinearMatMul.
[[nodiscard]] bool is_integer_product(const Node& node);

}  // namespace collage::bench
