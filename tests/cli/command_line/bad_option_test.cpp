// What the program says about a wrong command line and about places it cannot write to.
#include <sys/stat.h>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

using ::testing::IsEmpty;

class BadOptionTest : public CliTest {
 protected:
  BadOptionTest() : model_(given("model.onnx", doubling())) {}
  std::string model_;
};

TEST_F(BadOptionTest, IsAMistakeInTheCommandLine) {
  const std::vector<std::vector<std::string>> lines = {
      {},
      {"nosuch"},
      {"run"},
      {"run", model_, "--nosuch"},
      {"tune", model_},
      {"run", model_, "--threads", "0"},
      {"run", model_, "--threads", "many"},
      {"run", model_, "--seed", "-1"},
      {"run", model_, "--accuracy", "foo"},
      quick_tune(model_, file("out.collage"), {"--accuracy", "foo"}),
      {"check", model_, "--dump", "everything"},
      quick_tune(model_, file("out.collage"), {"--dump", "graph"}),
      {"verify", file("out.collage"), "--seeds", "0"},
      {"bench", file("out.collage"), "--seconds", "-1"},
      {"serve"},
      {"serve", file("out.collage"), "--port", "70000"},
      {"serve", file("out.collage"), "--no-batching", "--batch-delay", "5"},
  };
  for (const auto& line : lines) {
    SCOPED_TRACE(::testing::PrintToString(line));
    expect_error(run(line), 2, "cli/usage");
  }
  EXPECT_THAT(run({"nosuch"}).err, ::testing::HasSubstr("'nosuch'"));
  EXPECT_THAT(names(), ::testing::ElementsAre("model.onnx"));
}

TEST_F(BadOptionTest, HasAValueThatMeansNothing) {
  const std::string plan = file("out.collage");
  expect_error(run({"serve", plan, "other/" + plan}), 2, "cli/bad-option", "a second model out");
  expect_error(run({"serve", file("a b.collage")}), 2, "cli/bad-option", "the name 'a b'");
  expect_error(run({"serve", plan}), 6, "io/cannot-read", plan);
  expect_error(run({"run", model_, "--shape", "x=abc"}), 2, "shape/malformed", "abc");
  expect_error(run({"check", model_, "--shape", "x=-1"}), 2, "shape/malformed", "-1");
  expect_error(run({"check", model_, "--shape", "x"}), 2, "shape/malformed", "x");
  expect_error(run({"run", model_, "--shape", "x=2x3", "--shape", "x=3x2"}), 2, "shape/twice", "x");
  expect_error(run({"run", model_, "--shape", "x=1..4"}), 2, "shape/range", "1..4");
  expect_error(run({"run", model_, "--shape", "x=4..1"}), 2, "shape/empty-range", "4..1");
  expect_error(run(quick_tune(model_, plan, {"--shape", "x=1..4"})), 2, "shape/range", "input");
  expect_error(run(quick_tune(model_, plan, {"--at", "x=1"})), 2, "cli/bad-option", "--at");
  expect_error(run({"run", model_, "--input", "x"}), 2, "cli/bad-option", "--input");
  expect_error(run({"run", model_, "--input-range", "x=3..1"}), 2, "cli/bad-option", "3..1");
  expect_error(run({"run", model_, "--input-range", "z=0..1"}), 2, "input/unknown-name", "z");
  expect_error(run({"tune", model_, "-o", plan, "--budget", "0"}), 2, "cli/bad-option", "--budget");
  expect_error(run({"tune", model_, "-o", plan, "--budget", "soon"}), 2, "cli/bad-option", "--budget");
  expect_error(run({"tune", model_, "-o", plan, "--store", "redis:x", "--quiet"}), 2, "store/unknown-kind", "redis");
  expect_error(run(quick_tune(model_, plan, {"--ban", "no equals sign"})), 2, "tune/bad-rule", "--ban");
  expect_error(run(quick_tune(model_, plan, {"--ban", "nosuchnode*=onnxruntime"})), 2, "tune/bad-rule", "nosuchnode*");
  expect_error(run(quick_tune(model_, plan, {"--rules", "/nowhere/my.rules"})), 6, "region/cannot-read", "my.rules");
  expect_error(run({"workload", "nosuch", "-o", file("w.onnx")}), 2, "workload/unknown-name", "nosuch");
  expect_error(run({"workload", "mnist"}), 2, "cli/bad-option", "-o");
  expect_error(run({"workload", "mnist", "-o", file("w.onnx"), "--batch", "0"}), 2, "cli/usage", "--batch");
  EXPECT_THAT(names(), ::testing::ElementsAre("model.onnx"));
  EXPECT_THAT(temporaries(), IsEmpty());
}

TEST_F(BadOptionTest, NamesABackendThatIsNotHere) {
  const std::string plan = file("out.collage");
  expect_error(run(quick_tune(model_, plan, {"--backends", "nosuch"})), 4, "backend/missing", "nosuch");
  expect_error(run(quick_tune(model_, plan, {"--backends", "onnxruntime,nosuch"})), 4, "backend/missing", "nosuch");
  expect_error(run(quick_tune(model_, plan, {"--only", "nosuch"})), 4, "backend/missing", "nosuch");
  expect_error(run(quick_tune(model_, plan, {"--ban", "*=nosuch"})), 4, "backend/missing", "nosuch");
  expect_error(run({"check", model_, "--backends", "nosuch"}), 4, "backend/missing", "nosuch");
  expect_error(run(quick_tune(model_, plan, {"--backends", "onnxruntime:opt=silly"})), 4, "backend/unusable", "silly");
  EXPECT_THAT(names(), ::testing::ElementsAre("model.onnx"));
  EXPECT_THAT(temporaries(), IsEmpty());
}

TEST_F(BadOptionTest, NamesAPlaceThatCannotBeWritten) {
  const std::string nowhere = file("missing") + "/out";
  // The model does not exist either: that the place is named shows that it was looked at first.
  expect_error(run(quick_tune(file("none.onnx"), nowhere)), 6, "io/cannot-write", nowhere);
  expect_error(run(quick_tune(file("none.onnx"), file(""))), 6, "io/cannot-write", file(""));
  for (const std::string option : {"--json", "--events"}) {
    expect_error(run({"run", file("none.onnx"), option, nowhere}), 6, "io/cannot-write", nowhere);
    expect_error(run({"run", file("none.onnx"), option, file("")}), 6, "io/cannot-write", file(""));
  }
  expect_error(run({"run", model_, "--profile", nowhere}), 6, "io/cannot-write", nowhere);
  expect_error(run({"run", model_, "--trace", nowhere}), 6, "io/cannot-write", nowhere);
  expect_error(run({"run", model_, "--output-dir", model_}), 6, "io/cannot-write", model_);
  expect_error(run({"workload", "mnist", "-o", nowhere}), 6, "file/cannot-write", nowhere);
  EXPECT_THAT(names(), ::testing::ElementsAre("model.onnx"));
}

TEST_F(BadOptionTest, NamesSomethingThatMustNotBeReplaced) {
  const std::string pipe = file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_error(run(quick_tune(model_, pipe)), 6, "io/cannot-write", pipe);
  expect_error(run({"workload", "mnist", "-o", pipe}), 6, "file/cannot-write", pipe);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  expect_error(run(quick_tune(model_, model_)), 2, "cli/bad-option", "another file than the model");
  EXPECT_EQ(read_all(model_), doubling());
}

TEST_F(BadOptionTest, MayNameFilesWithAnyBytes) {
  const std::string strange = given("strange\xff\n.onnx", doubling());
  expect_good(run({"run", strange, "--json", "-"}));
  const Ended tuned = run(quick_tune(strange, file("strange\xff.collage"), {"--json", "-"}));
  expect_good(tuned);
  EXPECT_EQ(parsed(tuned.out)["schema"], "collage.tune/1");
  expect_good(run({"verify", file("strange\xff.collage")}));
  expect_error(run({"check", file("none\xff\n.onnx")}), 6, "import/not-found");
}

TEST_F(BadOptionTest, WritesToAFullDevice) {
  Program program(home(), {"backends"}, test::build_path("/bin/collage"), "/dev/full");
  expect_error(program.wait(), 6, "io/cannot-write", "standard output");
}

TEST_F(BadOptionTest, IsSaidInJsonToo) {
  const Ended ended = run({"run", file("none.collage"), "--json", "-"});
  EXPECT_EQ(ended.exit_code, 6);
  const nlohmann::json json = parsed(ended.out);
  EXPECT_EQ(json["schema"], "collage.error/1");
  EXPECT_EQ(json["error"]["code"], "io/cannot-read");
  EXPECT_EQ(json["error"]["where"], file("none.collage"));
  EXPECT_THAT(ended.err, ::testing::HasSubstr(json["error"]["message"].get<std::string>()));
  EXPECT_EQ(parsed(run({"run", model_, "--nosuch", "--json", "-"}).out)["error"]["code"], "cli/usage");
}

}  // namespace
}  // namespace collage::testing
