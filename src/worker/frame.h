// Messages between supervisor and worker on a socket pair: a header (magic number, type, length, checksum) and JSON
// text. Large data is passed in files that the JSON names. The checksum detects a library that writes to the
// descriptor, and a worker that dies in the middle of a message. Both ends run on one machine, so integers have its
// byte order.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"

namespace collage {

enum class FrameType : std::uint32_t {
  kJob = 1,       ///< supervisor -> worker: {"type": ..., ...}
  kResult = 2,    ///< worker -> supervisor: what the handler returned
  kError = 3,     ///< worker -> supervisor: the handler's Error
  kProgress = 4,  ///< worker -> supervisor: what it is about to do
  kQuestion = 5,  ///< worker -> supervisor: something that only the supervisor knows
  kAnswer = 6     ///< supervisor -> worker: what it says to that, or an Error
};

struct Frame {
  FrameType type = FrameType::kResult;
  std::string payload;
  bool operator==(const Frame&) const = default;
};

/// A payload longer than this is refused on both ends.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{64} << 20;

/// The frame's bytes as they go over the wire.
[[nodiscard]] std::string encode(const Frame& frame);

/// Writes the whole frame. Error frame/closed when the other side is gone, frame/too-large.
[[nodiscard]] Result<void> write_frame(int descriptor, const Frame& frame);

/// True when there is something to read (an end of stream too), false when `deadline` passes first.
/// Error frame/closed when the socket fails.
[[nodiscard]] Result<bool> wait_readable(int descriptor, std::optional<Clock::time_point> deadline);

/// Reads one frame; nothing when the stream ends between frames.
/// Error frame/timeout when `deadline` passes, frame/truncated when the stream ends inside a frame, frame/corrupt for a
/// wrong magic number, type or checksum, frame/too-large, frame/closed when the socket fails.
[[nodiscard]] Result<std::optional<Frame>> read_frame(int descriptor, std::optional<Clock::time_point> deadline);

}  // namespace collage
