// A transposition that moves only dimensions of extent 1 leaves the bytes as they are: it becomes a Reshape, which
// costs nothing at run time. Comes after sink_transposes, which knows more about transpositions than about reshapes.
#include <algorithm>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

bool as_reshape(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "Transpose")) return false;
  const auto extents = static_extents(editor.graph(), node.inputs[0]);
  const auto perm = permutation_of(editor.graph(), node);
  if (!extents || !perm || !keeps_bytes(*extents, *perm)) return false;
  if (std::find(extents->begin(), extents->end(), 0) != extents->end()) return false;
  const Extents target = permuted(*extents, *perm);
  const ValueId shape = editor.add_constant(editor.value(node.outputs[0]).name + "_shape", integer_tensor(target));
  editor.set_type(node.outputs[0], ValueType::tensor(element_of(editor.graph(), node.inputs[0]), target));
  editor.replace(id, Node{.name = node.name,
                          .domain = {},
                          .op_type = "Reshape",
                          .inputs = {node.inputs[0], shape},
                          .outputs = node.outputs,
                          .captures = {},
                          .attributes = {}});
  return true;
}

}  // namespace

Result<bool> view_transposes(Graph& graph, PassContext&) { return apply_rules(graph, {as_reshape}); }

}  // namespace collage
