// A file in which single bytes are changed and changed back, in place.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <string>

namespace collage {

class FlippedFile {
 public:
  explicit FlippedFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    EXPECT_GE(descriptor_, 0) << path;
  }
  FlippedFile(const FlippedFile&) = delete;
  FlippedFile& operator=(const FlippedFile&) = delete;
  ~FlippedFile() { ::close(descriptor_); }

  /// Twice gives the byte as it was.
  void flip(std::size_t at, char bits) const {
    char byte = 0;
    EXPECT_EQ(::pread(descriptor_, &byte, 1, static_cast<off_t>(at)), 1);
    byte = static_cast<char>(byte ^ bits);
    EXPECT_EQ(::pwrite(descriptor_, &byte, 1, static_cast<off_t>(at)), 1);
  }

 private:
  int descriptor_;
};

}  // namespace collage
