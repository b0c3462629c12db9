// Whole files read into memory.
#include "base/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.h"

namespace collage {
namespace {

TEST(ReadFile, GivesACopyThatOutlivesTheFile) {
  const test::ScratchFolder folder;
  const std::string path = folder.file("numbers");
  const std::string bytes = std::string(100000, 'x') + "end";
  std::ofstream(path) << bytes;
  const auto read = read_file(path);
  ASSERT_TRUE(read) << to_string(read.error());
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(read->text(), bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read->data()) % 64, 0U);
  EXPECT_EQ(read_file(path)->size(), 0U);
}

TEST(ReadFile, RefusesWhatIsNoRegularFile) {
  const test::ScratchFolder folder;
  for (const std::string& path : {folder.file("none"), folder.path().string(), std::string("/dev/null")}) {
    const auto read = read_file(path);
    ASSERT_FALSE(read) << path;
    EXPECT_EQ(read.error().code, "io/cannot-read");
    EXPECT_EQ(read.error().where, path);
  }
}

}  // namespace
}  // namespace collage
