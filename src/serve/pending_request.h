// One request for inference on its way through the queue: made by the thread that read it, run by a worker, answered by
// the first again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/type.h"

namespace collage {

using ServeClock = std::chrono::steady_clock;

/// The bytes of an input, row-major; they lie in the request's body, or in `own` of the request.
struct PendingInput {
  Extents extents;
  std::span<const std::byte> bytes;
};

/// A copy of an output.
struct PendingOutput {
  ElementType type = ElementType::kUndefined;
  Extents extents;
  std::string bytes;
};

/// Threads: belongs to its maker until it is queued, to the queue and a worker until RequestQueue::wait() returns.
struct PendingRequest {
  std::vector<PendingInput> inputs;  ///< in the model's order
  std::vector<std::string> own;      ///< bytes that are not those of the body
  std::vector<bool> wanted;          ///< of each output of the model
  std::int64_t rows = 0;             ///< extent of the dimension along which requests are joined; 0 = runs alone
  ServeClock::time_point arrived{};
  ServeClock::time_point deadline = ServeClock::time_point::max();

  // Written by the worker.
  std::vector<PendingOutput> outputs;  ///< of each output of the model; empty where it is not wanted
  std::optional<Error> error;

  // Of the queue.
  enum class State : std::uint8_t { kNew, kQueued, kTaken, kDone };
  State state = State::kNew;
  std::condition_variable done;
};

}  // namespace collage
