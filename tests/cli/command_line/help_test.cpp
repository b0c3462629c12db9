// What --help shows, and what the program says about words that it does not know.
#include <sstream>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class HelpTest : public CliTest {
 protected:
  [[nodiscard]] std::string shown(const std::vector<std::string>& arguments) const {
    const Ended ended = run(arguments);
    expect_good(ended);
    return ended.out;
  }
};

TEST_F(HelpTest, ShowsOptionsThatActInTheCommandAndNoOthers) {
  const std::string explain = shown({"explain", "--help"});
  EXPECT_THAT(explain, AllOf(HasSubstr("--node GLOB"), HasSubstr("--shape NAME=SHAPE"), HasSubstr("--json FILE|-")));
  for (const char* idle : {"--threads", "--backends", "--seed", "--accuracy", "--input-range", "--only"})
    EXPECT_THAT(explain, Not(HasSubstr(idle)));
  EXPECT_THAT(shown({"backends", "--help"}), Not(HasSubstr("--shape")));
  EXPECT_THAT(shown({"workload", "--help"}), AllOf(Not(HasSubstr("--accuracy")), HasSubstr("--seed N=1")));
  EXPECT_THAT(shown({"verify", "--help"}), AllOf(Not(HasSubstr("--threads")), HasSubstr("--seeds N=1")));
  const std::string tune = shown({"tune", "--help"});
  for (const char* option : {"--threads", "--backends", "--store", "--seed", "--accuracy", "--input-range", "--only"})
    EXPECT_THAT(tune, HasSubstr(option));
}

TEST_F(HelpTest, ShowsSharedOptionsInAGroupAndExamplesBelow) {
  for (const char* command : {"tune", "run", "serve", "bench", "verify", "recheck", "repro", "explain", "diff",
                              "report", "sign", "backends", "strategies", "check", "limits", "workload"}) {
    const std::string text = shown({command, "--help"});
    EXPECT_THAT(text, HasSubstr(std::string("\nExamples:\n  collage ") + command)) << command;
    EXPECT_LT(text.find("--help"), text.find("Common options:")) << command;
    EXPECT_LT(text.find("Common options:"), text.find("--quiet")) << command;
    EXPECT_THAT(text, Not(HasSubstr("Excludes"))) << command;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
  EXPECT_THAT(shown({"--help"}), AllOf(HasSubstr("explain"), Not(HasSubstr("worker"))));
}

TEST_F(HelpTest, IsACommandToo) {
  EXPECT_EQ(shown({"help"}), shown({"--help"}));
  EXPECT_THAT(shown({"help", "run"}), HasSubstr("collage run [options] subject"));
  EXPECT_THAT(shown({"help", "db", "list"}), HasSubstr("--limit N=20"));
  expect_error(run({"help", "rnu"}), 2, "cli/usage", "did you mean run?");
  for (const char* version : {"version", "--version", "-V", "-v"})
    EXPECT_THAT(shown({version}), AllOf(StartsWith("collage 0."), HasSubstr("\nC interface 1\n"), HasSubstr("ONNX ")));
}

struct Mistyped {
  std::vector<std::string> line;
  std::string says;
  int exit_code = 2;
  std::string code = "cli/usage";
};

TEST_F(HelpTest, NamesTheWordThatWasMeant) {
  const std::string model = given("model.onnx", doubling_with_open_dimension());
  const std::vector<Mistyped> cases = {
      {{"tnue", model}, "no command 'tnue'; did you mean tune?"},
      {{"db", "stat"}, "no command 'stat'; did you mean stats?"},
      {{"tune", model, "--bakends", "native", "-o", file("p")}, "no option --bakends; did you mean --backends?"},
      {{"tune", model, "--budgte=3s"}, "no option --budgte; did you mean --budget?"},
      {{"check", model, "--dump", "simplfied"}, "did you mean simplified?"},
      {{"tune", model, "-o", file("p"), "--accuracy", "stict"}, "did you mean strict?"},
      {{"workload", "resnet5", "-o", file("w")}, "did you mean resnet50?", 2, "workload/unknown-name"},
      {{"strategies", "Cnov", "--backends", "native"}, "did you mean Conv?", 2, "strategies/unknown-operator"},
      {{"strategies", "--backends", "natve"}, "did you mean native?", 4, "backend/missing"},
      {{"check", model, "--backends", "onnxruntme"}, "did you mean onnxruntime?", 4, "backend/missing"},
      {{"bench", model, "--shape", "N=2", "--against", "onnxruntme"},
       "did you mean onnxruntime?",
       4,
       "backend/missing"},
      {quick_tune(model, file("p"), {"--shape", "N=2", "--ban", "*=onnxruntme"}), "did you mean onnxruntime?", 4,
       "backend/missing"},
      {{"run", model, "--shape", "n1=2"}, "neither an input nor an open dimension", 2, "import/unknown-binding"},
      {{"run", model, "--shape", "NN=2"}, "did you mean N?", 2, "import/unknown-binding"},
  };
  for (const Mistyped& one : cases) {
    SCOPED_TRACE(::testing::PrintToString(one.line));
    expect_error(run(one.line), one.exit_code, one.code, one.says);
  }
}

TEST_F(HelpTest, SaysWhichCommandsHaveAnOption) {
  const std::string line = run({"explain", file("plan.collage"), "--threads", "2"}).err;
  EXPECT_THAT(line, HasSubstr("collage explain: saw no option --threads, which is one of tune, run, bench, check"));
  EXPECT_THAT(run({"backends", "--backends", "onedn"}).err, HasSubstr("saw no option --backends"));
  EXPECT_THAT(run({"--threads", "2", "tune"}).err, HasSubstr("--threads before the command"));
  EXPECT_THAT(run({"verify", "a.collage", "b.collage"}).err, HasSubstr("'b.collage', an argument too many"));
}

TEST_F(HelpTest, SaysWhatAValueMayBe) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"bench", "m", "--seconds", "0"}, "--seconds: saw '0'; allowed a number above 0\n"},
      {{"bench", "m", "--seconds", "soon"}, "--seconds: saw 'soon'; allowed a number above 0\n"},
      {{"run", "m", "--threads", "0"}, "--threads: saw '0'; allowed a whole number from 1 to 1024\n"},
      {{"run", "m", "--seed", "-1"}, "--seed: saw '-1'; allowed a whole number, not below 0\n"},
      {{"tune", "m", "-o", "p", "--memory-cap", "much"},
       "--memory-cap: saw 'much'; allowed bytes above 0, such as 64MB\n"},
      {{"tune", "m", "-o", "p", "--memory-cap", "0"}, "--memory-cap: saw '0'; allowed bytes above 0, such as 64MB\n"},
      {{"run", "m", "--seed", "1", "--seed", "2"}, "--seed: saw it more than once; allowed it once\n"},
      {{"run", "m", "--seed"}, "--seed: saw no value; allowed a value behind it\n"},
      {{"run"}, "collage run: saw no subject; allowed a command line with it; see collage run --help\n"},
      {{"tune", "m"}, "collage tune: saw no --output; allowed a command line with it; see collage tune --help\n"},
  };
  for (const auto& [line, says] : cases) {
    SCOPED_TRACE(::testing::PrintToString(line));
    const Ended ended = run(line);
    expect_error(ended, 2, "cli/usage", says);
    EXPECT_EQ(ended.err, "collage: error[cli/usage]: " + says);
  }
}

}  // namespace
}  // namespace collage::testing
