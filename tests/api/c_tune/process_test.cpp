// The library in processes of other programs: where it finds its helper program, what is left when they die.
#include <signal.h>

#include <filesystem>
#include <thread>

#include "tests/api/c_tune/tune_fixture.h"
#include "tests/cli/program.h"

namespace collage::test {
namespace {

namespace fs = std::filesystem;
using collage::testing::Ended;
using collage::testing::Program;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CTuneProcesses : public CTune {
 protected:
  /// A folder with links to the libraries of this build.
  [[nodiscard]] std::string linked_libraries() const {
    const fs::path folder = folder_.path() / "lib";
    fs::create_directories(folder);
    for (const auto& entry : fs::directory_iterator(build_path("/lib")))
      if (entry.is_regular_file() || entry.is_symlink())
        fs::create_symlink(entry.path(), folder / entry.path().filename());
    return folder.string();
  }
  [[nodiscard]] std::vector<std::string> arguments(const std::string& libraries, const std::string& budget) const {
    return {libraries, model_, plan_, budget};
  }
  [[nodiscard]] std::vector<pid_t> processes() const { return collage::testing::processes_of(home_); }
  /// Whether this comes to hold within some seconds.
  template <class Condition>
  [[nodiscard]] static bool soon(Condition condition) {
    for (int i = 0; i < 400 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return condition();
  }

  const std::string program_ = build_path("/tests/tune_program");
  const fs::path home_ = folder_.path() / "home";
};

TEST_F(CTuneProcesses, AProgramTunesAndLeavesNoProcesses) {
  const Ended ended = Program(home_, arguments(build_path("/lib"), "1"), program_).wait();
  EXPECT_EQ(ended.exit_code, 0) << describe(ended);
  EXPECT_THAT(processes(), IsEmpty());
}

TEST_F(CTuneProcesses, WithoutTheHelperProgramTheErrorSaysWhereItWasLookedFor) {
  const std::string libraries = linked_libraries();
  const Ended ended = Program(home_, arguments(libraries, "1"), program_).wait();
  EXPECT_EQ(ended.exit_code, COLLAGE_IO) << describe(ended);
  EXPECT_THAT(ended.out, HasSubstr("error[worker/cannot-start]: " + libraries + "/collage/collage-worker"));
}

TEST_F(CTuneProcesses, WorkersEndWithTheProgram) {
  Program program(home_, arguments(build_path("/lib"), "300"), program_);
  ASSERT_TRUE(soon([&] { return processes().size() >= 2; }));
  program.send(SIGKILL);
  EXPECT_EQ(program.wait().signal, SIGKILL);
  EXPECT_TRUE(soon([&] { return processes().empty(); }));
}

TEST_F(CTuneProcesses, WorkersEndWithTheProgramThoughACopyOfItLives) {
  std::vector<std::string> more = arguments(build_path("/lib"), "300");
  more.emplace_back("fork");
  Program program(home_, more, program_);
  // The program, its copy, a worker.
  ASSERT_TRUE(soon([&] { return processes().size() >= 3; }));
  program.send(SIGKILL);
  EXPECT_EQ(program.wait().signal, SIGKILL);
  EXPECT_TRUE(soon([&] { return processes().size() <= 1; }));
  for (const pid_t copy : processes()) ::kill(copy, SIGKILL);
}

}  // namespace
}  // namespace collage::test
