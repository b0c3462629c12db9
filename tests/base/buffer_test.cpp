#include "base/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>

namespace collage {
namespace {

Buffer buffer_of(std::string_view text) { return Buffer::copy_of(std::as_bytes(std::span(text))); }

TEST(Buffer, CopiesAligned) {
  const Buffer buffer = buffer_of("abc");
  EXPECT_EQ(buffer.text(), "abc");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
}

TEST(Buffer, ComparesContentsNotAddresses) {
  EXPECT_EQ(buffer_of("abc"), buffer_of("abc"));
  EXPECT_NE(buffer_of("abc"), buffer_of("abd"));
  EXPECT_NE(buffer_of("abc"), buffer_of("ab"));
  EXPECT_EQ(Buffer{}, buffer_of(""));
}

TEST(Buffer, SliceKeepsTheBytesAlive) {
  Buffer slice;
  {
    const Buffer whole = buffer_of("hello world");
    slice = whole.slice(6, 5);
  }
  EXPECT_EQ(slice.text(), "world");
}

TEST(Buffer, StartsZeroedForItsWriter) {
  const Buffer buffer = Buffer::make(100, [](std::span<std::byte> bytes) {
    for (const std::byte byte : bytes) EXPECT_EQ(byte, std::byte{0});
    bytes[99] = std::byte{7};
  });
  EXPECT_EQ(buffer.as<std::uint8_t>()[99], 7);
}

TEST(Buffer, MapsFiles) {
  const std::string path = testing::TempDir() + "collage_buffer_test";
  std::ofstream(path) << "contents";
  const auto mapped = Buffer::map_file(path);
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->text(), "contents");
}

TEST(Buffer, SaysWhichFileCannotBeRead) {
  for (const std::string& path : {std::string("/no/such/file"), testing::TempDir()}) {
    const auto mapped = Buffer::map_file(path);
    ASSERT_FALSE(mapped);
    EXPECT_EQ(mapped.error().code, "io/cannot-read");
    EXPECT_EQ(mapped.error().where, path);
    EXPECT_EQ(mapped.error().exit, ExitCode::kIo);
  }
}

}  // namespace
}  // namespace collage
