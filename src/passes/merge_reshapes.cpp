// Joins operators that only rename extents: of Reshape, Flatten, Squeeze and Unsqueeze in a row one Reshape remains.
#include <algorithm>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

bool join_reshapes(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_reshape_like(node) || !editor.producer(node.inputs[0]).valid()) return false;
  const Node before = editor.node(editor.producer(node.inputs[0]));
  if (!is_reshape_like(before)) return false;
  const auto extents = static_extents(editor.graph(), node.outputs[0]);
  if (!extents || std::find(extents->begin(), extents->end(), 0) != extents->end()) return false;
  if (same_type(editor.graph(), before.inputs[0], node.outputs[0]) && editor.bypass(id, before.inputs[0])) return true;
  const ValueId target = editor.add_constant(editor.value(node.outputs[0]).name + "_shape", integer_tensor(*extents));
  editor.replace(id, Node{.name = node.name,
                          .domain = {},
                          .op_type = "Reshape",
                          .inputs = {before.inputs[0], target},
                          .outputs = node.outputs,
                          .captures = {},
                          .attributes = {}});
  return true;
}

}  // namespace

Result<bool> merge_reshapes(Graph& graph, PassContext&) { return apply_rules(graph, {join_reshapes}); }

}  // namespace collage
