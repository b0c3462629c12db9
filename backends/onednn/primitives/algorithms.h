// Maps the library's algorithms to the short names that programs use.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <string_view>

namespace collage::onednn {

/// "relu", "tanh", "elu", "abs", "sqrt", "linear", "soft_relu", "logistic", "exp", "gelu_tanh", "gelu_erf", "swish",
/// "log", "clip", "pow", "round", "mish", "hardswish", "square". Throws std::runtime_error for any other name.
[[nodiscard]] dnnl::algorithm eltwise_algorithm(std::string_view name);
/// "add", "sub", "mul", "div", "max", "min", "ge", "gt", "le", "lt", "eq", "ne".
[[nodiscard]] dnnl::algorithm binary_algorithm(std::string_view name);
/// "max", "min", "sum", "mul", "mean", "norm_lp", "norm_lp_power".
[[nodiscard]] dnnl::algorithm reduction_algorithm(std::string_view name);

}  // namespace collage::onednn
