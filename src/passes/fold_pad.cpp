// Gives the zeros that a Pad puts around an image to the convolution or average pool that reads it.
#include <algorithm>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

/// Pads of every axis, [begin..., end...], when the node pads with constant zeros; nothing otherwise.
std::optional<Integers> zero_pads(const Graph& graph, const Node& pad) {
  if (attribute_or<std::string>(pad, "mode", "constant") != "constant") return std::nullopt;
  const auto rank = rank_of(graph, pad.inputs[0]);
  const auto given = integers_of(graph, input_of(pad, 1));
  if (!rank || !given) return std::nullopt;
  if (input_of(pad, 2).valid() && scalar_of(graph, pad.inputs[2]) != 0.0) return std::nullopt;
  if (!input_of(pad, 3).valid()) return given->size() == 2 * *rank ? given : std::nullopt;
  const auto axes = integers_of(graph, pad.inputs[3]);
  if (!axes || given->size() != 2 * axes->size()) return std::nullopt;
  Integers pads(2 * *rank, 0);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = normal_axis((*axes)[i], *rank);
    if (!axis) return std::nullopt;
    pads[*axis] = (*given)[i];
    pads[*axis + *rank] = (*given)[i + axes->size()];
  }
  return pads;
}

/// Only spatial axes, and none cut.
bool is_spatial(const Integers& pads) {
  const std::size_t rank = pads.size() / 2;
  return rank >= 3 && pads[0] == 0 && pads[1] == 0 && pads[rank] == 0 && pads[rank + 1] == 0 &&
         std::all_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad >= 0; });
}

/// An average over padded zeros is the average that counts its padding; windows must not start outside of it.
bool takes_pads(const Node& pool, const Integers& spatial_pads) {
  if (is_op(pool, "Conv")) return true;
  if (!is_op(pool, "AveragePool") || attribute_or<std::int64_t>(pool, "ceil_mode", 0) != 0) return false;
  const auto own = attribute_or<Integers>(pool, "pads", {});
  const bool has_own = std::any_of(own.begin(), own.end(), [](std::int64_t pad) { return pad != 0; });
  if (has_own && attribute_or<std::int64_t>(pool, "count_include_pad", 0) == 0) return false;
  const auto kernel = attribute_or<Integers>(pool, "kernel_shape", {});
  for (std::size_t i = 0; i < spatial_pads.size(); ++i)
    if (spatial_pads[i] + (has_own ? own[i] : 0) >= kernel[i % kernel.size()]) return false;
  return true;
}

bool fold_into_window(Editor& editor, NodeId id) {
  Node node = editor.node(id);
  if (node.inputs.empty() || (!is_op(node, "Conv") && !is_op(node, "AveragePool"))) return false;
  if (attribute_or<std::string>(node, "auto_pad", "NOTSET") != "NOTSET") return false;
  const Node* pad = editor.producer_op(node.inputs[0], "Pad");
  if (pad == nullptr) return false;
  const auto pads = zero_pads(editor.graph(), *pad);
  if (!pads || !is_spatial(*pads)) return false;
  const std::size_t rank = pads->size() / 2;
  const std::size_t spatial = rank - 2;
  Integers both(pads->begin() + 2, pads->begin() + static_cast<std::ptrdiff_t>(rank));
  both.insert(both.end(), pads->begin() + static_cast<std::ptrdiff_t>(rank) + 2, pads->end());
  if (!takes_pads(node, both)) return false;
  const auto own = attribute_or<Integers>(node, "pads", Integers(2 * spatial, 0));
  for (std::size_t i = 0; i < both.size(); ++i) both[i] += own[i];
  set_attribute(node, "pads", both);
  if (is_op(node, "AveragePool")) set_attribute(node, "count_include_pad", std::int64_t{1});
  node.inputs[0] = pad->inputs[0];
  editor.replace(id, std::move(node));
  return true;
}

}  // namespace

Result<bool> fold_pad(Graph& graph, PassContext&) { return apply_rules(graph, {fold_into_window}); }

}  // namespace collage
