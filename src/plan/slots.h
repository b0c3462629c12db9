// Assigns memory to the blocks of a plan. Each block gets a slot, a range of bytes; an output that a step may compute
// in place gets the slot of its input. Slots that are never live at the same time share bytes of an arena.
// In:  a plan without memory, its blocks, the lifetime of each value. Out: storage, buffers and offsets of its values,
//       workspaces, arena sizes.
// Not here: which values share a block (plan/blocks.h), packing slots into an arena (plan/memory.h).
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/blocks.h"
#include "plan/plan.h"

namespace collage {

/// Of a value that is a model output: read after the last step.
inline constexpr std::size_t kForever = std::numeric_limits<std::size_t>::max();

/// The steps from the first write to the last read.
struct Life {
  std::size_t first = 0;
  std::size_t last_read = 0;
};

/// (output, input) ports of a step that may share memory.
using InPlace = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// A plan in the making. All outlives the Slots; steps and values may be added between calls.
struct SlotsOf {
  Plan& plan;
  const Blocks& blocks;               ///< of plan values
  const std::vector<Life>& lives;     ///< by plan value
  const std::vector<InPlace>& ports;  ///< by step
};

class Slots {
 public:
  explicit Slots(const SlotsOf& of) : plan_(of.plan), blocks_(of.blocks), lives_(of.lives), ports_(of.ports) {}

  /// `own`: values that are there before the first step.
  void assign(const std::vector<PlanIndex>& own);
  /// Makes the value's slot this output of the model; false when it is something else already.
  [[nodiscard]] bool become_output(PlanIndex value, std::uint32_t output);
  /// For a value that was added since.
  void add(PlanIndex value);
  /// Tells values where their slots lie, and plans the arena of every location.
  void place();

 private:
  /// Bytes that one or more blocks of values have in turn.
  struct Slot {
    Storage storage = Storage::kArena;
    std::string location = kHome;
    std::uint32_t buffer = 0;
    std::size_t bytes = 0;
    Life life;
  };

  [[nodiscard]] std::size_t slot_of(PlanIndex value) const { return slot_of_block_[blocks_.block_of(value)]; }
  void own_slot(PlanIndex value);
  void join(PlanIndex value, std::size_t slot);
  [[nodiscard]] std::optional<std::size_t> in_place_slot(std::size_t step, std::size_t port) const;
  [[nodiscard]] std::size_t place_arena(const std::string& location);

  Plan& plan_;
  const Blocks& blocks_;
  const std::vector<Life>& lives_;
  const std::vector<InPlace>& ports_;
  std::vector<Life> block_lives_;
  std::vector<std::size_t> slot_of_block_;
  std::vector<Slot> slots_;
};

}  // namespace collage
