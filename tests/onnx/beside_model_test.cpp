// Files beside a model: what may be opened, and that nothing else is while somebody changes links.
#include "onnx/files/beside_model.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/support/scratch_folder.h"
#include "tests/support/whole_file.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

class BesideModel : public ::testing::Test {
 protected:
  BesideModel() {
    fs::create_directories(path("model/sub"));
    fs::create_directories(path("real"));
    fs::create_directories(path("elsewhere"));
    write("model/weights", "inside");
    write("model/sub/more", "deeper");
    write("real/blob", "real");
    write("elsewhere/secret", "secret");
  }

  [[nodiscard]] fs::path path(const std::string& below) const { return folder_.path() / below; }
  void write(const std::string& below, const std::string& text) const {
    std::ofstream(path(below), std::ios::binary) << text;
  }
  /// The contents, or the code of the error.
  [[nodiscard]] std::string read(const std::string& location, bool has_real = true) const {
    const auto mapped = map_beside_model(
        {.named = path("model").string(), .real = has_real ? path("real").string() : ""}, location, "tensor");
    return mapped ? std::string(mapped->text()) : mapped.error().code;
  }

  test::ScratchFolder folder_;
};

TEST_F(BesideModel, FilesInItsFolderAreRead) {
  EXPECT_EQ(read("weights"), "inside");
  EXPECT_EQ(read("./weights"), "inside");
  EXPECT_EQ(read("sub/more"), "deeper");
  write("model/empty", "");
  EXPECT_EQ(read("empty"), "");
}

TEST_F(BesideModel, LinksThatStayInsideAreFollowed) {
  fs::create_symlink("weights", path("model/near"));
  fs::create_symlink(path("model/weights"), path("model/absolute"));
  fs::create_symlink("../real/blob", path("model/cached"));
  fs::create_symlink(path("real"), path("model/folder"));
  EXPECT_EQ(read("near"), "inside");
  EXPECT_EQ(read("absolute"), "inside");
  EXPECT_EQ(read("cached"), "real");
  EXPECT_EQ(read("folder/blob"), "real");
  EXPECT_EQ(read("cached", false), "import/external-data") << "no link led to the model there";
}

TEST_F(BesideModel, WhatLeadsOutIsRefused) {
  fs::create_symlink("../elsewhere/secret", path("model/out"));
  fs::create_symlink(path("elsewhere/secret"), path("model/absolute"));
  fs::create_symlink("../elsewhere", path("model/folder"));
  fs::create_symlink("../elsewhere/nothing", path("model/dangling"));
  fs::create_symlink("loop", path("model/loop"));
  for (const char* location : {"out", "absolute", "folder/secret", "dangling", "loop", "../elsewhere/secret", "..", "",
                               "sub/../../elsewhere/secret", "/etc/passwd", "/proc/self/root/etc/passwd"})
    EXPECT_EQ(read(location), "import/external-data") << location;
  EXPECT_EQ(read(std::string("weights\0x", 9)), "import/external-data");
}

TEST_F(BesideModel, WhatIsNoFileOfOneNameIsRefused) {
  ASSERT_EQ(::mkfifo(path("model/pipe").c_str(), 0600), 0);
  fs::create_hard_link(path("elsewhere/secret"), path("model/second"));
  for (const char* location : {"pipe", "sub", "second"}) EXPECT_EQ(read(location), "import/external-data") << location;
  EXPECT_EQ(read("nothing"), "import/not-found");
  EXPECT_EQ(read("weights/below"), "import/not-found");
  EXPECT_EQ(map_beside_model({.named = ""}, "weights", "tensor").error().code, "import/external-data");
}

TEST_F(BesideModel, LinksThatChangeMeanwhileNeverLeadOut) {
  std::atomic<bool> is_done = false;
  std::jthread other([&] {
    while (!is_done) {
      ::unlink(path("model/turning").c_str());
      (void)!::symlink("weights", path("model/turning").c_str());
      ::unlink(path("model/turning").c_str());
      (void)!::symlink("../elsewhere/secret", path("model/turning").c_str());
      ::unlink(path("model/turning").c_str());
      (void)!::symlink(path("model/weights").c_str(), path("model/turning").c_str());
    }
  });
  std::size_t read_inside = 0;
  for (int tries = 0; tries < 20'000; ++tries) {
    const std::string got = read("turning");
    ASSERT_NE(got, "secret") << tries;
    read_inside += got == "inside" ? 1 : 0;
  }
  is_done = true;
  EXPECT_GT(read_inside, 0U) << "nothing was raced";
}

}  // namespace
}  // namespace collage
