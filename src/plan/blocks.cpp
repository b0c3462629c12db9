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
