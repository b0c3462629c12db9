// Models are read in a process of their own: whatever hostile code does there, the program answers, and nothing is
// left. Hostile code is planted in the place of protobuf's parser (tests/support/planted_parser.cpp).
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <optional>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/support/scoped_variable.h"

namespace collage::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Words = std::vector<std::string>;

class SandboxTest : public CliTest {
 protected:
  SandboxTest() : model_(given("model.onnx", doubling())) {}

  /// Sanitisers want to be loaded first.
  static bool can_plant() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
  }
  Ended planted(const std::string& what, const Words& arguments) const {
    const test::ScopedVariable preload("LD_PRELOAD", COLLAGE_PLANTED_PARSER);
    const test::ScopedVariable mode("COLLAGE_PLANTED", what);
    const test::ScopedVariable model("COLLAGE_PLANTED_MODEL", model_);
    return run(arguments);
  }
  /// Every command that reads a model.
  std::vector<Words> commands() const {
    return {{"check", model_},
            {"run", model_},
            {"bench", model_, "--seconds", "0.05"},
            {"tune", model_, "-o", file("model.collage"), "--store", "memory:", "--budget", "1s", "--quiet"}};
  }
  void expect_nothing_left() const {
    EXPECT_THAT(names(), ::testing::ElementsAre("model.onnx"));
    EXPECT_THAT(temporaries(), IsEmpty());
    EXPECT_THAT(processes_of(home()), IsEmpty());
  }

  std::string model_;
};

TEST_F(SandboxTest, AParserThatDiesIsAnErrorOfTheFile) {
  if (!can_plant()) GTEST_SKIP() << "a sanitiser";
  for (const auto& [what, how] : {std::pair{"crash", "SIGSEGV"}, {"abort", "SIGABRT"}})
    for (const Words& words : commands()) {
      SCOPED_TRACE(words.front());
      const Ended ended = planted(what, words);
      expect_error(ended, 3, "import/reader-died", model_);
      EXPECT_THAT(ended.err, HasSubstr(how));
      expect_nothing_left();
    }
}

TEST_F(SandboxTest, WithTrustTheProgramDies) {
  if (!can_plant()) GTEST_SKIP() << "a sanitiser";
  EXPECT_EQ(planted("crash", {"check", model_, "--trust"}).signal, SIGSEGV) << "what is planted works";
  expect_good(planted("", {"check", model_}));
  expect_good(run({"check", model_, "--trust"}));
}

TEST_F(SandboxTest, AParserThatHangsIsEndedAtTheLimit) {
  if (!can_plant()) GTEST_SKIP() << "a sanitiser";
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = planted("hang", {"check", model_, "--limit", "import-seconds=1"});
  expect_error(ended, 5, "import/limit", model_);
  EXPECT_THAT(ended.err, HasSubstr("--limit import-seconds=N"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  expect_nothing_left();
}

TEST_F(SandboxTest, AParserThatEatsMemoryIsEndedAtTheLimit) {
  if (!can_plant()) GTEST_SKIP() << "a sanitiser";
  const Ended ended = planted("eat", {"check", model_, "--limit", "import-memory=300000000"});
  expect_error(ended, 5, "import/limit", model_);
  EXPECT_THAT(ended.err, HasSubstr("--limit import-memory=N"));
  expect_nothing_left();
}

TEST_F(SandboxTest, AnAnswerThatIsNoneIsAnError) {
  if (!can_plant()) GTEST_SKIP() << "a sanitiser";
  const Ended ended = planted("answer", {"check", model_});
  expect_error(ended, 3, "import/reader-died", model_);
  expect_nothing_left();
}

TEST_F(SandboxTest, HostileCodeGetsNothing) {
  if (!can_plant()) GTEST_SKIP() << "a sanitiser";
  const Ended honest = run({"check", model_});
  std::optional<test::ScopedVariable> reads;
  if (honest.out.contains("no Landlock")) reads.emplace("COLLAGE_PLANTED_READS", "1");
  if (honest.out.contains("filters no system calls")) GTEST_SKIP() << "this kernel has no filters";
  const Ended ended = planted("escape", {"check", model_});
  expect_error(ended, 3, "import/reader-died", model_);
  EXPECT_THAT(ended.err, HasSubstr("SIGILL"));
  EXPECT_THAT(ended.err, Not(HasSubstr("escaped:")));
  expect_nothing_left();
}

TEST_F(SandboxTest, WorksWithoutWhatAKernelMayLackAndSaysSo) {
  if (!can_plant()) GTEST_SKIP() << "a sanitiser";
  const std::string no_filter = "filters no system calls";
  if (run({"check", model_}).out.contains(no_filter)) GTEST_SKIP() << "nor can a call be taken away here";
  const std::string no_landlock = "no Landlock";
  for (const int error : {ENOSYS, EPERM})
    for (const auto& [calls, note] : {std::pair("landlock", no_landlock),
                                      {"openat2", ""},
                                      {"seccomp", no_filter},
                                      {"landlock,openat2,seccomp", no_filter}}) {
      SCOPED_TRACE(calls);
      const test::ScopedVariable preload("LD_PRELOAD", COLLAGE_MISSING_CALLS);
      const test::ScopedVariable missing("COLLAGE_MISSING_CALLS", calls);
      const test::ScopedVariable number("COLLAGE_MISSING_ERROR", std::to_string(error));
      for (const Words& words : commands()) expect_good(run(words));
      EXPECT_THAT(run({"check", model_}).out, HasSubstr(note));
      expect_error(run({"check", given("noise.onnx", "noise")}), 3, "import/not-onnx", "noise.onnx");
      std::filesystem::remove(file("noise.onnx"));
      std::filesystem::remove(file("model.collage"));
      expect_nothing_left();
    }
}

TEST_F(SandboxTest, GivesWhatThisProcessWouldHaveRead) {
  for (const std::string& bytes : {small_network(), chain(40), two_products(), sum_with_open_dimension()}) {
    const std::string model = given("any.onnx", bytes);
    const Ended apart = run({"check", model, "--json", "-"});
    expect_good(apart);
    EXPECT_EQ(parsed(apart.out), parsed(run({"check", model, "--json", "-", "--trust"}).out));
    if (bytes == sum_with_open_dimension()) continue;
    EXPECT_EQ(run({"check", model, "--dump", "graph"}).out, run({"check", model, "--dump", "graph", "--trust"}).out);
    EXPECT_EQ(parsed(run({"run", model, "--json", "-"}).out)["outputs"],
              parsed(run({"run", model, "--json", "-", "--trust"}).out)["outputs"]);
  }
}

TEST_F(SandboxTest, ReadsDescriptorsAndNamesOfAnyBytes) {
  const std::string odd = given("mod\xff\xfe el.onnx", doubling());
  expect_good(run({"check", odd}));
  const std::string script =
      given("pipe.sh", "cat '" + model_ + "' | '" + std::string(test::build_path("/bin/collage")) + "' check - > '" +
                           file("said") + "'\n");
  EXPECT_EQ(std::system(("sh '" + script + "'").c_str()), 0);
  EXPECT_THAT(read_all(file("said")), HasSubstr("Add"));
}

TEST_F(SandboxTest, ErrorsAreThoseOfImport) {
  for (const char* trust : {"", "--trust"}) {
    Words more;
    if (*trust != '\0') more.emplace_back(trust);
    const auto check = [&](const std::string& model) {
      Words words = {"check", model};
      words.insert(words.end(), more.begin(), more.end());
      return run(words);
    };
    expect_error(check(file("nowhere.onnx")), 6, "import/not-found", "nowhere.onnx");
    expect_error(check(given("empty.onnx", "")), 3, "import/empty", "empty.onnx");
    expect_error(check(given("text.onnx", "this is no model")), 3, "import/not-onnx", "text.onnx");
    expect_error(check(given("op.onnx", with_operator("Nonsense", ""))), 4, "import/unknown-operator", "Nonsense");
    expect_error(check(file("")), 3, "import/not-a-file", file(""));
  }
}

}  // namespace
}  // namespace collage::testing
