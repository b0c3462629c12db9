#include "plan/slots.h"

#include <algorithm>
#include <set>

#include "plan/memory.h"

namespace collage {
namespace {

constexpr std::size_t kNoSlot = std::numeric_limits<std::size_t>::max();

bool is_in_arena(Storage storage) { return storage == Storage::kArena || storage == Storage::kDevice; }

}  // namespace

void Slots::assign(const std::vector<PlanIndex>& own) {
  slot_of_block_.assign(blocks_.block_count(), kNoSlot);
  block_lives_.assign(blocks_.block_count(), {.first = kForever, .last_read = 0});
  for (PlanIndex i = 0; i < plan_.values.size(); ++i) {
    Life& life = block_lives_[blocks_.block_of(i)];
    life = {std::min(life.first, lives_[i].first), std::max(life.last_read, lives_[i].last_read)};
  }
  for (const PlanIndex value : own) own_slot(value);
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    const PlanStep& step = plan_.steps[s];
    for (std::size_t port = 0; port < step.outputs.size(); ++port) {
      const PlanIndex output = step.outputs[port];
      if (plan_.values[output].storage == Storage::kDynamic || slot_of(output) != kNoSlot) continue;
      if (const std::optional<std::size_t> slot = in_place_slot(s, port)) {
        join(output, *slot);
      } else {
        own_slot(output);
      }
    }
  }
}

void Slots::own_slot(PlanIndex value) {
  const PlanValue& given = plan_.values[value];
  const std::size_t block = blocks_.block_of(value);
  slot_of_block_[block] = slots_.size();
  slots_.push_back(
      {given.storage, given.place.location, given.buffer, blocks_.bytes_of_block(block), block_lives_[block]});
}

void Slots::join(PlanIndex value, std::size_t slot) {
  const std::size_t block = blocks_.block_of(value);
  slot_of_block_[block] = slot;
  std::size_t& last_read = slots_[slot].life.last_read;
  last_read = std::max(last_read, block_lives_[block].last_read);
}

/// The slot of an input that output `port` of a step may overwrite: nothing reads the slot after this step, no other
/// port of this step lies in it, and it belongs to an arena.
std::optional<std::size_t> Slots::in_place_slot(std::size_t step, std::size_t port) const {
  const PlanStep& made = plan_.steps[step];
  // Bytes among those of other values are at their place already.
  if (!blocks_.is_one_piece(blocks_.block_of(made.outputs[port]))) return std::nullopt;
  for (const auto& [output, input] : ports_[step]) {
    if (output != port || input >= made.inputs.size()) continue;
    const std::size_t slot = slot_of(made.inputs[input]);
    if (slot == kNoSlot) continue;
    if (!is_in_arena(slots_[slot].storage) || slots_[slot].life.last_read != step) continue;
    const std::size_t bytes = plan_.values[made.outputs[port]].bytes;
    if (slots_[slot].bytes != bytes || plan_.values[made.inputs[input]].bytes != bytes) continue;
    const auto in_slot = [&](PlanIndex value) { return slot_of(value) == slot; };
    const bool alone =
        std::ranges::count_if(made.inputs, in_slot) == 1 && std::ranges::count_if(made.outputs, in_slot) == 0;
    if (alone) return slot;
  }
  return std::nullopt;
}

bool Slots::become_output(PlanIndex value, std::uint32_t output) {
  Slot& slot = slots_[slot_of(value)];
  if (slot.storage != Storage::kArena || slot.bytes != plan_.values[value].bytes) return false;
  slot.storage = Storage::kOutput;
  slot.buffer = output;
  return true;
}

void Slots::add(PlanIndex value) {
  slot_of_block_.push_back(kNoSlot);
  block_lives_.push_back(lives_[value]);
  own_slot(value);
}

void Slots::place() {
  std::vector<PlanValue>& values = plan_.values;
  for (PlanIndex i = 0; i < values.size(); ++i) {
    if (slot_of(i) == kNoSlot) continue;
    values[i].storage = slots_[slot_of(i)].storage;
    values[i].buffer = slots_[slot_of(i)].buffer;
    values[i].offset = blocks_.offset_of(i);
  }
  std::set<std::string> devices;
  for (const Slot& slot : slots_) devices.insert(slot.location);
  for (const PlanStep& step : plan_.steps) devices.insert(location_of(step));
  devices.erase(kHome);
  plan_.arena_bytes = place_arena(kHome);
  plan_.device_arena_bytes.clear();
  for (const std::string& device : devices) plan_.device_arena_bytes[device] = place_arena(device);
}

/// Offsets of the arena slots and of every step's workspace at one location, planned together; gives the arena's size.
std::size_t Slots::place_arena(const std::string& location) {
  std::vector<Interval> intervals;
  std::vector<std::size_t> slot_interval(slots_.size(), kNoSlot);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!is_in_arena(slots_[i].storage) || slots_[i].location != location) continue;
    slot_interval[i] = intervals.size();
    intervals.push_back({slots_[i].life.first, slots_[i].life.last_read, slots_[i].bytes});
  }
  const std::size_t workspaces = intervals.size();
  std::vector<Workspace*> of_steps;
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    Workspace* const workspace = workspace_in(plan_.steps[s]);
    if (workspace == nullptr || location_of(plan_.steps[s]) != location) continue;
    of_steps.push_back(workspace);
    intervals.push_back({s, s, workspace->bytes});
  }
  const MemoryPlan memory = plan_memory(intervals);
  for (PlanIndex i = 0; i < plan_.values.size(); ++i)
    if (const std::size_t slot = slot_of(i); slot != kNoSlot && slot_interval[slot] != kNoSlot)
      plan_.values[i].offset += memory.offsets[slot_interval[slot]];
  for (std::size_t w = 0; w < of_steps.size(); ++w) of_steps[w]->offset = memory.offsets[workspaces + w];
  return memory.bytes;
}

}  // namespace collage
