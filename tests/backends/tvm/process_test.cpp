// Whatever the process that compiles does, a region is compiled or refused.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tvm_fixture.h"

namespace collage::test {
namespace {

const char* const kSoftmax = "graph(%x: f32[6,40]) -> (%y) { %y: f32[6,40] = Softmax(%x) }";

class TvmProcess : public TvmTest {
 protected:
  /// A program in place of the interpreter.
  std::string program(const std::string& words) {
    const std::string path = testing::TempDir() + "/python-" + std::to_string(::getpid());
    std::ofstream(path) << "#!/bin/sh\n" << words << '\n';
    ::chmod(path.c_str(), 0700);
    return path;
  }
  std::expected<Artifact, Refusal> with(const std::string& python, const std::string& instance = "tvm:seconds=0") {
    const Setting setting("COLLAGE_TVM_PYTHON", python);
    return compiled(compiling(instance), graph_of(kSoftmax));
  }
  std::string reason_with(const std::string& python) {
    const auto artifact = with(python);
    return artifact ? "" : std::string(name_of(artifact.error().reason)) + ": " + artifact.error().detail;
  }
};

TEST_F(TvmProcess, ThatIsMissingIsARefusal) {
  EXPECT_EQ(reason_with("/no/python"), "missing: TVM is not in /no/python: run ./dev setup tvm");
}

TEST_F(TvmProcess, ThatDiesIsARefusal) {
  EXPECT_EQ(reason_with(program("kill -SEGV $$")), "compile: TVM died: signal 11");
  EXPECT_EQ(reason_with(program("echo no such module >&2; exit 3")), "compile: TVM died: exit code 3, no such module");
}

TEST_F(TvmProcess, ThatTalksNonsenseIsARefusal) {
  EXPECT_EQ(reason_with(program("read line; echo hello; read line")), "compile: no answer but words");
  EXPECT_EQ(reason_with(program("read line; echo '{\"error\": \"no such operator\"}'; read line")),
            "compile: no such operator");
}

TEST_F(TvmProcess, ThatHangsIsARefusal) {
  EXPECT_EQ(reason_with(program("exec sleep 1000")), "timeout: TVM did not answer in time");
}

TEST_F(TvmProcess, IsAnotherForEachRegionUnlessItIsKept) {
  const std::string starts = testing::TempDir() + "/starts-" + std::to_string(::getpid());
  const std::string refuses = "echo >>" + starts + "; while read line; do echo '{\"error\": \"no\"}'; done";
  const auto count = [&] { return std::filesystem::exists(starts) ? std::filesystem::file_size(starts) : 0; };
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(with(program(refuses)));
  EXPECT_EQ(count(), 2U);
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(with(program(refuses), "tvm:process=kept,seconds=1"));
  EXPECT_EQ(count(), 3U);
}

/// The true one, in the middle of a long search.
TEST_F(TvmProcess, EndsWithTheOneThatStartedIt) {
  const std::string note = testing::TempDir() + "/pid-" + std::to_string(::getpid());
  const std::string python = program("echo $$ >" + note + "; exec " COLLAGE_TVM_PYTHON " \"$@\"");
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);  // its group is not ended with it here
    const Setting setting("COLLAGE_TVM_PYTHON", python);
    (void)compiled(compiling("tvm:trials=1000,seconds=60"),
                   graph_of("graph(%x: f32[96,96], %w: f32[96,96]) -> (%y) { %y: f32[96,96] = MatMul(%x, %w) }"));
    ::_exit(0);
  }
  std::this_thread::sleep_for(std::chrono::seconds(4));
  pid_t compiler = 0;
  std::ifstream(note) >> compiler;
  ASSERT_GT(compiler, 0);
  EXPECT_EQ(::kill(compiler, 0), 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto is_gone = [&] {
    std::string state;
    std::ifstream status("/proc/" + std::to_string(compiler) + "/stat");
    std::string number;
    std::string name;
    return !(status >> number >> name >> state) || state == "Z";
  };
  for (int i = 0; i < 300 && !is_gone(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(is_gone());
}

}  // namespace
}  // namespace collage::test
