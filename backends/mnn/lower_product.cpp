// Products. One with a constant matrix becomes a convolution of one pixel, whose weights the library packs once.
#include "backends/mnn/lower.h"

namespace collage::mnn {
namespace {

/// A product's rows as images of one pixel: [rows, in] -> [rows, in, 1, 1] -> [rows, out, 1, 1] -> extents.
int multiply_packed(Lowering& lowering, int source, ValueId weights, ValueId bias, bool transposed, std::int64_t rows,
                    const Extents& result) {
  const Extents matrix = lowering.extents(weights);
  const std::int64_t in = transposed ? matrix[1] : matrix[0];
  const std::int64_t out = transposed ? matrix[0] : matrix[1];
  auto convolution = std::make_unique<MNN::Convolution2DT>();
  convolution->common = std::make_unique<MNN::Convolution2DCommonT>();
  convolution->common->inputCount = static_cast<int>(in);
  convolution->common->outputCount = static_cast<int>(out);
  convolution->external = {lowering.net.number_of(weights), bias.valid() ? lowering.net.number_of(bias) : -1,
                           static_cast<std::int64_t>(transposed ? Filling::kAsStored : Filling::kTransposed)};
  lowering.facts.convolves = lowering.facts.of_one = true;
  const int pixels = lowering.net.convert(lowering.net.reshape(source, {rows, in, 1, 1}), Order::kRows, Order::kBlocks);
  const int made =
      lowering.net.add(MNN::OpType_Convolution, {pixels}, MNN::OpParameter_Convolution2D, std::move(convolution));
  return lowering.net.carry(made,
                            lowering.net.reshape(lowering.net.convert(made, Order::kBlocks, Order::kRows), result));
}

int multiply(Lowering& lowering, int a, int b, bool transpose_a, bool transpose_b) {
  auto product = std::make_unique<MNN::MatMulT>();
  product->transposeA = transpose_a;
  product->transposeB = transpose_b;
  return lowering.net.add(MNN::OpType_MatMul, {a, b}, MNN::OpParameter_MatMul, std::move(product));
}

Done lower_gemm(Lowering& lowering, const Node& node) {
  const bool transpose_a = attribute_or<std::int64_t>(node, "transA", 0) != 0;
  const bool transpose_b = attribute_or<std::int64_t>(node, "transB", 0) != 0;
  const ValueId addend = input_of(node, 2);
  if (attribute_or<float>(node, "alpha", 1.F) != 1.F || attribute_or<float>(node, "beta", 1.F) != 1.F)
    return refuse(RefusalReason::kAttribute, "Gemm with factors");
  const Extents out = lowering.extents(node.outputs[0]);
  const bool adds_bias = addend.valid() && constant_of(lowering.graph, addend) != nullptr &&
                         element_count(lowering.extents(addend)) == out[1] && lowering.extents(addend).back() == out[1];
  int made = -1;
  if (constant_of(lowering.graph, node.inputs[1]) != nullptr && !transpose_a) {
    const int source = lowering.net.tensor(node.inputs[0]);
    made = multiply_packed(lowering, source, node.inputs[1], adds_bias ? addend : ValueId{}, transpose_b, out[0], out);
    if (adds_bias) {
      lowering.net.define(node.outputs[0], made, Order::kRows);
      return {};
    }
  } else {
    made = multiply(lowering, lowering.net.tensor(node.inputs[0]), lowering.net.tensor(node.inputs[1]), transpose_a,
                    transpose_b);
  }
  if (addend.valid()) {
    auto sum = std::make_unique<MNN::BinaryOpT>();
    sum->opType = MNN::BinaryOpOperation_ADD;
    made = lowering.net.add(MNN::OpType_BinaryOp, {made, lowering.net.tensor(addend)}, MNN::OpParameter_BinaryOp,
                            std::move(sum));
  }
  lowering.net.define(node.outputs[0], made, Order::kRows);
  return {};
}

}  // namespace

Done lower_product(Lowering& lowering, const Node& node) {
  if (is_op(node, "Gemm")) return lower_gemm(lowering, node);
  const Extents left = lowering.extents(node.inputs[0]);
  const Extents right = lowering.extents(node.inputs[1]);
  const Extents out = lowering.extents(node.outputs[0]);
  if (left.size() < 2 || right.size() < 2) return refuse(RefusalReason::kShape, "a product with a vector");
  if (constant_of(lowering.graph, node.inputs[1]) != nullptr && right.size() == 2) {
    const int source = lowering.net.tensor(node.inputs[0]);
    const std::int64_t rows = element_count(out) / out.back();
    lowering.net.define(node.outputs[0], multiply_packed(lowering, source, node.inputs[1], {}, false, rows, out),
                        Order::kRows);
    return {};
  }
  const int a = lowering.net.tensor(node.inputs[0]);
  const int b = lowering.net.tensor(node.inputs[1]);
  lowering.net.define(node.outputs[0], multiply(lowering, a, b, false, false), Order::kRows);
  return {};
}

}  // namespace collage::mnn
