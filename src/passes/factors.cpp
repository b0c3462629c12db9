// Flattens nested products for the recognition of activations.
#include "passes/factors.h"

#include <algorithm>
#include <cmath>

#include "passes/facts.h"

namespace collage {
namespace {

constexpr int kMaxDepth = 8;

void collect(const Editor& editor, ValueId value, ValueId stop, bool shared, bool is_top, int depth, Factors& out) {
  const Graph& graph = editor.graph();
  if (value != stop) {
    if (const auto number = scalar_of(graph, value)) {
      out.number *= *number;
      return;
    }
    const NodeId maker = editor.producer(value);
    if (maker.valid() && depth < kMaxDepth && (is_top || shared || editor.has_one_reader(value))) {
      const Node& node = editor.node(maker);
      const auto inner = [&](ValueId input) { collect(editor, input, stop, shared, false, depth + 1, out); };
      if (is_op(node, "Mul")) {
        inner(node.inputs[0]);
        inner(node.inputs[1]);
        return;
      }
      const double number = scalar_of(graph, input_of(node, 1)).value_or(0.0);
      if (is_op(node, "Div") && number != 0) {
        out.number /= number;
        inner(node.inputs[0]);
        return;
      }
      if (is_op(node, "Pow") && (number == 2.0 || number == 3.0)) {
        for (int i = 0; i < static_cast<int>(number); ++i) inner(node.inputs[0]);
        return;
      }
    }
  }
  out.values.push_back(value);
}

}  // namespace

Factors factors_of(const Editor& editor, ValueId value, ValueId stop, bool shared) {
  Factors factors;
  collect(editor, value, stop, shared, true, 0, factors);
  return factors;
}

ValueId other_than(const Graph& graph, const Node& node, double number) {
  if (node.inputs.size() != 2) return {};
  for (std::size_t side = 0; side < 2; ++side)
    if (is_scalar(graph, node.inputs[side], number)) return node.inputs[1 - side];
  return {};
}

bool are_exactly(std::vector<ValueId> values, std::vector<ValueId> expected) {
  std::sort(values.begin(), values.end());
  std::sort(expected.begin(), expected.end());
  return values == expected;
}

bool is_about(double value, double expected) { return std::abs(value - expected) <= 1e-5 * std::abs(expected); }

}  // namespace collage
