// The block planner, by an example. Each line shows a call and where the values then lie, as begin..end in their block.
//
//   a = add(64)                              block 1: a 0..64
//   b = add(64)                              block 2: b 0..64
//   v = add(32), show(v, b, 16)              block 2: b 0..64, v 16..48
//       v is a view of 32 bytes of b, from byte 16 on. It writes nothing, so it is no piece; b is the only one.
//   c = add(128), join(c, a at 0, b at 64)   block 3: a 0..64, b 64..128, v 80..112, c 0..128
//       c = Concat(a, b) is made of the pieces a and b. Whoever computes b now writes directly into c; v moved along.
//   d = add(64), e = add(192),
//   join(e, d at 0, c at 64)                 block 4: d 0..64, a 64..128, b 128..192, v 144..176, c 64..192, e 0..192
//       A concatenation inside another one: all of block 3 moved by 64.
//   g = add(128), join(g, a at 0, d at 64)   a is refused, d is placed
//       g = Concat(a, d) would have to begin where a does, with d behind a. But b lies there, so a stays where it is.
//       d lies free of others inside g, so block 4 becomes part of g's block, where d is at 64..128 and a at 128..192.
//   a2 = add(64), fill(a2, g, 0)             g's block: a2 0..64, d 64..128, a 128..192, b 192..256, ...
//       The caller copies a into the place that is left.
//
// So six values of 64 + 64 + 128 + 64 + 192 + 128 bytes and a view take 256 bytes and one copy of 64 bytes.
#include "plan/blocks.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace collage {

Blocks::Value Blocks::add(std::size_t bytes, bool is_fixed) {
  const auto value = static_cast<Value>(values_.size());
  const auto size = static_cast<std::int64_t>(bytes);
  values_.push_back({.block = blocks_.size(), .begin = 0, .bytes = size});
  blocks_.push_back({.values = {value}, .pieces = {{value, {0, size}}}, .is_fixed = is_fixed});
  return value;
}

Blocks::Range Blocks::range_of(Value value) const {
  return {values_[value].begin, values_[value].begin + values_[value].bytes};
}

void Blocks::move(std::size_t from, std::size_t to, std::int64_t shift) {
  for (const Value value : blocks_[from].values) {
    values_[value].block = to;
    values_[value].begin += shift;
    blocks_[to].values.push_back(value);
  }
  for (Piece piece : blocks_[from].pieces) {
    piece.range = {piece.range.begin + shift, piece.range.end + shift};
    blocks_[to].pieces.push_back(piece);
  }
  blocks_[from] = {};
}

void Blocks::show(Value inner, Value outer, std::size_t offset) {
  COLLAGE_CHECK(blocks_[values_[inner].block].values.size() == 1, "a view that shares bytes already");
  blocks_[values_[inner].block].pieces.clear();
  move(values_[inner].block, values_[outer].block,
       values_[outer].begin + static_cast<std::int64_t>(offset) - values_[inner].begin);
}

void Blocks::fill(Value copy, Value whole, std::size_t offset) {
  COLLAGE_CHECK(blocks_[values_[copy].block].values.size() == 1, "a copy that shares bytes already");
  move(values_[copy].block, values_[whole].block,
       values_[whole].begin + static_cast<std::int64_t>(offset) - values_[copy].begin);
}

std::vector<bool> Blocks::join(Value whole, std::span<const Part> parts) {
  COLLAGE_CHECK(blocks_[values_[whole].block].values.size() == 1, "a whole that shares bytes already");
  blocks_[values_[whole].block].pieces.clear();
  std::vector<bool> placed;
  for (std::size_t i = 0; i < parts.size(); ++i) placed.push_back(put(whole, parts, i));
  return placed;
}

bool Blocks::put(Value whole, std::span<const Part> parts, std::size_t which) {
  const auto& [part, offset] = parts[which];
  const std::size_t to = values_[whole].block;
  const std::size_t from = values_[part].block;
  const std::int64_t shift = values_[whole].begin + static_cast<std::int64_t>(offset) - values_[part].begin;
  if (from == to) return shift == 0;
  if (blocks_[from].is_fixed || !has_room(whole, parts, from, shift)) return false;
  move(from, to, shift);
  return true;
}

/// Whether block `from`, moved by `shift`, may become part of the whole's block: nothing it writes lies on what is
/// there, nor inside the whole at any other place than its own parts'.
bool Blocks::has_room(Value whole, std::span<const Part> parts, std::size_t from, std::int64_t shift) const {
  const std::size_t to = values_[whole].block;
  const auto bytes_in_parts = [&](const Range& range) {
    std::int64_t bytes = 0;
    for (const Part& part : parts) {
      const Place& place = values_[part.value];
      const std::int64_t begin = values_[whole].begin + static_cast<std::int64_t>(part.offset);
      if (place.block == from && place.begin + shift == begin)
        bytes += range.common_bytes({begin, begin + place.bytes});
    }
    return bytes;
  };
  return std::ranges::all_of(blocks_[from].pieces, [&](const Piece& piece) {
    const Range moved{piece.range.begin + shift, piece.range.end + shift};
    if (moved.common_bytes(range_of(whole)) != bytes_in_parts(moved)) return false;
    return std::ranges::none_of(blocks_[to].pieces,
                                [&](const Piece& other) { return other.range.common_bytes(moved) > 0; });
  });
}

std::size_t Blocks::offset_of(Value value) const {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Value other : blocks_[values_[value].block].values) first = std::min(first, values_[other].begin);
  return static_cast<std::size_t>(values_[value].begin - first);
}

std::size_t Blocks::bytes_of_block(std::size_t block) const {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (const Value value : blocks_[block].values) {
    first = std::min(first, values_[value].begin);
    end = std::max(end, values_[value].begin + values_[value].bytes);
  }
  return blocks_[block].values.empty() ? 0 : static_cast<std::size_t>(end - first);
}

}  // namespace collage
