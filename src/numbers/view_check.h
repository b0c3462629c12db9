// Checks a candidate whose variant is "view": the bytes of its outputs must already be present in its inputs.
// In:  the region, with values for its ports. Out: a refusal when a byte differs.
// How: each port is converted to its format. A view of its whole first input has the same bytes; the parts of a Concat,
//       Split or Slice lie at their offsets in the whole (region/containment.h).
// Cost: a conversion and a comparison of every byte.
#pragma once

#include <optional>
#include <span>

#include "ir/graph.h"
#include "numbers/format_converter.h"
#include "region/refusal.h"
#include "region/region.h"
#include "region/rules/rules.h"
#include "region/variant.h"

namespace collage {

/// Tensors in the plain format, one for each port of the region.
struct ViewPorts {
  const Graph& graph;
  const Region& region;
  const Variant& variant;
  std::span<const Tensor> inputs;
  std::span<const Tensor> outputs;
};

/// Nothing when it is a view. Converts on `threads` threads.
[[nodiscard]] std::optional<Refusal> judge_view(const ViewPorts& view, FormatConverter& converter, int threads);

}  // namespace collage
