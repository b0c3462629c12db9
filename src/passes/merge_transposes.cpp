// Joins transpositions that follow each other, and lets Gemm read a transposed matrix directly.
#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

bool join_transposes(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "Transpose")) return false;
  const Node* before = editor.producer_op(node.inputs[0], "Transpose");
  if (before == nullptr) return false;
  const auto first = permutation_of(editor.graph(), *before);
  const auto second = permutation_of(editor.graph(), node);
  if (!first || !second) return false;
  const Permutation both = composed(*first, *second);
  const ValueId source = before->inputs[0];
  if (is_identity(both) && editor.bypass(id, source)) return true;
  Node joined = node;
  joined.inputs[0] = source;
  set_attribute(joined, "perm", both);
  editor.replace(id, std::move(joined));
  return true;
}

bool give_to_gemm(Editor& editor, NodeId id) {
  Node node = editor.node(id);
  if (!is_op(node, "Gemm")) return false;
  bool changed = false;
  for (std::size_t side = 0; side < 2; ++side) {
    const ValueId matrix = node.inputs[side];
    const Node* transpose = editor.producer_op(matrix, "Transpose");
    if (transpose == nullptr || !editor.has_one_reader(matrix)) continue;
    const std::string name = side == 0 ? "transA" : "transB";
    set_attribute(node, name, std::int64_t{1} - attribute_or<std::int64_t>(node, name, 0));
    node.inputs[side] = transpose->inputs[0];
    changed = true;
  }
  if (changed) editor.replace(id, std::move(node));
  return changed;
}

}  // namespace

Result<bool> merge_transposes(Graph& graph, PassContext&) {
  return apply_rules(graph, {join_transposes, give_to_gemm});
}

}  // namespace collage
