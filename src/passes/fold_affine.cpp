// What scales or shifts channels right after a convolution or a matrix product goes into its weights and bias.
// merge_bias only reorders sums; fold_batch_norm and fold_scale rewrite weights, so class strict leaves them out.
#include "passes/affine.h"
#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

bool fold_norm(Editor& editor, NodeId id) {
  const auto affine = batch_norm_affine(editor.graph(), editor.node(id));
  return affine && fold_into_weights(editor, id, *affine);
}

bool fold_mul(Editor& editor, NodeId id) {
  if (!is_op(editor.node(id), "Mul")) return false;
  const auto affine = elementwise_affine(editor.graph(), editor.node(id), 1);
  return affine && fold_into_weights(editor, id, *affine);
}

bool fold_add(Editor& editor, NodeId id) {
  if (!is_op(editor.node(id), "Add")) return false;
  const auto affine = elementwise_affine(editor.graph(), editor.node(id), 1);
  return affine && fold_into_weights(editor, id, *affine);
}

/// [channels, 1, 1...]: a vector that broadcasts along axis 1 of a value of this rank.
Extents channel_extents(std::size_t channels, std::size_t rank) {
  Extents extents(rank - 1, 1);
  extents[0] = static_cast<std::int64_t>(channels);
  return extents;
}

/// A normalisation that no weights can take is one multiplication and one addition.
bool split_norm(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  const auto affine = batch_norm_affine(editor.graph(), node);
  const auto rank = affine ? rank_of(editor.graph(), affine->input) : std::nullopt;
  if (!rank || *rank < 2) return false;
  const Extents extents = channel_extents(affine->scale.size(), *rank);
  const std::string base = editor.value(node.outputs[0]).name;
  const ValueId scale = editor.add_constant(base + "_scale", float_tensor(extents, affine->scale));
  const ValueId shift = editor.add_constant(base + "_shift", float_tensor(extents, affine->shift));
  const ValueId product = editor.add_value(base + "_scaled", editor.value(node.outputs[0]).type);
  editor.insert_before(id, Node{.name = node.name + "_scale",
                                .domain = {},
                                .op_type = "Mul",
                                .inputs = {affine->input, scale},
                                .outputs = {product},
                                .captures = {},
                                .attributes = {}});
  editor.replace(id, Node{.name = node.name,
                          .domain = {},
                          .op_type = "Add",
                          .inputs = {product, shift},
                          .outputs = {node.outputs[0]},
                          .captures = {},
                          .attributes = {}});
  return true;
}

}  // namespace

Result<bool> merge_bias(Graph& graph, PassContext&) {
  if (rounds(graph)) return false;
  return apply_rules(graph, {fold_add});
}

Result<bool> fold_batch_norm(Graph& graph, PassContext&) {
  if (rounds(graph)) return false;
  return apply_rules(graph, {fold_norm});
}

Result<bool> fold_scale(Graph& graph, PassContext&) {
  if (rounds(graph)) return false;
  return apply_rules(graph, {fold_mul});
}

Result<bool> split_batch_norm(Graph& graph, PassContext&) {
  if (rounds(graph)) return false;
  return apply_rules(graph, {split_norm});
}

}  // namespace collage
