// Shape inference for common vendor operators that ONNX's library does not know, and for operators of ai.onnx.ml that
// it has without.
#pragma once

#include <onnx/defs/schema.h>

#include <map>
#include <string>
#include <utility>

namespace collage {

/// Branches of If nodes that cannot run with the shapes that come in: "node If (NAME)" -> the attribute's name.
using UnfitBranches = std::map<std::string, std::string>;

/// ONNX's own registry, extended by our schemas for com.microsoft and ai.onnx.ml. These only infer types and check
/// nothing. Also prevents ONNX's data propagation, which makes a list entry for every element of a vector, on long
/// vectors.
class Schemas final : public onnx::ISchemaRegistry {
 public:
  /// Branches that cannot have valid shapes are added to `unfit`, which outlives the registry.
  explicit Schemas(UnfitBranches& unfit);
  // NOLINTNEXTLINE(google-default-arguments): the signature is ONNX's
  const onnx::OpSchema* GetSchema(const std::string& key, int max_inclusive_version,
                                  const std::string& domain = "") const override;

 private:
  const onnx::OpSchema* with_bounded_propagation(const onnx::OpSchema* schema) const;

  std::map<std::pair<std::string, std::string>, onnx::OpSchema> ours_;  // (domain, operator)
  mutable std::map<const onnx::OpSchema*, onnx::OpSchema> bounded_;     // filled as ONNX asks; one thread
};

}  // namespace collage
