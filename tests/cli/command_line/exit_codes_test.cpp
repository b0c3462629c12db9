// The exit codes that docs/CLI.md promises, by what is wrong.
#include <filesystem>

#include "onnx/files/tensor_file.h"
#include "tests/cli/models.h"
#include "tests/cli/test_backends.h"

namespace collage::testing {
namespace {

struct Mistake {
  std::vector<std::string> command;
  std::string code;
};

class ExitCodesTest : public TestBackendsTest {
 protected:
  void expect_all(int exit_code, const std::vector<Mistake>& mistakes) const {
    for (const Mistake& one : mistakes) {
      SCOPED_TRACE(::testing::PrintToString(one.command));
      expect_error(run(one.command), exit_code, one.code);
    }
  }
  /// What is no file of any kind of ours.
  std::string rubbish_ = given("rubbish", "neither fish nor flesh\n");
  std::string model_ = given("model.onnx", doubling());
  std::string open_ = given("open.onnx", doubling_with_open_dimension());
};

TEST_F(ExitCodesTest, TwoIsAWrongCommandLine) {
  ASSERT_TRUE(write_npy(file("x.npy"), ramp({2, 3})));
  expect_all(2, {
                    {{"backends", "--lift", "nosuch"}, "cli/bad-option"},
                    {{"strategies", "Nosuch"}, "strategies/unknown-operator"},
                    {{"db", "prune", "--store", "memory:"}, "cli/bad-option"},
                    {{"db", "explain-miss", "no key", "--store", "memory:"}, "cli/bad-option"},
                    {{"db", "stats", "--store", "redis:x"}, "store/unknown-kind"},
                    {{"repro", file("none"), "--limit", "soon"}, "cli/bad-option"},
                    {{"workload", "nosuch", "-o", file("x.onnx")}, "workload/unknown-name"},
                    {{"run", model_, "--input-range", "x=3..1"}, "cli/bad-option"},
                    {{"run", model_, "--input", "z=" + file("x.npy")}, "input/unknown-name"},
                });
}

TEST_F(ExitCodesTest, ThreeIsABadModelPlanOrInput) {
  std::filesystem::create_directory(file("folder"));
  expect_all(3, {
                    {{"check", rubbish_}, "import/not-onnx"},
                    {{"check", given("empty.onnx", "")}, "import/empty"},
                    {{"check", file("folder")}, "import/not-a-file"},
                    {{"run", open_}, "import/unbound-dimension"},
                    {{"explain", given("rubbish.collage", "neither\n")}, "zip/damaged"},
                    {{"run", model_, "--input", "x=" + given("x.npy", "none\n")}, "tensor/malformed"},
                    {{"run", model_, "--input", "x=" + given("x.pb", "none\n")}, "tensor/malformed"},
                    {{"repro", file("folder")}, "repro/damaged"},
                    {{"repro", file("none")}, "repro/no-folder"},
                    {{"db", "show", "nothing", "--store", "memory:"}, "store/no-record"},
                });
}

TEST_F(ExitCodesTest, FourIsUnsupported) {
  expect_all(4, {
                    {{"check", given("operator.onnx", with_operator("Sponge", ""))}, "import/unknown-operator"},
                    {{"check", model_, "--backends", "nosuch"}, "backend/missing"},
                });
}

TEST_F(ExitCodesTest, FiveIsALimit) {
  expect_all(5, {{{"run", open_, "--shape", "N=99999999999"}, "input/too-large"}});
}

TEST_F(ExitCodesTest, SixIsAFileThatCannotBeReadOrWritten) {
  const std::string none = file("none");
  const std::string nowhere = file("none/x");
  expect_all(6, {
                    {{"check", none}, "import/not-found"},
                    {{"explain", none}, "io/cannot-read"},
                    {{"run", model_, "--input", "x=" + none + ".npy"}, "tensor/not-found"},
                    {{"check", model_, "--json", nowhere}, "io/cannot-write"},
                    {{"workload", "mnist", "-o", nowhere}, "file/cannot-write"},
                    {{"db", "stats", "--store", none}, "store/missing"},
                    {{"db", "stats", "--store", rubbish_}, "store/unreadable"},
                    {{"db", "stats", "--store", given("empty.sqlite", "")}, "store/unreadable"},
                    {{"db", "stats", "--store", given("short.sqlite", "x")}, "store/unreadable"},
                    {{"db", "import", none, "--store", none}, "io/cannot-read"},
                    {{"db", "merge", none, "--store", file("other")}, "store/missing"},
                    {{"strategies", "--store", none}, "store/missing"},
                    {{"backends", "--lift", "host", "--store", none}, "store/missing"},
                });
  EXPECT_EQ(names(), (std::vector<std::string>{"empty.sqlite", "model.onnx", "open.onnx", "rubbish", "short.sqlite"}));
}

}  // namespace
}  // namespace collage::testing
