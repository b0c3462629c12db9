#include "runtime/iteration_call.h"

#include <fmt/format.h>

#include "backend/cancel.h"

namespace collage {
namespace {

std::unexpected<Error> wrong_count(std::int64_t count, std::int64_t allowed) {
  return fail(ExitCode::kBadInput, "runtime/trip-count", "loop", fmt::format("iteration {}", count),
              fmt::format("{} iterations", allowed));
}

/// As many as the operator asks for; a Scan makes as many as it has slices.
std::int64_t trips_of(const LoopState& loop, std::int64_t room) {
  if (loop.iteration == nullptr) return room;
  std::int64_t count = std::numeric_limits<std::int64_t>::max();
  if (loop.trips != nullptr) std::memcpy(&count, loop.trips, sizeof count);
  return count;
}

}  // namespace

Result<void> IterationCall::run() {
  const LoopState& loop = parts.loop;
  has_run_ = false;
  COLLAGE_TRY(const std::int64_t room, begin());
  const std::int64_t most = trips_of(loop, room);
  bool goes_on = loop.condition == nullptr || is_true(loop.condition);
  std::int64_t i = 0;
  for (; i < most && goes_on; ++i) {
    if (i >= room) return wrong_count(i + 1, room);
    if (parts.body->is_cancelled()) return run_cancelled();
    COLLAGE_TRY_VOID(iterate(i));
    goes_on = loop.condition_out == nullptr || is_true(loop.condition_out);
  }
  if (!parts.scan_outputs.empty() && i != room) return wrong_count(i, room);
  has_run_ = true;
  return {};
}

Result<DynamicOutput> IterationCall::dynamic_output(std::size_t port) {
  if (!has_run_) return Call::dynamic_output(port);
  if (const auto state = parts.open_states.find(port); state != parts.open_states.end())
    return state->second->state.value();
  if (const auto result = parts.open_results.find(port); result != parts.open_results.end())
    return result->second->stack.value();
  return Call::dynamic_output(port);
}

/// Copies what the first iteration reads. The result is the number of iterations that there is room for in this run.
Result<std::int64_t> IterationCall::begin() {
  for (const PlainCopy& copy : parts.initial) copy.run();
  for (OpenCarried& value : parts.open_carried) {
    COLLAGE_TRY(const DynamicOutput operand, value.initial.read());
    COLLAGE_TRY_VOID(value.state.take(operand));
  }
  for (OpenStack& result : parts.open_stacks) result.stack.clear();
  std::int64_t room = parts.room;
  for (OpenSlices& slices : parts.open_slices) {
    COLLAGE_TRY(const std::int64_t count, slices.begin());
    if (room != std::numeric_limits<std::int64_t>::max() && room != count) return wrong_count(count, room);
    room = count;
  }
  return room;
}

Result<void> IterationCall::iterate(std::int64_t i) {
  if (parts.loop.iteration != nullptr) {
    std::memcpy(parts.loop.iteration, &i, sizeof i);
    *parts.loop.condition_in = std::byte{1};
  }
  for (const SliceCopy& slice : parts.scan_inputs) slice.read(i);
  for (const OpenSlices& slices : parts.open_slices) slices.read(i);
  COLLAGE_TRY_VOID(parts.body->run());
  COLLAGE_TRY_VOID(copy_open_values());
  for (const PlainCopy& copy : parts.carry) copy.run();
  for (const SliceCopy& slice : parts.scan_outputs) slice.write(i);
  return {};
}

/// What an iteration makes may be what it was given, so all is copied before anything is overwritten.
Result<void> IterationCall::copy_open_values() {
  for (OpenCarried& value : parts.open_carried) {
    COLLAGE_TRY(const DynamicOutput made, value.next.read());
    COLLAGE_TRY_VOID(value.state.prepare(made));
  }
  for (OpenStack& result : parts.open_stacks) {
    COLLAGE_TRY(const DynamicOutput made, result.slice.read());
    COLLAGE_TRY_VOID(result.stack.add(made));
  }
  for (OpenCarried& value : parts.open_carried) value.state.commit();
  return {};
}

}  // namespace collage
