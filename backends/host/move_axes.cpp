// Transpose, and the operators that keep the row-major order of elements: Reshape, Flatten, Squeeze, Unsqueeze, Identity,
// Dropout in inference, Cast to the same type.
#include <algorithm>

#include "move.h"

namespace collage::host {

Programmed move_transpose(const MoveSite& at) {
  const Extents extents = at.out_extents(0);
  const Strides in = at.in_strides(0);
  const Strides out = at.out_strides(0);
  std::vector<std::int64_t> perm = attribute_or<std::vector<std::int64_t>>(at.node(), "perm", {});
  if (perm.empty())
    for (std::size_t i = extents.size(); i > 0; --i) perm.push_back(static_cast<std::int64_t>(i - 1));
  if (perm.size() != extents.size() || in.size() != extents.size())
    return refuse(RefusalReason::kAttribute, "perm of another length than the rank");
  Block block{.input = at.in_port(0), .output = at.out_port(0)};
  for (std::size_t i = 0; i < extents.size(); ++i)
    block.axes.push_back({extents[i], in[static_cast<std::size_t>(from_front(perm[i], perm.size()))], out[i]});
  return CopyProgram{.element_bytes = 0, .blocks = {std::move(block)}};
}

Programmed move_reshape(const MoveSite& at) {
  const auto axes = shared_axes(at.in_extents(0), at.in_strides(0), at.out_extents(0), at.out_strides(0));
  if (!axes) return refuse(RefusalReason::kFormat, "axes that the other shape cuts across");
  Block block{.input = at.in_port(0), .output = at.out_port(0)};
  for (const SharedAxis& axis : *axes) block.axes.push_back({axis.extent, axis.from_stride, axis.to_stride});
  return CopyProgram{.element_bytes = 0, .blocks = {std::move(block)}};
}

CopyProgram copy_between(const ValueType& type, const Format& from, const Format& to) {
  const Extents extents = type.extents();
  const Strides in = strides_of(extents, from);
  const Strides out = strides_of(extents, to);
  Block block;
  for (std::size_t i = 0; i < extents.size(); ++i) block.axes.push_back({extents[i], in[i], out[i]});
  return {.element_bytes = bits_of(type.element) / 8, .blocks = {normalised(std::move(block))}};
}

}  // namespace collage::host
