// Nodes whose steps may round less than the accuracy class allows, so that the outputs keep to their bound.
// In:  nodes that err too much. Out: which variants they may not have.
// How: a node has one of three levels: any 16 bits; products in 16-bit fixed point alone, which err several times less
//      than 16-bit floats (is_fixed_point); none. Levels only rise.
// Cost: linear in the words of the sets.
#pragma once

#include <string>

#include "region/candidates.h"
#include "region/narrow_variant.h"

namespace collage {

class PrecisionLimits {
 public:
  [[nodiscard]] bool forbids(const Variant& variant, const NodeSet& nodes) const;
  /// Nodes without any limit are in neither; sets have no universe while they are empty.
  [[nodiscard]] const NodeSet& fixed_point() const { return fixed_point_; }
  [[nodiscard]] const NodeSet& full() const { return full_; }
  [[nodiscard]] bool is_empty() const { return fixed_point_.universe() == 0 && full_.universe() == 0; }
  [[nodiscard]] bool is_full(std::size_t nodes) const { return full_.universe() != 0 && full_.count() == nodes; }

  /// No 16-bit floats in steps of these nodes; nothing of 16 bits where no candidate has them in fixed point.
  void forbid_floats(const NodeSet& nodes, const CandidatePool& pool);
  void forbid_16_bits(const NodeSet& nodes);

  bool operator==(const PrecisionLimits&) const = default;

 private:
  NodeSet fixed_point_;
  NodeSet full_;
};

/// "3 of 40 nodes keep full precision, 5 round in fixed point alone".
[[nodiscard]] std::string to_text(const PrecisionLimits& limits, std::size_t nodes);

}  // namespace collage
