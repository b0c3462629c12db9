// Constant folding: computes nodes that depend on constants only. All of them are evaluated as one graph, so that a
// model with much shape arithmetic costs one call to the reference engine.
// In:  a graph and an evaluator. Out: the graph with the results as constants, under the same value names.
#include <algorithm>
#include <array>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

// A result this small is always worth keeping. Larger ones only as weights: elsewhere a stored tensor costs the
// memory traffic that computing it (mostly broadcasting) avoids.
constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxWeightBytes = std::size_t{1} << 30;

bool is_weight_port(const Node& node, ValueId value) {
  static constexpr std::array kWeighted = {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", "Gather"};
  if (!node.domain.empty()) return false;
  return std::any_of(kWeighted.begin(), kWeighted.end(), [&](const char* op) { return node.op_type == op; }) &&
         std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end();
}

std::size_t limit_of(const Editor& editor, ValueId value) {
  const auto& readers = editor.readers(value);
  const bool is_weight = !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
    return is_weight_port(editor.node(reader), value);
  });
  return is_weight ? kMaxWeightBytes : kMaxBytes;
}

bool is_plain_tensor(const ValueType& type) {
  return type.kind == ValueKind::kUnknown || type.kind == ValueKind::kTensor;
}

/// Nodes all of whose inputs are constants or results of such nodes, and whose results may be kept.
std::vector<bool> foldable_nodes(const Editor& editor, const PassContext& context) {
  const Graph& graph = editor.graph();
  std::vector<bool> is_constant(graph.values.size(), false);
  for (std::size_t v = 0; v < graph.values.size(); ++v) is_constant[v] = graph.values[v].constant.has_value();
  std::vector<bool> foldable(graph.nodes.size(), false);
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    // Dequantised weights stay: backends compute on the small integers.
    if (is_random(node) || is_op(node, "DequantizeLinear") || !node.captures.empty() || !bodies_of(node).empty())
      continue;
    if (!std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId input) { return !input.valid() || is_constant[input.index]; }))
      continue;
    foldable[n] = std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId output) {
      return !output.valid() ||
             (!context.unfoldable.contains(graph.value(output).name) && is_plain_tensor(graph.value(output).type) &&
              !editor.is_pinned(output) && bytes_of(graph, output) <= limit_of(editor, output));
    });
    if (!foldable[n]) continue;
    for (const ValueId output : node.outputs)
      if (output.valid()) is_constant[output.index] = true;
  }
  return foldable;
}

/// The chosen nodes as a graph without inputs whose outputs are `wanted`.
Result<Graph> constant_graph(const Graph& graph, const std::vector<bool>& chosen, const std::vector<ValueId>& wanted) {
  Graph part{.name = "constants",
             .opsets = graph.opsets,
             .values = graph.values,
             .nodes = {},
             .inputs = {},
             .outputs = wanted,
             .captures = {}};
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (chosen[n]) part.nodes.push_back(graph.nodes[n]);
  return normalised(part);
}

/// Marks what makes `value`, back to the constants.
void mark_makers(const Editor& editor, ValueId value, std::vector<bool>& marked) {
  if (!value.valid() || !editor.producer(value).valid()) return;
  const NodeId maker = editor.producer(value);
  if (marked[maker.index]) return;
  marked[maker.index] = true;
  for (const ValueId input : editor.node(maker).inputs) mark_makers(editor, input, marked);
}

/// Of a string also what its place in a list takes.
std::size_t bytes_in(const Tensor& tensor) {
  std::size_t bytes = byte_count(tensor.type, tensor.extents);
  for (const std::string& text : tensor.strings) bytes += sizeof text + text.size();
  return bytes;
}

void keep_results(Editor& editor, const std::vector<ValueId>& wanted, std::vector<Tensor>& results,
                  PassContext& context) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!results[i].container && bytes_in(results[i]) <= limit_of(editor, wanted[i]))
      editor.make_constant(wanted[i], std::move(results[i]));
    else
      context.unfoldable.insert(editor.value(wanted[i]).name);
  }
}

/// Evaluates for each value on its own, for when the evaluator refuses the whole.
void fold_singly(Editor& editor, const std::vector<ValueId>& wanted, PassContext& context) {
  constexpr std::size_t kMaxCalls = 24;
  for (std::size_t i = 0; i < wanted.size() && i < kMaxCalls; ++i) {
    std::vector<bool> chosen(editor.graph().nodes.size(), false);
    mark_makers(editor, wanted[i], chosen);
    auto part = constant_graph(editor.graph(), chosen, {wanted[i]});
    if (!part) continue;
    auto results = (*context.evaluator)(*part);
    if (results && results->size() == 1)
      keep_results(editor, {wanted[i]}, *results, context);
    else
      context.unfoldable.insert(editor.value(wanted[i]).name);
  }
}

}  // namespace

Result<bool> fold_constants(Graph& graph, PassContext& context) {
  if (!*context.evaluator) return false;
  Editor editor(graph);
  const std::vector<bool> foldable = foldable_nodes(editor, context);
  std::vector<ValueId> wanted;
  for (std::size_t n = 0; n < foldable.size(); ++n) {
    if (!foldable[n]) continue;
    for (const ValueId output : graph.nodes[n].outputs) {
      if (!output.valid()) continue;
      const auto& readers = editor.readers(output);
      if (std::any_of(readers.begin(), readers.end(), [&](NodeId reader) { return !foldable[reader.index]; }))
        wanted.push_back(output);
    }
  }
  if (wanted.empty()) return false;
  COLLAGE_TRY(const Graph part, constant_graph(graph, foldable, wanted));
  auto results = (*context.evaluator)(part);
  if (results && results->size() == wanted.size()) {
    keep_results(editor, wanted, *results, context);
  } else {
    context.note = results ? "the evaluator returned too few results" : to_string(results.error());
    fold_singly(editor, wanted, context);
  }
  COLLAGE_TRY_VOID(editor.finish());
  return editor.changed();
}

}  // namespace collage
