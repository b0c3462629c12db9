// Recognises a tensor cut into equal blocks along one axis and stacked along a new one (an unfold, as exporters write
// it): many Slices, Unsqueezes and one Concat become a Reshape and a Transpose.
#include <algorithm>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

/// One block: extents [begin, end) of one axis of a value.
struct Block {
  ValueId source;
  std::size_t axis = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::size_t new_axis = 0;  ///< where the extent 1 was inserted
};

std::optional<std::int64_t> only_integer(const Graph& graph, ValueId id) {
  const auto values = integers_of(graph, id);
  return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
}

/// `value` is a Slice along one axis followed by an Unsqueeze of one axis.
std::optional<Block> block_of(const Editor& editor, ValueId value) {
  const Graph& graph = editor.graph();
  const Node* unsqueeze = editor.producer_op(value, "Unsqueeze");
  const Node* slice = unsqueeze == nullptr ? nullptr : editor.producer_op(unsqueeze->inputs[0], "Slice");
  const auto rank = rank_of(graph, value);
  if (slice == nullptr || !rank) return std::nullopt;
  const auto extents = static_extents(graph, slice->inputs[0]);
  const auto new_axis = only_integer(graph, input_of(*unsqueeze, 1));
  const auto axis = only_integer(graph, input_of(*slice, 3));
  const auto begin = only_integer(graph, slice->inputs[1]);
  const auto end = only_integer(graph, slice->inputs[2]);
  if (!extents || !new_axis || !axis || !begin || !end) return std::nullopt;
  if (input_of(*slice, 4).valid() && only_integer(graph, slice->inputs[4]) != 1) return std::nullopt;
  const auto at = normal_axis(*axis, extents->size());
  const auto inserted = normal_axis(*new_axis, *rank);
  if (!at || !inserted || *begin < 0 || *end < 0) return std::nullopt;
  return Block{.source = slice->inputs[0],
               .axis = *at,
               .begin = *begin,
               .end = std::min(*end, (*extents)[*at]),
               .new_axis = *inserted};
}

/// The first block, when the inputs are all blocks of one value in order, without gap or overlap.
std::optional<Block> whole_cut(const Editor& editor, const Node& concat) {
  std::optional<Block> first;
  std::int64_t next = 0;
  for (const ValueId input : concat.inputs) {
    const auto block = block_of(editor, input);
    if (!block) return std::nullopt;
    if (!first) first = block;
    if (block->source != first->source || block->axis != first->axis || block->new_axis != first->new_axis ||
        block->begin != next || block->end - block->begin != first->end - first->begin)
      return std::nullopt;
    next = block->end;
  }
  if (!first || next != (*static_extents(editor.graph(), first->source))[first->axis]) return std::nullopt;
  return first;
}

bool merge(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "Concat") || node.inputs.size() < 2) return false;
  const auto cut = whole_cut(editor, node);
  const auto output = static_extents(editor.graph(), node.outputs[0]);
  if (!cut || !output || normal_axis(*find_attribute<std::int64_t>(node, "axis"), output->size()) != cut->new_axis)
    return false;
  // [..., blocks * size, ...] is [..., blocks, size, ...]; then `blocks` moves from `axis` to `new_axis`.
  Extents split = *static_extents(editor.graph(), cut->source);
  split[cut->axis] = cut->end - cut->begin;
  split.insert(split.begin() + static_cast<std::ptrdiff_t>(cut->axis), static_cast<std::int64_t>(node.inputs.size()));
  Permutation perm;
  for (std::size_t d = 0; d < split.size(); ++d)
    if (d != cut->axis) perm.push_back(static_cast<std::int64_t>(d));
  perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(cut->new_axis), static_cast<std::int64_t>(cut->axis));
  const std::string base = editor.value(node.outputs[0]).name;
  const ElementType element = element_of(editor.graph(), cut->source);
  const ValueId shape = editor.add_constant(base + "_blocks_shape", integer_tensor(split));
  const ValueId blocks = editor.add_value(base + "_blocks", ValueType::tensor(element, split));
  editor.insert_before(id, Node{.name = node.name + "_blocks",
                                .domain = {},
                                .op_type = "Reshape",
                                .inputs = {cut->source, shape},
                                .outputs = {blocks},
                                .captures = {},
                                .attributes = {}});
  editor.replace(id, Node{.name = node.name,
                          .domain = {},
                          .op_type = "Transpose",
                          .inputs = {blocks},
                          .outputs = node.outputs,
                          .captures = {},
                          .attributes = {Attribute{.name = "perm", .value = perm}}});
  return true;
}

}  // namespace

Result<bool> merge_blocks(Graph& graph, PassContext&) { return apply_rules(graph, {merge}); }

}  // namespace collage
