#include "cli/colour.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/paths.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/whole_file.h"

namespace collage::cli {
namespace {

TEST(Colour, MarksRatiosWhoseIntervalIsOnOneSideOfOne) {
  EXPECT_EQ(with_coloured_ratios("a 1.17x [1.15, 1.18] b"), "a \033[32m1.17x [1.15, 1.18]\033[0m b");
  EXPECT_EQ(with_coloured_ratios("0.91x [0.90, 0.93]\n1.10x [1.05, 1.20]"),
            "\033[31m0.91x [0.90, 0.93]\033[0m\n\033[32m1.10x [1.05, 1.20]\033[0m");
}

TEST(Colour, LeavesAllElseAsItIs) {
  for (const char* text : {"", "1.00x [0.99, 1.01]", "x [1.15, 1.18]", "1.17x [1.15, 1.18", "1.17x [1.15; 1.18]",
                           "matrix [2, 3", "1.2x [", "1.2x [a, b]"})
    EXPECT_EQ(with_coloured_ratios(text), text);
}

/// What `collage` prints on a terminal for a plan that does not exist.
std::string on_terminal(const std::string& environment) {
  const test::ScratchFolder folder;
  const std::string command = "env -u NO_COLOR TERM=xterm " + environment + " script -qec '" +
                              test::build_path("/bin/collage") + " explain no_such.collage' '" + folder.file("said") +
                              "' > /dev/null 2>&1 < /dev/null";
  EXPECT_NE(std::system(command.c_str()), -1);
  return test::read_all(folder.file("said"));
}

TEST(Colour, IsForTerminalsOfUsersWhoAllowIt) {
  const std::string error = "\033[31mcollage:\033[0m error[";
  EXPECT_NE(on_terminal("").find(error), std::string::npos);
  for (const char* forbids : {"NO_COLOR=1", "TERM=dumb"}) {
    const std::string said = on_terminal(forbids);
    EXPECT_NE(said.find("collage: error["), std::string::npos) << said;
    EXPECT_EQ(said.find("\033[31m"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace collage::cli
