// `bench --rival`: programs that speak the protocol of docs/RIVALS.md, and some that do not.
#include <filesystem>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

using ::testing::HasSubstr;

class RivalTest : public CliTest {
 protected:
  RivalTest() : model_(given("model.onnx", doubling())) {}

  /// A bench with one rival, a shell script of these answers to "prepare", "run" and "write".
  [[nodiscard]] Ended bench_against(const std::string& prepare, const std::string& run_answer,
                                    const std::string& write) const {
    const std::string script =
        given("rival.sh", "while read -r line; do case \"$line\" in\n*'\"prepare\"'*) " + prepare +
                              ";;\n*'\"run\"'*) " + run_answer + ";;\n*) " + write + ";;\nesac; done\n");
    return bench("shell=/bin/sh " + script);
  }

  [[nodiscard]] Ended bench(const std::string& rival) const {
    return run(
        {"bench", model_, "--quiet", "--seconds", "0.1", "--against", "onnxruntime", "--json", "-", "--rival", rival});
  }

  /// The only note about the rival.
  [[nodiscard]] static std::string note_of(const Ended& ended) {
    expect_good(ended);
    const nlohmann::json report = parsed(ended.out);
    for (const auto& note : report["notes"])
      if (note.get<std::string>().starts_with("shell ")) return note;
    return {};
  }

  std::string model_;
};

constexpr const char* kReady = R"(echo '{"version":"7","load_ms":2.5,"precision":"f32","note":"a shell"}')";
constexpr const char* kTime = R"(echo '{"ns":1000}')";
/// Both files lie in one folder; the answer is the input, which is not the double.
constexpr const char* kCopy =
    R"(out=${line#*'files":["'}; out=${out%%'"'*}; cp "${out%/*}/input0.npy" "$out"; echo '{}')";

TEST_F(RivalTest, IsTimedByItsOwnClockAndJudgedByItsNumbers) {
  const Ended ended = bench_against(kReady, kTime, kCopy);
  expect_good(ended);
  const nlohmann::json report = parsed(ended.out);
  const nlohmann::json rival = report["contenders"].back();
  EXPECT_EQ(rival["name"], "shell");
  EXPECT_EQ(rival["version"], "7");
  EXPECT_EQ(rival["load_ms"], 2.5);
  EXPECT_EQ(rival["note"], "a shell");
  EXPECT_LE(rival["median_us"].get<double>(), 1.0);
  EXPECT_EQ(rival["numbers"]["verdict"], "wrong");
  EXPECT_EQ(report["ratios"].back()["against"], "shell");
  EXPECT_EQ(report["ratios"].back()["counts"], false);
  EXPECT_EQ(report["best_rival"]["against"], "onnxruntime");
}

TEST_F(RivalTest, IsLeftOutWithItsReason) {
  EXPECT_THAT(note_of(bench_against(R"(echo '{"error":"no operator Add"}')", kTime, kCopy)),
              HasSubstr("no operator Add"));
  EXPECT_THAT(note_of(bench_against("echo out of memory >&2; exit 1", kTime, kCopy)),
              HasSubstr("the end of the program; it said: out of memory"));
  EXPECT_THAT(note_of(bench_against(kReady, "echo nonsense", kCopy)), HasSubstr("no JSON object: nonsense"));
  EXPECT_THAT(note_of(bench_against(kReady, R"(echo '{"ns":99000000000}')", kCopy)), HasSubstr("passed here"));
  EXPECT_THAT(note_of(bench_against(kReady, R"(echo '{"ns":0}')", kCopy)), HasSubstr("0 ns"));
  EXPECT_THAT(note_of(bench("shell=/no/such/program")), HasSubstr("No such file"));
}

TEST_F(RivalTest, LeavesNothingBehind) {
  expect_good(bench_against(kReady, kTime, kCopy));
  EXPECT_THAT(temporaries(), ::testing::IsEmpty());
}

TEST_F(RivalTest, IsNamedAndHasAProgram) {
  for (const char* wrong : {"shell", "=/bin/sh", "shell=", "shell=  "})
    expect_error(run({"bench", model_, "--rival", wrong}), 2, "cli/bad-option", "--rival");
  expect_error(run({"bench", model_, "--quiet", "--rival", "collage=/bin/sh"}), 2, "cli/bad-option", "collage");
}

TEST_F(RivalTest, IsEasilyWrittenInPython) {
  const std::string python = COLLAGE_TEST_PYTHON;
  if (!std::filesystem::exists(python)) GTEST_SKIP() << "no Python with the package onnx";
  const Ended ended = bench("onnx=" + python + " " + test::source_path("/tools/rivals/reference_rival.py"));
  expect_good(ended);
  const nlohmann::json rival = parsed(ended.out)["contenders"].back();
  EXPECT_EQ(rival["name"], "onnx") << ended.out;
  EXPECT_EQ(rival["numbers"]["verdict"], "right");
}

}  // namespace
}  // namespace collage::testing
