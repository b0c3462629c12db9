#include "base/work_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/support/scratch_folder.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

class WorkFolderTest : public testing::Test {
 protected:
  WorkFolderTest() { ::setenv("TMPDIR", scratch_.path().c_str(), 1); }
  ~WorkFolderTest() override { before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR"); }

  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(scratch_.path()), {}));
  }

  /// A process that makes a folder with a file in it and dies before it can clean up.
  static void die_at_work() {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto folder = WorkFolder::create();
      if (folder) std::ofstream(folder->file("record")) << "half";
      ::_exit(folder ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }

  std::optional<std::string> before_ =
      ::getenv("TMPDIR") != nullptr ? std::optional<std::string>(::getenv("TMPDIR")) : std::nullopt;
  test::ScratchFolder scratch_;
};

TEST_F(WorkFolderTest, GoesAwayWithItsOwner) {
  {
    const auto folder = WorkFolder::create();
    ASSERT_TRUE(folder);
    std::ofstream(folder->file("a")) << "a";
    EXPECT_EQ(entries(), 1U);
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(WorkFolderTest, OfAKilledProcessGoesWhenTheNextIsMade) {
  die_at_work();
  EXPECT_EQ(entries(), 1U);
  const auto next = WorkFolder::create();
  ASSERT_TRUE(next);
  EXPECT_EQ(entries(), 1U) << "its own";
  EXPECT_FALSE(fs::exists(next->file("record")));
}

TEST_F(WorkFolderTest, OfALivingOwnerStaysAndSoDoesWhatIsNotOurs) {
  const auto first = WorkFolder::create();
  ASSERT_TRUE(first);
  std::ofstream(first->file("a")) << "a";
  fs::create_directory(scratch_.path() / "other");
  std::ofstream(scratch_.path() / "collage-work-file") << "no folder";
  die_at_work();
  const auto second = WorkFolder::create();
  ASSERT_TRUE(second);
  EXPECT_TRUE(fs::exists(first->file("a")));
  EXPECT_EQ(entries(), 4U) << "two folders at work, and two things that are none";
}

}  // namespace
}  // namespace collage
