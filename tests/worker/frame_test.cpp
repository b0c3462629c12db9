#include "worker/frame.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace collage {
namespace {

using namespace std::chrono_literals;

/// Two ends of a socket pair.
struct Wire {
  int ends[2] = {-1, -1};
  Wire() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0); }
  ~Wire() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  void send(const std::string& bytes) const {
    EXPECT_EQ(::write(ends[0], bytes.data(), bytes.size()), std::ssize(bytes));
  }
  void close_sender() {
    ::close(ends[0]);
    ends[0] = -1;
  }
  [[nodiscard]] Result<std::optional<Frame>> read(std::chrono::milliseconds limit = 200ms) const {
    return read_frame(ends[1], Clock::now() + limit);
  }
};

const Frame kFrame = {.type = FrameType::kProgress, .payload = R"({"stage":"compile","candidate":3})"};

TEST(Frame, ArrivesAsSent) {
  Wire wire;
  ASSERT_TRUE(write_frame(wire.ends[0], kFrame));
  ASSERT_TRUE(write_frame(wire.ends[0], {.type = FrameType::kResult, .payload = ""}));
  const auto first = wire.read();
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, kFrame);
  const auto second = wire.read();
  ASSERT_TRUE(second);
  EXPECT_EQ((*second)->type, FrameType::kResult);
  wire.close_sender();
  const auto end = wire.read();
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

TEST(Frame, ArrivesInPieces) {
  Wire wire;
  const std::string bytes = encode(kFrame);
  for (const char byte : bytes.substr(0, bytes.size() - 1)) wire.send(std::string(1, byte));
  EXPECT_EQ(read_frame(wire.ends[1], Clock::now() + 20ms).error().code, "frame/timeout");
}

TEST(Frame, EveryTruncationIsSeen) {
  const std::string bytes = encode(kFrame);
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    Wire wire;
    wire.send(bytes.substr(0, length));
    wire.close_sender();
    const auto frame = wire.read();
    ASSERT_FALSE(frame) << length;
    EXPECT_EQ(frame.error().code, "frame/truncated") << length;
  }
}

TEST(Frame, EveryFlippedBitIsSeen) {
  const std::string bytes = encode(kFrame);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    Wire wire;
    wire.send(flipped);
    wire.close_sender();
    const auto frame = wire.read();
    EXPECT_FALSE(frame) << "bit " << bit;
  }
}

TEST(Frame, OversizedLengthIsRefusedWithoutReadingIt) {
  Wire wire;
  std::string bytes = encode(kFrame);
  bytes[15] = 0x7f;  // the top byte of the length
  wire.send(bytes);
  EXPECT_EQ(wire.read().error().code, "frame/too-large");
}

TEST(Frame, SilenceEndsAtTheDeadline) {
  Wire wire;
  const auto begin = Clock::now();
  EXPECT_EQ(wire.read(50ms).error().code, "frame/timeout");
  EXPECT_GE(Clock::now() - begin, 50ms);
  EXPECT_LT(Clock::now() - begin, 5s);
}

TEST(Frame, WritingToADeadPeerIsAnErrorNotASignal) {
  Wire wire;
  ::close(wire.ends[1]);
  wire.ends[1] = -1;
  EXPECT_EQ(write_frame(wire.ends[0], kFrame).error().code, "frame/closed");
}

}  // namespace
}  // namespace collage
