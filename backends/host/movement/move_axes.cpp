// Transpose, and the operators that keep the row-major order of elements: Reshape, Flatten, Squeeze, Unsqueeze,
// Identity, Dropout in inference, Cast to the same type.
#include <algorithm>

#include "movement/move.h"

namespace collage::host {
namespace {

/// The bytes are those of the plain format: axes of more than one element have its strides.
bool is_row_major(const Extents& extents, const Strides& strides) {
  const Strides expected = strides_of(extents, plain());
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (extents[i] != 1 && strides[i] != expected[i]) return false;
  return true;
}

}  // namespace

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
  Block block{.input = at.in_port(0), .output = at.out_port(0)};
  if (is_row_major(at.in_extents(0), at.in_strides(0)) && is_row_major(at.out_extents(0), at.out_strides(0))) {
    block.axes = {{element_count(at.out_extents(0)), 1, 1}};
    return CopyProgram{.element_bytes = 0, .blocks = {std::move(block)}};
  }
  const auto axes = shared_axes(at.in_extents(0), at.in_strides(0), at.out_extents(0), at.out_strides(0));
  if (!axes) return refuse(RefusalReason::kFormat, "axes that the other shape cuts across");
  for (const SharedAxis& axis : *axes) block.axes.push_back({axis.extent, axis.from_stride, axis.to_stride});
  return CopyProgram{.element_bytes = 0, .blocks = {std::move(block)}};
}

CopyProgram copy_between(const ValueType& type, const Format& from, const Format& to) {
  const Extents extents = type.extents();
  const Strides in = strides_of(extents, from);
  const Strides out = strides_of(extents, to);
  Block block;
  for (std::size_t i = 0; i < extents.size(); ++i) block.axes.push_back({extents[i], in[i], out[i]});
  return {.element_bytes = bits_of(stored_element(type, to)) / 8, .blocks = {normalised(std::move(block))}};
}

}  // namespace collage::host
