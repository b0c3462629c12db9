// Rewrites that run before ONNX's version converter, for operators that it converts wrongly or not at all. A node that
// already has its final form (opset 26) is moved to kFinalDomain, which the converter leaves alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace collage {

/// One graph while its nodes are rewritten.
struct Rewrite {
  pb::GraphProto& graph;
  Names& names;
  std::int64_t opset;
  std::map<std::string, const pb::TypeProto*> types;  ///< of the graph and those around it
  std::vector<pb::NodeProto> nodes;                   ///< the new list

  /// Adds a node of the model's own opset, or of the final one. Its name is that of the node it replaces.
  pb::NodeProto& add(const pb::NodeProto& origin, const char* op, std::vector<std::string> inputs,
                     const std::string& output);
  pb::NodeProto& add_final(const pb::NodeProto& origin, const char* op, std::vector<std::string> inputs,
                           const std::string& output);
  /// Adds an initialiser and returns its name.
  std::string constant(pb::TensorProto tensor);
  /// Extents of the value, -1 for each that is not known; nothing when the rank is not.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> extents(const std::string& value) const;
  [[nodiscard]] int element_type(const std::string& value) const;
  /// The initialiser of this name in this graph.
  [[nodiscard]] const pb::TensorProto* initialiser(const std::string& value) const;
};

/// True when the rule wrote something for the node; false leaves the node as it is.
using LegacyRule = std::function<Result<bool>(const pb::NodeProto& node, Rewrite& rewrite)>;

/// oldest_versions.cpp: a model of operator set 1 to 6 whose operators are the same in set 7 becomes one of set 7.
/// Error import/opset-too-old naming the first node that is another one there.
[[nodiscard]] Result<void> raise_oldest_versions(pb::ModelProto& model);

/// Rules that need no types, before the checker sees the model: Affine, Crop and ImageScaler become standard operators,
/// LayerNormalization in models older than the operator gets its later definition.
[[nodiscard]] Result<void> rewrite_experiments(pb::ModelProto& model);

/// Rules that read inferred types: legacy Softmax, LogSoftmax, Hardmax, Upsample, Resize, BatchNormalization; MatMul of
/// integers too narrow for it; Swish; Scan 8.
/// Errors: import/unsupported-legacy naming the node.
[[nodiscard]] Result<void> rewrite_legacy(pb::ModelProto& model);

// legacy_softmax.cpp and legacy_images.cpp
[[nodiscard]] Result<bool> rewrite_softmax(const pb::NodeProto& node, Rewrite& rewrite);
[[nodiscard]] Result<bool> rewrite_resize(const pb::NodeProto& node, Rewrite& rewrite);
[[nodiscard]] Result<bool> rewrite_affine(const pb::NodeProto& node, Rewrite& rewrite);
[[nodiscard]] Result<bool> rewrite_crop(const pb::NodeProto& node, Rewrite& rewrite);
[[nodiscard]] Result<bool> rewrite_image_scaler(const pb::NodeProto& node, Rewrite& rewrite);

}  // namespace collage
