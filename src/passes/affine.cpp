// Moves scales and shifts into the constants of the linear operator before them. Arithmetic in double.
#include "passes/affine.h"

#include <cmath>

#include "passes/facts.h"

namespace collage {
namespace {

double at(const std::vector<double>& values, std::size_t i, double absent) {
  if (values.empty()) return absent;
  return values.size() == 1 ? values[0] : values[i];
}

/// How the weights of a linear operator lie in memory: `channels` output channels, channel(i) of element i.
struct WeightLayout {
  std::int64_t channels = 0;
  std::size_t inner = 1;       ///< elements after the channel dimension
  std::size_t per_group = 1;   ///< channels in one run of the channel dimension
  std::size_t group_size = 0;  ///< elements of one group; 0 when channels do not repeat by group

  [[nodiscard]] std::size_t channel(std::size_t i) const {
    const std::size_t group = group_size == 0 ? 0 : i / group_size;
    return group * per_group + i / inner % per_group;
  }
};

std::optional<WeightLayout> layout_of(const Node& node, const Extents& weights) {
  WeightLayout layout;
  const auto rank = weights.size();
  if (is_op(node, "Gemm")) {
    if (rank != 2) return std::nullopt;
    const bool transposed = attribute_or<std::int64_t>(node, "transB", 0) != 0;
    layout.channels = weights[transposed ? 0 : 1];
    layout.inner = transposed ? static_cast<std::size_t>(weights[1]) : 1;
    layout.per_group = static_cast<std::size_t>(layout.channels);
    return layout;
  }
  if (rank < 3) return std::nullopt;
  std::size_t kernel = 1;
  for (std::size_t i = 2; i < rank; ++i) kernel *= static_cast<std::size_t>(weights[i]);
  if (is_op(node, "Conv")) {
    layout.channels = weights[0];
    layout.inner = kernel * static_cast<std::size_t>(weights[1]);
    layout.per_group = static_cast<std::size_t>(weights[0]);
    return layout;
  }
  if (!is_op(node, "ConvTranspose")) return std::nullopt;
  const auto groups = attribute_or<std::int64_t>(node, "group", 1);
  if (groups < 1 || weights[0] % groups != 0) return std::nullopt;
  layout.channels = weights[1] * groups;
  layout.inner = kernel;
  layout.per_group = static_cast<std::size_t>(weights[1]);
  layout.group_size = static_cast<std::size_t>(weights[0] / groups * weights[1]) * kernel;
  return layout;
}

Tensor scaled(const Tensor& weights, const WeightLayout& layout, const std::vector<double>& scale) {
  if (scale.empty()) return weights;
  Tensor result{.type = weights.type, .extents = weights.extents, .data = {}, .strings = {}};
  const auto from = weights.data.as<float>();
  result.data = Buffer::make(weights.data.size(), [&](std::span<std::byte> bytes) {
    auto* to = reinterpret_cast<float*>(bytes.data());
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] = static_cast<float>(static_cast<double>(from[i]) * at(scale, layout.channel(i), 1));
  });
  return result;
}

/// The bias by channel: zeros when there is none; nothing when it is not a constant row.
std::optional<std::vector<double>> bias_of(const Graph& graph, const Node& node, std::size_t channels) {
  const ValueId id = input_of(node, 2);
  if (!id.valid()) return std::vector<double>(channels, 0.0);
  const auto bias = floats_of(graph, id);
  if (!bias) return std::nullopt;
  if (bias->size() == 1) return std::vector<double>(channels, bias->front());
  const Extents& extents = constant_of(graph, id)->extents;
  if (bias->size() != channels || extents.back() != static_cast<std::int64_t>(channels)) return std::nullopt;
  return bias;
}

bool all_finite(const std::vector<double>& values) {
  for (const double value : values)
    if (!std::isfinite(static_cast<float>(value))) return false;
  return true;
}

}  // namespace

std::optional<Affine> batch_norm_affine(const Graph& graph, const Node& node) {
  if (!is_op(node, "BatchNormalization") || attribute_or<std::int64_t>(node, "training_mode", 0) != 0)
    return std::nullopt;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i].valid()) return std::nullopt;
  const auto gamma = floats_of(graph, input_of(node, 1));
  const auto beta = floats_of(graph, input_of(node, 2));
  const auto mean = floats_of(graph, input_of(node, 3));
  const auto variance = floats_of(graph, input_of(node, 4));
  if (!gamma || !beta || !mean || !variance) return std::nullopt;
  const std::size_t channels = gamma->size();
  if (beta->size() != channels || mean->size() != channels || variance->size() != channels) return std::nullopt;
  const double epsilon = attribute_or<float>(node, "epsilon", 1e-5F);
  Affine affine{.input = node.inputs[0], .scale = {}, .shift = {}};
  for (std::size_t c = 0; c < channels; ++c) {
    affine.scale.push_back((*gamma)[c] / std::sqrt((*variance)[c] + epsilon));
    affine.shift.push_back((*beta)[c] - (*mean)[c] * affine.scale.back());
  }
  if (!all_finite(affine.scale) || !all_finite(affine.shift)) return std::nullopt;
  return affine;
}

std::optional<Affine> elementwise_affine(const Graph& graph, const Node& node, std::size_t axis) {
  if ((!is_op(node, "Mul") && !is_op(node, "Add")) || node.inputs.size() != 2) return std::nullopt;
  const std::size_t side = constant_of(graph, node.inputs[0]) != nullptr ? 0 : 1;
  const ValueId input = node.inputs[1 - side];
  const Tensor* constant = constant_of(graph, node.inputs[side]);
  const auto rank = rank_of(graph, input);
  if (constant == nullptr || constant_of(graph, input) != nullptr || !rank || axis >= *rank) return std::nullopt;
  if (!same_type(graph, input, node.outputs[0]) || constant->extents.size() > *rank) return std::nullopt;
  const std::size_t offset = *rank - constant->extents.size();
  for (std::size_t i = 0; i < constant->extents.size(); ++i)
    if (constant->extents[i] != 1 && i + offset != axis) return std::nullopt;
  auto values = floats_of(graph, node.inputs[side]);
  if (!values || values->empty()) return std::nullopt;
  Affine affine{.input = input, .scale = {}, .shift = {}};
  (is_op(node, "Mul") ? affine.scale : affine.shift) = std::move(*values);
  return affine;
}

bool fold_into_weights(Editor& editor, NodeId tail, const Affine& affine) {
  const NodeId maker = editor.producer(affine.input);
  if (!maker.valid() || !editor.has_one_reader(affine.input)) return false;
  const Graph& graph = editor.graph();
  const Node linear = editor.node(maker);
  const Tensor* weights = linear.inputs.size() < 2 ? nullptr : constant_of(graph, linear.inputs[1]);
  if (weights == nullptr || weights->type != ElementType::kFloat32) return false;
  const auto layout = layout_of(linear, weights->extents);
  if (!layout) return false;
  const auto channels = static_cast<std::size_t>(layout->channels);
  const auto fits = [&](const std::vector<double>& values) { return values.size() <= 1 || values.size() == channels; };
  if (!fits(affine.scale) || !fits(affine.shift)) return false;
  // A Gemm's factors stay as they are: beta also scales the new shift, so it must be 1 (or there is no bias yet).
  if (is_op(linear, "Gemm") && attribute_or<float>(linear, "beta", 1.0F) != 1.0F) return false;
  const auto bias = bias_of(graph, linear, channels);
  if (!bias) return false;
  std::vector<double> shifted(channels);
  for (std::size_t c = 0; c < channels; ++c) shifted[c] = (*bias)[c] * at(affine.scale, c, 1) + at(affine.shift, c, 0);
  if (!all_finite(shifted)) return false;

  const std::string base = linear.name;
  const Tensor new_weights = scaled(*weights, *layout, affine.scale);
  if (!affine.scale.empty()) editor.set_input(maker, 1, editor.add_constant(base + "_weights", new_weights));
  const bool needs_bias = !affine.shift.empty() || input_of(linear, 2).valid();
  if (needs_bias) {
    const ValueId folded = editor.add_constant(base + "_bias", float_tensor({layout->channels}, shifted));
    if (linear.inputs.size() > 2)
      editor.set_input(maker, 2, folded);
    else
      editor.add_input(maker, folded);
  }
  editor.absorb(tail, affine.input);
  return true;
}

}  // namespace collage
