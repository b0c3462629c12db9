#include "worker/frame.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/hash.h"

namespace collage {
namespace {

constexpr std::uint32_t kMagic = 0x314c4f43;  // "COL1"

/// A sleeping thread is woken in 30 us and more on a virtual machine, and short answers come sooner.
constexpr auto kAwake = std::chrono::microseconds(60);

struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t type = 0;
  std::uint64_t length = 0;
  std::uint64_t checksum = 0;  ///< of type, length and payload
};
static_assert(sizeof(Header) == 24);

std::uint64_t checksum_of(const Header& header, const std::string& payload) {
  return hash_text(payload, hash_bytes(&header.type, sizeof header.type, header.length));
}

/// Milliseconds left for poll(), rounded up; -1 without a deadline.
int milliseconds_until(std::optional<Clock::time_point> deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

/// Bytes read before the end of the stream, which may be fewer than asked for.
Result<std::size_t> read_up_to(int descriptor, char* out, std::size_t bytes,
                               std::optional<Clock::time_point> deadline) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::recv(descriptor, out + done, bytes - done, MSG_DONTWAIT);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      COLLAGE_TRY(const bool ready, wait_readable(descriptor, deadline));
      if (!ready) return fail(ExitCode::kLimit, "frame/timeout", "worker socket", "no answer in time");
      continue;
    }
    if (got < 0 && errno == ECONNRESET) break;
    if (got < 0) return fail(ExitCode::kIo, "frame/closed", "worker socket", std::strerror(errno));
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<void> check_header(const Header& header) {
  if (header.magic != kMagic) return fail(ExitCode::kIo, "frame/corrupt", "worker socket", "bytes that are no frame");
  if (header.type < 1 || header.type > static_cast<std::uint32_t>(FrameType::kAnswer))
    return fail(ExitCode::kIo, "frame/corrupt", "worker socket", "frame type " + std::to_string(header.type));
  if (header.length > kMaxFrameBytes)
    return fail(ExitCode::kLimit, "frame/too-large", "worker socket", std::to_string(header.length) + " bytes",
                std::to_string(kMaxFrameBytes));
  return {};
}

}  // namespace

std::string encode(const Frame& frame) {
  Header header{.type = static_cast<std::uint32_t>(frame.type), .length = frame.payload.size()};
  header.checksum = checksum_of(header, frame.payload);
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes + frame.payload;
}

Result<void> write_frame(int descriptor, const Frame& frame) {
  if (frame.payload.size() > kMaxFrameBytes)
    return fail(ExitCode::kLimit, "frame/too-large", "worker socket", std::to_string(frame.payload.size()) + " bytes",
                std::to_string(kMaxFrameBytes));
  const std::string bytes = encode(frame);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t sent = ::send(descriptor, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail(ExitCode::kIo, "frame/closed", "worker socket", std::strerror(errno));
    done += static_cast<std::size_t>(sent);
  }
  return {};
}

Result<bool> wait_readable(int descriptor, std::optional<Clock::time_point> deadline) {
  const Clock::time_point sleep_from = Clock::now() + kAwake;
  for (;;) {
    const bool is_awake = Clock::now() < sleep_from;
    pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&entry, 1, is_awake ? 0 : milliseconds_until(deadline));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return fail(ExitCode::kIo, "frame/closed", "worker socket", std::strerror(errno));
    if (deadline && Clock::now() >= *deadline) return false;
    // The other end may need this processor.
    if (is_awake) ::sched_yield();
  }
}

Result<std::optional<Frame>> read_frame(int descriptor, std::optional<Clock::time_point> deadline) {
  Header header;
  COLLAGE_TRY(const std::size_t head,
              read_up_to(descriptor, reinterpret_cast<char*>(&header), sizeof header, deadline));
  if (head == 0) return std::nullopt;
  if (head < sizeof header) return fail(ExitCode::kIo, "frame/truncated", "worker socket", "an end inside a header");
  COLLAGE_TRY_VOID(check_header(header));
  Frame frame{.type = static_cast<FrameType>(header.type), .payload = std::string(header.length, '\0')};
  COLLAGE_TRY(const std::size_t body, read_up_to(descriptor, frame.payload.data(), header.length, deadline));
  if (body < header.length) return fail(ExitCode::kIo, "frame/truncated", "worker socket", "an end inside a payload");
  if (checksum_of(header, frame.payload) != header.checksum)
    return fail(ExitCode::kIo, "frame/corrupt", "worker socket", "a wrong checksum");
  return frame;
}

}  // namespace collage
