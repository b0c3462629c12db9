// Decides which values of a plan share bytes, and at which offsets: a view and its source, the parts of a concatenation
// and the whole. blocks.cpp begins with an example.
// In:  values with their sizes; which value is a view of which; which values are the parts of which.
// Out: the block of every value and its offset in it; whether a part could be placed inside the whole.
// How: union-find with offsets ("weighted union-find"). A block records the byte ranges that steps write, its pieces.
//       Pieces never overlap, and every whole consists of pieces. A value may therefore be part of several wholes, and
//       a whole may be part of another one.
// Cost: a join takes O(values of the part's block + pieces^2 of both blocks).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace collage {

class Blocks {
 public:
  using Value = std::uint32_t;

  struct Part {
    Value value = 0;
    std::size_t offset = 0;  ///< in the whole
  };

  /// A new value with bytes of its own; numbered from 0. A fixed one cannot move into another's block.
  Value add(std::size_t bytes, bool is_fixed);
  /// `inner`, so far alone, shows the bytes of `outer` from `offset` on and writes none itself.
  void show(Value inner, Value outer, std::size_t offset);
  /// `whole`, so far alone, will be made of `parts`, which lie side by side in it and fill it. Says which of them are
  /// at their places now; fill() the places of the others.
  [[nodiscard]] std::vector<bool> join(Value whole, std::span<const Part> parts);
  /// `copy`, so far alone, is written into `whole`, where join() left a place.
  void fill(Value copy, Value whole, std::size_t offset);

  [[nodiscard]] std::size_t block_of(Value value) const { return values_[value].block; }
  /// From the first byte of the block.
  [[nodiscard]] std::size_t offset_of(Value value) const;
  [[nodiscard]] std::size_t bytes_of_block(std::size_t block) const;
  /// The value with all the bytes of a block that is written at once.
  [[nodiscard]] Value root_of(std::size_t block) const { return blocks_[block].pieces.front().value; }
  /// Whether the block is written at once.
  [[nodiscard]] bool is_one_piece(std::size_t block) const { return blocks_[block].pieces.size() == 1; }
  [[nodiscard]] std::size_t block_count() const { return blocks_.size(); }

 private:
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    [[nodiscard]] std::int64_t common_bytes(const Range& other) const {
      return std::max<std::int64_t>(0, std::min(end, other.end) - std::max(begin, other.begin));
    }
  };
  struct Piece {
    Value value = 0;
    Range range;  ///< in the block's own counting, which may begin anywhere
  };
  struct Block {
    std::vector<Value> values;
    std::vector<Piece> pieces;
    bool is_fixed = false;
  };
  struct Place {
    std::size_t block = 0;
    std::int64_t begin = 0;
    std::int64_t bytes = 0;
  };

  [[nodiscard]] Range range_of(Value value) const;
  [[nodiscard]] bool put(Value whole, std::span<const Part> parts, std::size_t which);
  [[nodiscard]] bool has_room(Value whole, std::span<const Part> parts, std::size_t from, std::int64_t shift) const;
  void move(std::size_t from, std::size_t to, std::int64_t shift);

  std::vector<Place> values_;
  std::vector<Block> blocks_;  ///< empty ones have gone into others
};

}  // namespace collage
