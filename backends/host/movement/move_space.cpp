// Constant padding, and the two operators that exchange channels with space.
#include <algorithm>

#include "movement/move.h"

namespace collage::host {
namespace {

struct Pads {
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
};

std::expected<Pads, Refusal> pads_of(const MoveSite& at, std::size_t rank) {
  const auto values = at.site.integers(1);
  if (!values) return refuse(RefusalReason::kStructure, "computed pads");
  std::vector<std::int64_t> axes;
  if (input_of(at.node(), 3).valid()) {
    const auto listed = at.site.integers(3);
    if (!listed) return refuse(RefusalReason::kStructure, "computed axes");
    axes = *listed;
  } else {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (values->size() != 2 * axes.size()) return refuse(RefusalReason::kAttribute, "pads of another length");
  Pads pads{std::vector<std::int64_t>(rank, 0), std::vector<std::int64_t>(rank, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(from_front(axes[i], rank));
    if (axis >= rank) return refuse(RefusalReason::kAttribute, "axis outside the rank");
    pads.before[axis] = (*values)[i];
    pads.after[axis] = (*values)[i + axes.size()];
  }
  return pads;
}

std::expected<std::vector<std::uint8_t>, Refusal> fill_of(const MoveSite& at, std::size_t element_bytes) {
  const ValueId id = input_of(at.node(), 2);
  if (!id.valid()) return std::vector<std::uint8_t>(element_bytes, 0);
  const Tensor* constant = constant_of(at.site.graph, id);
  if (constant == nullptr || constant->data.size() < element_bytes)
    return refuse(RefusalReason::kStructure, "a computed padding value");
  const auto bytes = constant->data.as<std::uint8_t>();
  return std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(element_bytes));
}

/// Blocks that fill what lies around the box [low, high) of the output: two slabs per axis, of what earlier axes left.
std::vector<Block> border(const Extents& extents, const Strides& out, const std::vector<std::int64_t>& low,
                          const std::vector<std::int64_t>& high, const Block& prototype) {
  std::vector<Block> blocks;
  Extents first(extents.size(), 0);
  Extents last = extents;
  const auto slab = [&](std::size_t axis, std::int64_t from, std::int64_t to) {
    if (from >= to) return;
    Block block = prototype;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const std::int64_t begin = i == axis ? from : first[i];
      const std::int64_t end = i == axis ? to : last[i];
      block.to += begin * out[i];
      block.axes.push_back({end - begin, 0, out[i]});
    }
    blocks.push_back(std::move(block));
  };
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    slab(axis, 0, low[axis]);
    slab(axis, high[axis], extents[axis]);
    first[axis] = low[axis];
    last[axis] = high[axis];
  }
  return blocks;
}

struct SpaceSite {
  std::int64_t block = 0;
  std::int64_t channels = 0;  ///< of the side with fewer channels
  Extents small;              ///< spatial extents of the side with less space
};

std::expected<SpaceSite, Refusal> space_site(const MoveSite& at, const Extents& deep, const Extents& wide) {
  const auto block = attribute_or<std::int64_t>(at.node(), "blocksize", 0);
  if (deep.size() != 4 || wide.size() != 4 || block < 1 || deep[1] != wide[1] * block * block)
    return refuse(RefusalReason::kShape, "shapes that do not fit the block size");
  return SpaceSite{block, wide[1], {deep[2], deep[3]}};
}

/// Axes [n, b1, b2, c, h, w]: the deep side stores b1, b2 in its channels, the wide side in its rows and columns.
struct SpaceStrides {
  Strides deep;
  Strides wide;
};
SpaceStrides space_strides(const SpaceSite& space, const Strides& deep, const Strides& wide, bool blocks_first) {
  const std::int64_t b = space.block;
  const std::int64_t c = space.channels;
  const std::int64_t b1 = blocks_first ? b * c : b;
  const std::int64_t b2 = blocks_first ? c : 1;
  const std::int64_t channel = blocks_first ? 1 : b * b;
  return {{deep[0], b1 * deep[1], b2 * deep[1], channel * deep[1], deep[2], deep[3]},
          {wide[0], wide[2], wide[3], wide[1], b * wide[2], b * wide[3]}};
}

Programmed space_program(const MoveSite& at, const SpaceSite& space, const Strides& from, const Strides& to,
                         std::int64_t batch) {
  const Extents extents = {batch, space.block, space.block, space.channels, space.small[0], space.small[1]};
  Block block{.input = at.in_port(0), .output = at.out_port(0)};
  for (std::size_t i = 0; i < extents.size(); ++i) block.axes.push_back({extents[i], from[i], to[i]});
  return CopyProgram{.element_bytes = 0, .blocks = {std::move(block)}};
}

}  // namespace

Programmed move_pad(const MoveSite& at) {
  if (attribute_or<std::string>(at.node(), "mode", "constant") != "constant")
    return refuse(RefusalReason::kAttribute, "a mode other than constant");
  const Extents in_extents = at.in_extents(0);
  const Extents out_extents = at.out_extents(0);
  const std::size_t rank = in_extents.size();
  const auto pads = pads_of(at, rank);
  if (!pads) return std::unexpected(pads.error());
  const auto fill = fill_of(at, static_cast<std::size_t>(bits_of(at.site.input_type(0).element) / 8));
  if (!fill) return std::unexpected(fill.error());
  const Strides in = at.in_strides(0);
  const Strides out = at.out_strides(0);
  // Negative pads cut the input; `low` and `high` bound what remains of it, in the output's coordinates.
  Block kept{.input = at.in_port(0), .output = at.out_port(0)};
  std::vector<std::int64_t> low(rank);
  std::vector<std::int64_t> high(rank);
  bool is_empty = false;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t before = pads->before[i];
    low[i] = std::min(std::max<std::int64_t>(before, 0), out_extents[i]);
    high[i] = std::max(low[i], std::min(before + in_extents[i], out_extents[i]));
    is_empty = is_empty || low[i] == high[i];
    kept.from += (low[i] - before) * in[i];
    kept.to += low[i] * out[i];
    kept.axes.push_back({high[i] - low[i], in[i], out[i]});
  }
  CopyProgram program{.element_bytes = 0,
                      .blocks = border(out_extents, out, low, high, {.output = at.out_port(0), .fill = *fill})};
  if (!is_empty) program.blocks.push_back(std::move(kept));
  return program;
}

Programmed move_depth_to_space(const MoveSite& at) {
  const auto space = space_site(at, at.in_extents(0), at.out_extents(0));
  if (!space) return std::unexpected(space.error());
  const bool blocks_first = attribute_or<std::string>(at.node(), "mode", "DCR") == "DCR";
  const SpaceStrides strides = space_strides(*space, at.in_strides(0), at.out_strides(0), blocks_first);
  return space_program(at, *space, strides.deep, strides.wide, at.in_extents(0)[0]);
}

Programmed move_space_to_depth(const MoveSite& at) {
  const auto space = space_site(at, at.out_extents(0), at.in_extents(0));
  if (!space) return std::unexpected(space.error());
  const SpaceStrides strides = space_strides(*space, at.out_strides(0), at.in_strides(0), true);
  return space_program(at, *space, strides.wide, strides.deep, at.in_extents(0)[0]);
}

}  // namespace collage::host
