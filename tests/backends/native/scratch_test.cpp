// The stack of scratch blocks that a kernel takes from its workspace.
#include "scratch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/support/dice.h"

namespace collage::native {
namespace {

/// Room for blocks of these sizes, and its Scratch.
class Room {
 public:
  explicit Room(std::size_t bytes) : memory_(bytes / 64 + 1), scratch(memory_.data()->bytes, bytes) {}

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> memory_;

 public:
  Scratch scratch;
};

bool is_aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 64 == 0; }

TEST(Scratch, GivesAlignedBlocksThatDoNotOverlap) {
  Room room(block_bytes(1) + block_bytes(64) + block_bytes(65));
  auto* a = static_cast<std::byte*>(room.scratch.allocate(1));
  auto* b = static_cast<std::byte*>(room.scratch.allocate(64));
  auto* c = static_cast<std::byte*>(room.scratch.allocate(65));
  ASSERT_TRUE(a != nullptr && b != nullptr && c != nullptr);
  EXPECT_TRUE(is_aligned(a) && is_aligned(b) && is_aligned(c));
  EXPECT_GE(b, a + 1);
  EXPECT_GE(c, b + 64);
}

TEST(Scratch, GivesNullWhenUsedUpAndServesSmallerWishesStill) {
  Room room(block_bytes(256));
  EXPECT_EQ(room.scratch.allocate(257), nullptr);
  void* all = room.scratch.allocate(256);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(room.scratch.allocate(0), nullptr);
  room.scratch.release(all);
  EXPECT_EQ(room.scratch.allocate(256), all);
}

TEST(Scratch, HasNothingWhenMadeOfNothing) {
  Scratch scratch;
  EXPECT_EQ(scratch.allocate(1), nullptr);
  scratch.release(nullptr);
  EXPECT_EQ(scratch.allocate(0), nullptr);
}

TEST(Scratch, UsesTheSamePlaceAgainAfterNestedBlocks) {
  Room room(4 * block_bytes(64));
  void* outer = room.scratch.allocate(64);
  void* inner = room.scratch.allocate(128);
  room.scratch.release(inner);
  EXPECT_EQ(room.scratch.allocate(128), inner);
  room.scratch.release(inner);
  room.scratch.release(outer);
  EXPECT_EQ(room.scratch.allocate(64), outer);
}

TEST(Scratch, KeepsAReleasedBlockUntilItIsOnTop) {
  Room room(3 * block_bytes(64));
  void* a = room.scratch.allocate(64);
  void* b = room.scratch.allocate(64);
  void* c = room.scratch.allocate(64);
  room.scratch.release(a);
  EXPECT_EQ(room.scratch.allocate(64), nullptr);
  room.scratch.release(c);
  EXPECT_EQ(room.scratch.allocate(64), c);
  room.scratch.release(b);
  EXPECT_EQ(room.scratch.allocate(64), nullptr);
  room.scratch.release(c);  // now all of them go
  EXPECT_EQ(room.scratch.allocate(64), a);
}

TEST(Scratch, StartsAgainAfterClear) {
  Room room(2 * block_bytes(64));
  void* first = room.scratch.allocate(64);
  EXPECT_NE(room.scratch.allocate(64), nullptr);
  room.scratch.clear();
  EXPECT_EQ(room.scratch.allocate(64), first);
}

TEST(Scratch, KeepsContentsThroughRandomOrders) {
  struct Block {
    std::byte* at;
    std::size_t bytes;
    int mark;
  };
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Room room(1 << 14);
    std::vector<Block> live;
    for (int step = 0; step < 300; ++step) {
      if (!live.empty() && dice.one_in(2)) {
        const std::size_t which = dice.below(live.size());
        for (std::size_t i = 0; i < live[which].bytes; ++i)
          ASSERT_EQ(std::to_integer<int>(live[which].at[i]), live[which].mark);
        room.scratch.release(live[which].at);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
      } else if (const std::size_t bytes = dice.below(700);
                 auto* at = static_cast<std::byte*>(room.scratch.allocate(bytes))) {
        live.push_back({.at = at, .bytes = bytes, .mark = step % 251});
        std::memset(at, step % 251, bytes);
      }
    }
    for (const Block& block : live) room.scratch.release(block.at);
    EXPECT_NE(room.scratch.allocate((1 << 14) - kBlockHead), nullptr) << "all is free again";
  }
}

}  // namespace
}  // namespace collage::native
