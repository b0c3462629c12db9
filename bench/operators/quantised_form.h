// A real layer as a quantising exporter would write it: 8-bit values and weights, scales for each output channel.
// In: a case with one convolution or product of constant weights. Out: the same layer in one of the two forms that
//     exporters write.
// Cost: linear in the graph.
// Source: ONNX QLinearConv, QLinearMatMul and DequantizeLinear; symmetric weights, unsigned activations, biases with
//     the product of both scales, as ONNX Runtime's static quantisation has them.
#pragma once

#include <optional>

#include "bench/operators/operator_case.h"

namespace collage::bench {

enum class QuantisedForm : std::uint8_t {
  kOperator,  ///< QLinearConv, QLinearMatMul
  kWrapped    ///< the float operator between DequantizeLinear and QuantizeLinear
};

/// Only the heavy operator: what stands behind it in the model is left out, but for a Relu in the wrapped form. Nothing
/// when the case has no such operator, or not 4 (convolution) or 2 to 3 (product) dimensions.
[[nodiscard]] std::optional<OperatorCase> quantised(const OperatorCase& which, QuantisedForm form);

}  // namespace collage::bench
