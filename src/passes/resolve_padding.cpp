// Replaces automatic padding of convolutions and pools by the explicit pads it stands for at static shapes.
#include <algorithm>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

/// Extents of the window over the spatial axes; nothing when they are not known.
std::optional<Integers> kernel_of(const Graph& graph, const Node& node, std::size_t spatial) {
  if (const auto* kernel = find_attribute<Integers>(node, "kernel_shape")) return *kernel;
  const auto weights = static_extents(graph, input_of(node, 1));
  if (!weights || weights->size() != spatial + 2) return std::nullopt;
  return Integers(weights->begin() + 2, weights->end());
}

Integers spread(std::int64_t total, bool more_at_end) {
  const std::int64_t less = total / 2;
  return more_at_end ? Integers{less, total - less} : Integers{total - less, less};
}

/// Pads for windows of a convolution or a pool: the output has ceil(input / stride) positions.
Integers same_pads(const Extents& input, const Integers& kernel, const Node& node, bool upper) {
  const std::size_t spatial = kernel.size();
  const auto strides = attribute_or<Integers>(node, "strides", Integers(spatial, 1));
  const auto dilations = attribute_or<Integers>(node, "dilations", Integers(spatial, 1));
  Integers pads(2 * spatial, 0);
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t positions = (input[i + 2] + strides[i] - 1) / strides[i];
    const std::int64_t window = (kernel[i] - 1) * dilations[i] + 1;
    const std::int64_t total = std::max<std::int64_t>(0, (positions - 1) * strides[i] + window - input[i + 2]);
    const Integers ends = spread(total, upper);
    pads[i] = ends[0];
    pads[i + spatial] = ends[1];
  }
  return pads;
}

bool resolve(Editor& editor, NodeId id) {
  Node node = editor.node(id);
  if (!is_op(node, "Conv") && !is_op(node, "MaxPool") && !is_op(node, "AveragePool") && !is_op(node, "LpPool") &&
      !is_op(node, "ConvInteger") && !is_op(node, "QLinearConv"))
    return false;
  const auto automatic = attribute_or<std::string>(node, "auto_pad", "");
  if (automatic.empty()) return false;
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    const auto input = static_extents(editor.graph(), node.inputs[0]);
    const std::size_t weight_port = is_op(node, "QLinearConv") ? 3 : 1;
    Node as_conv = node;
    if (weight_port != 1 && node.inputs.size() > weight_port) as_conv.inputs[1] = node.inputs[weight_port];
    if (!input || input->size() < 3) return false;
    const auto kernel = kernel_of(editor.graph(), as_conv, input->size() - 2);
    if (!kernel || kernel->size() != input->size() - 2) return false;
    set_attribute(node, "pads", same_pads(*input, *kernel, node, automatic == "SAME_UPPER"));
  } else if (automatic == "VALID") {
    remove_attribute(node, "pads");
  }
  remove_attribute(node, "auto_pad");
  editor.replace(id, std::move(node));
  return true;
}

/// A transposed convolution that asks for an output size: pads and output padding that give it.
bool resolve_transposed(Editor& editor, NodeId id) {
  Node node = editor.node(id);
  if (!is_op(node, "ConvTranspose")) return false;
  const auto automatic = attribute_or<std::string>(node, "auto_pad", "NOTSET");
  const bool asks = find_attribute<Integers>(node, "output_shape") != nullptr;
  if (automatic == "NOTSET" && !asks) return false;
  const auto input = static_extents(editor.graph(), node.inputs[0]);
  const auto output = static_extents(editor.graph(), node.outputs[0]);
  if (!input || !output || input->size() < 3) return false;
  const std::size_t spatial = input->size() - 2;
  const auto kernel = kernel_of(editor.graph(), node, spatial);
  if (!kernel || kernel->size() != spatial) return false;
  const auto strides = attribute_or<Integers>(node, "strides", Integers(spatial, 1));
  const auto dilations = attribute_or<Integers>(node, "dilations", Integers(spatial, 1));
  auto extra = attribute_or<Integers>(node, "output_padding", Integers(spatial, 0));
  Integers pads(2 * spatial, 0);
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t full = strides[i] * ((*input)[i + 2] - 1) + extra[i] + (kernel->at(i) - 1) * dilations[i] + 1;
    const std::int64_t total = full - (*output)[i + 2];
    if (total < 0) return false;
    const Integers ends = spread(total, automatic == "SAME_UPPER");
    pads[i] = ends[0];
    pads[i + spatial] = ends[1];
  }
  set_attribute(node, "pads", pads);
  remove_attribute(node, "auto_pad");
  remove_attribute(node, "output_shape");
  editor.replace(id, std::move(node));
  return true;
}

}  // namespace

Result<bool> resolve_padding(Graph& graph, PassContext&) { return apply_rules(graph, {resolve, resolve_transposed}); }

}  // namespace collage
