// The graphs that the acceptance cases speak of. Nodes are n0.. in order, node n<i> makes value v<i>.
// Source: the tests of Collage in TVM, written with ONNX operators: no nodes for constants, tuples and projections.
#pragma once

#include "tests/support/graph_builder.h"

namespace collage::testing_support {

/// Abs, Relu, Relu.
inline Graph graph_g1() {
  GraphBuilder net;
  const ValueId abs = net.add("Abs", {net.input("x")});
  return net.take({net.add("Relu", {net.add("Relu", {abs})})});
}

/// Abs, Add with the input, Shape.
inline Graph graph_g2() {
  GraphBuilder net;
  const ValueId x = net.input("x");
  const ValueId sum = net.add("Add", {net.add("Abs", {x}), x});
  return net.take({net.add("Shape", {sum}, {4})});
}

/// GPT-2's GELU block with the weights C0 and C1.
inline Graph graph_g3() {
  const Extents wide = {50, 32, 3072};
  GraphBuilder net(wide);
  const ValueId x = net.input("x", {1600, 768});
  const ValueId gemm = net.add("Gemm", {x, net.weight("C0", {3072, 768})}, {1600, 3072}, {{"transB", std::int64_t{1}}});
  const ValueId biased = net.add("Add", {gemm, net.weight("C1", {3072})}, {1600, 3072});
  const ValueId folded = net.add("Reshape", {biased, net.integers({50, 32, 3072})});
  const ValueId cubed = net.add("Pow", {folded, net.scalar(3)});
  const ValueId small = net.add("Mul", {cubed, net.scalar(0.044715F)});
  const ValueId sum = net.add("Add", {folded, small});
  const ValueId tanh = net.add("Tanh", {net.add("Mul", {sum, net.scalar(0.797885F)})});
  const ValueId half = net.add("Mul", {folded, net.scalar(0.5F)});
  return net.take({net.add("Mul", {half, net.add("Add", {tanh, net.scalar(1)})})});
}

/// GPT-2's split and concatenation; the first output of Split is unused.
inline Graph graph_g4() {
  GraphBuilder net;
  const Extents part = {50, 32, 768};
  const Extents heads = {50, 32, 12, 64};
  const Extents turned = {50, 12, 32, 64};
  const ValueId x = net.input("x", {50, 32, 2304});
  const std::vector<ValueId> parts =
      net.add_outputs("Split", {x, net.integers({768, 768, 768})}, {part, part, part}, {{"axis", std::int64_t{2}}});
  std::vector<ValueId> joined;
  for (const std::size_t p : {1, 2}) {
    const ValueId folded = net.add("Reshape", {parts[p], net.integers({50, 32, 12, 64})}, heads);
    const ValueId transposed =
        net.add("Transpose", {folded}, turned, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    joined.push_back(net.add("Unsqueeze", {transposed, net.integers({0})}, {1, 50, 12, 32, 64}));
  }
  return net.take({net.add("Concat", joined, {2, 50, 12, 32, 64}, {{"axis", std::int64_t{0}}})});
}

}  // namespace collage::testing_support
