#include "backend/open_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.h"

namespace collage {
namespace {

using testing::HasSubstr;

/// Each case has a copy of its own of a library that needs libcollage_test_foreign_N.so, since nothing is ever
/// unloaded.
class OpenLibrary : public testing::Test {
 protected:
  explicit OpenLibrary() { ::unsetenv("COLLAGE_LIBRARY_PATH"); }

  std::string needy(int number, const std::string& needs) const {
    const std::string file = folder_.file("libneedy.so");
    std::filesystem::copy_file(std::string(NEEDY_MODULES) + "/libneedy_" + std::to_string(number) + ".so", file);
    if (!needs.empty()) std::ofstream(folder_.file("libneedy.needs")) << needs;
    return file;
  }
  static std::string line(int number) {
    const std::string name = "libcollage_test_foreign_" + std::to_string(number) + ".so";
    return name + " engine/libs/" + name + " the package engine==1.0\n";
  }

  test::ScratchFolder folder_;
};

TEST_F(OpenLibrary, ReadsLinesAndLeavesOutMalformedOnes) {
  const auto found = parse_needed_libraries("# comment\nliba.so.1 a/b.so the package a==1\n\nlibb.so\nlibc.so c.so\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].soname, "liba.so.1");
  EXPECT_EQ(found[0].path, "a/b.so");
  EXPECT_EQ(found[0].from, "the package a==1");
}

TEST_F(OpenLibrary, GivesTheLoadersReasonWithoutNeeds) {
  const auto opened = open_library(needy(1, ""));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error(), HasSubstr("libcollage_test_foreign_1.so"));
}

TEST_F(OpenLibrary, SaysWhereAnAbsentLibraryComesFrom) {
  const auto opened = open_library(needy(1, line(1)));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error(), "no libcollage_test_foreign_1.so, which is part of the package engine==1.0");
}

TEST_F(OpenLibrary, FindsWhatIsNeededInAFolderOfTheEnvironment) {
  ::setenv("COLLAGE_LIBRARY_PATH", ("/nowhere::" + std::string(NEEDY_MODULES)).c_str(), 1);
  const auto opened = open_library(needy(2, line(2)));
  EXPECT_TRUE(opened) << opened.error();
}

TEST_F(OpenLibrary, GivesTheReasonOfANeededLibraryThatDoesNotLoad) {
  std::filesystem::create_directories(folder_.path() / "engine/libs");
  std::ofstream(folder_.file("engine/libs/libcollage_test_foreign_1.so")) << "no library";
  ::setenv("COLLAGE_LIBRARY_PATH", folder_.path().c_str(), 1);
  const auto opened = open_library(needy(1, line(1)));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error(), HasSubstr("engine/libs/libcollage_test_foreign_1.so"));
}

}  // namespace
}  // namespace collage
