// Per-channel scale and shift, and the operators whose weights can absorb them. Internal to this folder.
#pragma once

#include <optional>
#include <vector>

#include "passes/editor.h"

namespace collage {

/// output = input * scale + shift, by channel.
struct Affine {
  ValueId input;
  std::vector<double> scale;  ///< empty: 1 everywhere; one element: the same everywhere
  std::vector<double> shift;  ///< empty: 0 everywhere; one element: the same everywhere
};

/// A BatchNormalization in inference with constant statistics.
[[nodiscard]] std::optional<Affine> batch_norm_affine(const Graph& graph, const Node& node);
/// Mul or Add of a computed value and a constant that differs at most along `axis`.
[[nodiscard]] std::optional<Affine> elementwise_affine(const Graph& graph, const Node& node, std::size_t axis);

/// Folds `affine`, which node `tail` computes, into the Conv, ConvTranspose or Gemm whose result affine.input is read
/// by no other node. That node gets new weights and bias and the output name of `tail`. False when this is not
/// possible.
bool fold_into_weights(Editor& editor, NodeId tail, const Affine& affine);

}  // namespace collage
