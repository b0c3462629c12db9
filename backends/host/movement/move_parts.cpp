// Operators whose result is made of parts: Concat, Split, Slice, Gather with few constant indices.
#include <algorithm>
#include <cstdlib>

#include "movement/move.h"

namespace collage::host {
namespace {

constexpr std::size_t kMaxGatherBlocks = 16;  // more indices are the gather family's

/// A block over all axes of `extents`, which both sides have.
Block whole_block(const Extents& extents, const Strides& in, const Strides& out) {
  Block block;
  for (std::size_t i = 0; i < extents.size(); ++i) block.axes.push_back({extents[i], in[i], out[i]});
  return block;
}

std::int64_t clamped(std::int64_t value, std::int64_t low, std::int64_t high) {
  return std::min(std::max(value, low), high);
}

}  // namespace

Programmed move_concat(const MoveSite& at) {
  const std::size_t rank = at.out_extents(0).size();
  const auto axis = static_cast<std::size_t>(from_front(attribute_or<std::int64_t>(at.node(), "axis", 0), rank));
  if (axis >= rank) return refuse(RefusalReason::kAttribute, "axis outside the rank");
  const Strides out = at.out_strides(0);
  CopyProgram program{.element_bytes = 0, .blocks = {}};
  std::int64_t position = 0;
  for (std::size_t i = 0; i < at.node().inputs.size(); ++i) {
    Block block = whole_block(at.in_extents(i), at.in_strides(i), out);
    block.input = at.in_port(i);
    block.output = at.out_port(0);
    block.to = position * out[axis];
    position += at.in_extents(i)[axis];
    program.blocks.push_back(std::move(block));
  }
  return program;
}

Programmed move_split(const MoveSite& at) {
  const std::size_t rank = at.in_extents(0).size();
  const auto axis = static_cast<std::size_t>(from_front(attribute_or<std::int64_t>(at.node(), "axis", 0), rank));
  if (axis >= rank) return refuse(RefusalReason::kAttribute, "axis outside the rank");
  const Strides in = at.in_strides(0);
  CopyProgram program{.element_bytes = 0, .blocks = {}};
  std::int64_t position = 0;
  for (std::size_t i = 0; i < at.node().outputs.size(); ++i) {
    if (!at.node().outputs[i].valid()) return refuse(RefusalReason::kStructure, "an omitted output");
    const std::int64_t first = position;
    position += at.out_extents(i)[axis];
    if (!at.site.output_port(at.node().outputs[i])) continue;  // this part is not read
    Block block = whole_block(at.out_extents(i), in, at.out_strides(i));
    block.input = at.in_port(0);
    block.output = at.out_port(i);
    block.from = first * in[axis];
    program.blocks.push_back(std::move(block));
  }
  return program;
}

Programmed move_slice(const MoveSite& at) {
  const Extents extents = at.in_extents(0);
  const std::size_t rank = extents.size();
  const auto starts = at.site.integers(1);
  if (!starts) return refuse(RefusalReason::kStructure, "computed starts");
  for (std::size_t i = 2; i < at.node().inputs.size(); ++i)
    if (at.node().inputs[i].valid() && !at.site.integers(i))
      return refuse(RefusalReason::kStructure, "computed bounds");
  std::vector<std::int64_t> axes = at.site.integers(3).value_or(std::vector<std::int64_t>{});
  if (axes.empty())
    for (std::size_t i = 0; i < starts->size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  const std::vector<std::int64_t> steps = at.site.integers(4).value_or(std::vector<std::int64_t>(starts->size(), 1));
  if (axes.size() != starts->size() || steps.size() != starts->size())
    return refuse(RefusalReason::kAttribute, "axes or steps of another length than starts");
  Strides in = at.in_strides(0);
  std::int64_t from = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(from_front(axes[i], rank));
    if (axis >= rank || steps[i] == 0) return refuse(RefusalReason::kAttribute, "axis outside the rank, or step 0");
    const std::int64_t extent = extents[axis];
    const std::int64_t start = (*starts)[i] < 0 ? (*starts)[i] + extent : (*starts)[i];
    from += (steps[i] > 0 ? clamped(start, 0, extent) : clamped(start, -1, extent - 1)) * in[axis];
    in[axis] *= steps[i];
  }
  // The output's extents, which shape inference computed, say how far each axis goes.
  Block block = whole_block(at.out_extents(0), in, at.out_strides(0));
  block.input = at.in_port(0);
  block.output = at.out_port(0);
  block.from = element_count(at.out_extents(0)) == 0 ? 0 : from;
  return CopyProgram{.element_bytes = 0, .blocks = {std::move(block)}};
}

Programmed move_gather(const MoveSite& at) {
  const Extents extents = at.in_extents(0);
  const auto axis =
      static_cast<std::size_t>(from_front(attribute_or<std::int64_t>(at.node(), "axis", 0), extents.size()));
  const auto indices = at.site.integers(1);
  if (!indices || indices->size() > kMaxGatherBlocks || axis >= extents.size())
    return refuse(RefusalReason::kStructure, "computed or many indices");
  const std::size_t index_rank = at.in_extents(1).size();
  const Strides in = at.in_strides(0);
  const Strides out = at.out_strides(0);
  const Extents index_extents = at.in_extents(1);
  // The indices' axes stand in the output where the gathered axis stood in the input.
  const Strides index_strides = strides_of(index_extents, plain());
  CopyProgram program{.element_bytes = 0, .blocks = {}};
  for (std::size_t k = 0; k < indices->size(); ++k) {
    const std::int64_t index = (*indices)[k] < 0 ? (*indices)[k] + extents[axis] : (*indices)[k];
    if (index < 0 || index >= extents[axis]) return refuse(RefusalReason::kAttribute, "an index outside the axis");
    Block block{.input = at.in_port(0), .output = at.out_port(0), .from = index * in[axis]};
    auto rest = static_cast<std::int64_t>(k);
    for (std::size_t j = 0; j < index_rank; ++j) {
      block.to += rest / index_strides[j] * out[axis + j];
      rest %= index_strides[j];
    }
    for (std::size_t i = 0; i < extents.size(); ++i)
      if (i != axis) block.axes.push_back({extents[i], in[i], out[i < axis ? i : i + index_rank - 1]});
    program.blocks.push_back(std::move(block));
  }
  return program;
}

}  // namespace collage::host
