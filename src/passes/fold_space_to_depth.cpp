// Folds a rearrangement of pixels into channels (SpaceToDepth, or strided slices that are concatenated) into the
// convolution that reads it: the same multiplications are done on the image itself, without the copies.
// How: let k, l be a position in the kernel and `block` the block size. The weight of pixel (r, c) of a block of input
//       channel i moves to row k*block + r, column l*block + c of the new weights of channel i.
#include <algorithm>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

/// Every block-th pixel of an image from (row, column) on.
struct Phase {
  std::int64_t row = 0;
  std::int64_t column = 0;
};

/// The rearranged value: phases of `source` in the order in which their channels stand.
struct BlockPhases {
  ValueId source;
  std::int64_t block = 0;
  std::vector<Phase> phases;
};

struct StridedView {
  ValueId source;
  std::int64_t start[2] = {0, 0};
  std::int64_t step[2] = {1, 1};
};

/// Looks through Slices of rows and columns; each axis at most once.
std::optional<StridedView> strided_view(const Editor& editor, ValueId value) {
  const Graph& graph = editor.graph();
  StridedView view{.source = value};
  while (const Node* slice = editor.producer_op(view.source, "Slice")) {
    const auto starts = integers_of(graph, input_of(*slice, 1));
    const auto axes = integers_of(graph, input_of(*slice, 3));
    const auto steps = integers_of(graph, input_of(*slice, 4));
    if (!starts || !axes || !steps || axes->size() != starts->size() || steps->size() != starts->size())
      return std::nullopt;
    for (std::size_t i = 0; i < axes->size(); ++i) {
      const auto axis = normal_axis((*axes)[i], 4);
      if (!axis || *axis < 2 || view.step[*axis - 2] != 1 || (*steps)[i] < 2 || (*starts)[i] < 0) return std::nullopt;
      view.start[*axis - 2] = (*starts)[i];
      view.step[*axis - 2] = (*steps)[i];
    }
    view.source = slice->inputs[0];
  }
  return view;
}

bool is_complete(const Graph& graph, const BlockPhases& blocks, ValueId rearranged) {
  const auto image = static_extents(graph, blocks.source);
  const auto output = static_extents(graph, rearranged);
  if (!image || !output || image->size() != 4 || output->size() != 4 || blocks.block < 2) return false;
  if ((*image)[2] != (*output)[2] * blocks.block || (*image)[3] != (*output)[3] * blocks.block) return false;
  std::vector<bool> seen(static_cast<std::size_t>(blocks.block * blocks.block), false);
  for (const Phase& phase : blocks.phases) {
    if (phase.row >= blocks.block || phase.column >= blocks.block) return false;
    const auto at = static_cast<std::size_t>(phase.row * blocks.block + phase.column);
    if (seen[at]) return false;
    seen[at] = true;
  }
  return blocks.phases.size() == seen.size();
}

std::optional<BlockPhases> blocks_of(const Editor& editor, ValueId value) {
  BlockPhases blocks;
  if (const Node* concat = editor.producer_op(value, "Concat")) {
    if (attribute_or<std::int64_t>(*concat, "axis", 0) != 1) return std::nullopt;
    for (const ValueId input : concat->inputs) {
      const auto view = strided_view(editor, input);
      if (!view || view->step[0] != view->step[1]) return std::nullopt;
      if (blocks.phases.empty()) {
        blocks.source = view->source;
        blocks.block = view->step[0];
      }
      if (view->source != blocks.source || view->step[0] != blocks.block) return std::nullopt;
      blocks.phases.push_back(Phase{.row = view->start[0], .column = view->start[1]});
    }
  } else if (const Node* rearrange = editor.producer_op(value, "SpaceToDepth")) {
    blocks.source = rearrange->inputs[0];
    blocks.block = attribute_or<std::int64_t>(*rearrange, "blocksize", 0);
    for (std::int64_t phase = 0; phase < blocks.block * blocks.block; ++phase)
      blocks.phases.push_back(Phase{.row = phase / blocks.block, .column = phase % blocks.block});
  } else {
    return std::nullopt;
  }
  return is_complete(editor.graph(), blocks, value) ? std::optional(blocks) : std::nullopt;
}

/// [out, phases * channels, kh, kw] to [out, channels, kh * block, kw * block].
Tensor spread_weights(const Tensor& weights, const BlockPhases& blocks) {
  const std::int64_t phases = blocks.block * blocks.block;
  const std::int64_t channels = weights.extents[1] / phases;
  const std::int64_t rows = weights.extents[2];
  const std::int64_t columns = weights.extents[3];
  const std::int64_t wide = columns * blocks.block;
  Tensor result{.type = weights.type,
                .extents = {weights.extents[0], channels, rows * blocks.block, wide},
                .data = {},
                .strings = {}};
  const auto from = weights.data.as<float>();
  result.data = Buffer::make(weights.data.size(), [&](std::span<std::byte> bytes) {
    auto* to = reinterpret_cast<float*>(bytes.data());
    std::size_t next = 0;
    for (std::int64_t out = 0; out < weights.extents[0]; ++out)
      for (std::int64_t q = 0; q < phases; ++q)
        for (std::int64_t channel = 0; channel < channels; ++channel)
          for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t column = 0; column < columns; ++column) {
              const Phase& phase = blocks.phases[static_cast<std::size_t>(q)];
              const std::int64_t line =
                  (out * channels + channel) * rows * blocks.block + row * blocks.block + phase.row;
              to[line * wide + column * blocks.block + phase.column] = from[next++];
            }
  });
  return result;
}

Integers times(Integers values, std::int64_t factor) {
  for (std::int64_t& value : values) value *= factor;
  return values;
}

bool fold_moves(Editor& editor, NodeId id) {
  Node node = editor.node(id);
  if (!is_op(node, "Conv") || !editor.has_one_reader(node.inputs[0])) return false;
  const Tensor* weights = constant_of(editor.graph(), node.inputs[1]);
  if (weights == nullptr || weights->type != ElementType::kFloat32 || weights->extents.size() != 4) return false;
  if (attribute_or<std::int64_t>(node, "group", 1) != 1 ||
      attribute_or<std::string>(node, "auto_pad", "NOTSET") != "NOTSET" ||
      attribute_or<Integers>(node, "dilations", {1, 1}) != Integers{1, 1})
    return false;
  const auto blocks = blocks_of(editor, node.inputs[0]);
  if (!blocks) return false;
  const Tensor spread = spread_weights(*weights, *blocks);
  set_attribute(node, "kernel_shape", Integers{spread.extents[2], spread.extents[3]});
  set_attribute(node, "strides", times(attribute_or<Integers>(node, "strides", {1, 1}), blocks->block));
  set_attribute(node, "pads", times(attribute_or<Integers>(node, "pads", {0, 0, 0, 0}), blocks->block));
  node.inputs[0] = blocks->source;
  node.inputs[1] = editor.add_constant(node.name + "_spread_weights", spread);
  editor.replace(id, std::move(node));
  return true;
}

}  // namespace

Result<bool> fold_space_to_depth(Graph& graph, PassContext&) {
  if (rounds(graph)) return false;
  return apply_rules(graph, {fold_moves});
}

}  // namespace collage
