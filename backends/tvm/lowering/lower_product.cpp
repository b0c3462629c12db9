// Products of matrices.
#include <algorithm>

#include "backends/tvm/lowering/rules_of_operators.h"

namespace collage::tvm {
namespace {

/// A matrix, turned if asked for. A constant is turned when it is loaded.
std::string matrix(Describer& describer, ValueId id, bool is_transposed) {
  if (!is_transposed) return describer.read(id);
  const Extents own = describer.extents(id);
  if (constant_of(describer.graph(), id) != nullptr) return describer.constant(id, {own[1], own[0]}, {1, own[1]});
  return describer.add("transpose", {describer.read(id)}, {{"axes", {1, 0}}});
}

std::string scaled(Describer& describer, const std::string& tensor, float factor) {
  return factor == 1.F ? tensor : describer.add("multiply", {tensor, describer.literal(factor)});
}

}  // namespace

Done lower_matmul(Describer& describer, const Node& node) {
  std::vector<std::string> operands;
  for (const ValueId id : {node.inputs[0], node.inputs[1]}) {
    const std::size_t rank = describer.rank(id);
    if (describer.is_turned(rank)) return refuse(RefusalReason::kFormat, "a product of plain tensors only");
    if (rank < 2) return refuse(RefusalReason::kShape, "a product of vectors");
    if (constant_of(describer.graph(), id) == nullptr) {
      operands.push_back(describer.read(id));
      continue;
    }
    // As it is: a matrix of one element is no literal.
    const Extents own = describer.extents(id);
    Extents steps(own.size(), 1);
    for (std::size_t axis = own.size(); axis-- > 1;) steps[axis - 1] = steps[axis] * own[axis];
    operands.push_back(describer.constant(id, own, steps));
  }
  describer.write(node.outputs[0], describer.add("matmul", operands));
  return {};
}

Done lower_gemm(Describer& describer, const Node& node) {
  for (const ValueId id : {node.inputs[0], node.inputs[1]})
    if (constant_of(describer.graph(), id) != nullptr && element_count(describer.extents(id)) == 1)
      return refuse(RefusalReason::kShape, "a matrix of one element");
  const std::string a = matrix(describer, node.inputs[0], attribute_or<std::int64_t>(node, "transA", 0) != 0);
  const std::string b = matrix(describer, node.inputs[1], attribute_or<std::int64_t>(node, "transB", 0) != 0);
  std::string made = scaled(describer, describer.add("matmul", {a, b}), attribute_or<float>(node, "alpha", 1.F));
  if (const ValueId c = input_of(node, 2); c.valid()) {
    const auto addend = describer.read_broadcast(c, 2);
    if (!addend) return refuse(RefusalReason::kFormat, "an addend in another order");
    made = describer.add("add", {made, scaled(describer, *addend, attribute_or<float>(node, "beta", 1.F))});
  }
  describer.write(node.outputs[0], made);
  return {};
}

}  // namespace collage::tvm
