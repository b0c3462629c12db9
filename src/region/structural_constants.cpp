// Tells constants whose contents are part of a computation's structure from weights.
// How: kernels are made of shapes, axes, bounds and single numbers, but only told the type of a weight. A vector of
//       floats is a weight where every reader multiplies with it or adds it.
#include <algorithm>
#include <array>
#include <string_view>

#include "region/region.h"

namespace collage {
namespace {

struct Weighted {
  std::string_view op_type;
  std::size_t first;  ///< input from which on all are weights
};
constexpr std::array kWeighted = {Weighted{"Conv", 1},
                                  Weighted{"ConvTranspose", 1},
                                  Weighted{"Gemm", 0},
                                  Weighted{"MatMul", 0},
                                  Weighted{"Add", 0},
                                  Weighted{"Sub", 0},
                                  Weighted{"Mul", 0},
                                  Weighted{"Div", 0},
                                  Weighted{"PRelu", 1},
                                  Weighted{"BatchNormalization", 1},
                                  Weighted{"InstanceNormalization", 1},
                                  Weighted{"GroupNormalization", 1},
                                  Weighted{"LayerNormalization", 1}};

bool is_weight_input(const Node& node, std::size_t input) {
  return std::ranges::any_of(kWeighted,
                             [&](const Weighted& one) { return is_op(node, one.op_type) && input >= one.first; });
}

/// A single number may be written into a kernel's code.
bool may_be_weight(const Tensor& tensor) { return is_float(tensor.type) && tensor.size() > 1; }

/// Null for what is no constant, and for large ones.
const Tensor* small_constant(const Graph& graph, ValueId id) {
  const Tensor* const tensor = constant_of(graph, id);
  return tensor != nullptr && tensor->size() <= kMaxStructuralElements ? tensor : nullptr;
}

}  // namespace

std::vector<bool> structural_constants(const Graph& graph, const NodeSet& nodes) {
  std::vector<bool> structural(graph.values.size());
  for (const std::size_t n : nodes.members()) {
    const Node& node = graph.nodes[n];
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (const Tensor* const tensor = small_constant(graph, node.inputs[i]);
          tensor != nullptr && !(may_be_weight(*tensor) && is_weight_input(node, i)))
        structural[node.inputs[i].index] = true;
    for (const ValueId id : node.captures)
      if (small_constant(graph, id) != nullptr) structural[id.index] = true;
  }
  return structural;
}

}  // namespace collage
