// Models small enough that a whole tune takes about a second.
#pragma once

#include <string>
#include <vector>

#include "ir/tensor.h"

namespace collage::testing {

/// Convolution, Relu, pooling and a classifier: `image` float[1,3,8,8] -> `scores` float[1,5]. Its weights are larger
/// than what a plan keeps inside plan.onnx.
[[nodiscard]] std::string small_network();
/// `x` float[N,4] -> `y` float[N,4], y = x + x, with N open.
[[nodiscard]] std::string doubling_with_open_dimension();
/// The same with a first dimension that has no name.
[[nodiscard]] std::string doubling_with_unnamed_dimension();
/// `a`, `b` float[N,4] -> `y` float[N,4], y = a + b, with N open.
[[nodiscard]] std::string sum_with_open_dimension();
/// `x` float[rows,32] -> `y` float[rows,24], y = Relu(x w), with `rows` open.
[[nodiscard]] std::string matmul_with_open_rows();
/// `x` float[2,3] -> `y` float[2,3], y = x + x.
[[nodiscard]] std::string doubling();
/// `x` float[6,16] -> `y` float[6,16]: so many Relu and Add in turn, which the test backend runs too.
[[nodiscard]] std::string chain(int nodes);
/// `x` float[1,600] -> `y` float[1,600]: two products with 1.4 MB of weights each, a Relu between them.
[[nodiscard]] std::string two_products();
/// One node of an operator that no version of ONNX has; `domain` empty for ONNX's own.
[[nodiscard]] std::string with_operator(const std::string& op, const std::string& domain);

/// Floats -1, -0.9 ... in that shape, the same everywhere.
[[nodiscard]] Tensor ramp(const Extents& extents);

}  // namespace collage::testing
