// The program of an installed tree with backends that were built against that tree, and a program that runs its plans.
#include <stdlib.h>

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "plan/file/plan_file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/onnx/model_text.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Example {
  std::string project;
  std::string kind;
  [[nodiscard]] std::string folder() const { return BUILT_EXAMPLES "/" + project; }
  [[nodiscard]] std::string library() const { return folder() + "/libcollage_backend_" + kind + ".so"; }
};

/// The body of a function from x to y, f32 both.
std::string model(const std::string& type, const std::string& result, const std::string& weights,
                  const std::string& body) {
  return opset_model(17, fmt::format("example ({} x) => ({} y) <{}> {{ {} }}", type, result, weights, body));
}

/// An initialiser with values between -1 and 1, the same everywhere.
std::string weights(const std::string& name, int rows, int columns) {
  std::string values;
  for (int i = 0; i < rows * columns; ++i)
    values += fmt::format("{}{:.2f}", i == 0 ? "" : ", ", (i * 37 % 101 - 50) / 50.0);
  return fmt::format("float[{},{}] {} = {{{}}}", rows, columns, name, values);
}

class InstalledPrograms : public CliTest {
 protected:
  [[nodiscard]] Ended installed(const std::vector<std::string>& arguments) const {
    return Program(home(), arguments, INSTALLED_TREE "/bin/collage").wait();
  }

  /// Runs an example on a plan of y = floor(-x), then on a file that is not there, and looks at what it is linked with.
  void expect_runs(const std::string& example, const std::string& printed) const {
    const std::string plan = file("plan.collage");
    expect_good(
        installed({"tune", given("model.onnx", model("float[5,7]", "float[5,7]", "", "a = Neg (x) y = Floor (a)")),
                   "-o", plan, "--store", "memory:", "--budget", "5s", "--quiet"}));
    const std::string program = BUILT_EXAMPLES "/" + example;
    const Ended ran = Program(home(), {plan}, program).wait();
    EXPECT_EQ(ran.exit_code, 0) << describe(ran);
    EXPECT_EQ(ran.out, printed);
    const Ended missing = Program(home(), {file("none.collage")}, program).wait();
    EXPECT_EQ(missing.exit_code, 6) << describe(missing);
    EXPECT_THAT(missing.err, HasSubstr("error[io/"));
    const Ended libraries = Program(home(), {program}, "/usr/bin/ldd").wait();
    EXPECT_EQ(libraries.exit_code, 0) << describe(libraries);
    EXPECT_THAT(libraries.out, Not(HasSubstr("not found")));
    for (const char* other : {"onnxruntime", "openvino", "Halide", "protobuf", "sqlite"})
      EXPECT_THAT(libraries.out, Not(HasSubstr(other)));
  }

  /// Runs an example that tunes y = floor(-x), then on a model that is not there.
  void expect_tunes(const std::string& example, const std::string& printed) const {
    const std::string program = BUILT_EXAMPLES "/" + example;
    const std::string bytes = model("float[5,7]", "float[5,7]", "", "a = Neg (x) y = Floor (a)");
    const Ended ran = Program(home(), {given("model.onnx", bytes), file("plan.collage"), "3"}, program).wait();
    EXPECT_EQ(ran.exit_code, 0) << describe(ran);
    EXPECT_THAT(ran.out, HasSubstr(printed));
    EXPECT_TRUE(processes_of(home()).empty());
    const Ended missing = Program(home(), {file("none.onnx"), file("none.collage"), "3"}, program).wait();
    EXPECT_EQ(missing.exit_code, 6) << describe(missing);
    EXPECT_THAT(missing.err, HasSubstr("error[import/not-found]"));
  }
};

class InstalledBackends : public InstalledPrograms {
 protected:
  /// Steps of the backend in a plan made with it alone.
  int tune(const Example& example, const std::string& model_file, const std::string& plan) const {
    const Ended tuned =
        installed({"tune", model_file, "-o", plan, "--only", example.kind, "--backend-library", example.library(),
                   "--store", "memory:", "--budget", "5s", "--quiet", "--json", "-"});
    expect_good(tuned);
    return parsed(tuned.out)["backends"].value(example.kind, 0);
  }

  /// Tunes with the example, compares the plan with the reference, and runs it where the backend is found otherwise.
  void expect_right(const Example& example, const std::string& bytes, int steps) const {
    const std::string model_file = given("model.onnx", bytes);
    const std::string plan = file("plan.collage");
    EXPECT_EQ(tune(example, model_file, plan), steps);
    const Ended verified =
        installed({"verify", plan, "--seeds", "3", "--quiet", "--backend-library", example.library()});
    EXPECT_EQ(verified.exit_code, 0) << describe(verified);
    expect_error(installed({"run", plan}), 4, "plan/missing-backend", example.kind);
    ::setenv("COLLAGE_BACKEND_PATH", example.folder().c_str(), 1);
    expect_good(installed({"run", plan}));
    const Ended listed = installed({"backends", "--json", "-"});
    ::unsetenv("COLLAGE_BACKEND_PATH");
    expect_good(listed);
    bool is_usable = false;
    const nlohmann::json object = parsed(listed.out);
    for (const auto& backend : object["backends"])
      if (backend["name"] == example.kind) is_usable = backend["usable"];
    EXPECT_TRUE(is_usable) << listed.out;
  }
};

TEST_F(InstalledBackends, CompileAlone) {
  expect_right({"compile_alone", "example_chain"},
               model("float[5,7]", "float[5,7]", "", "a = Floor (x) b = Neg (a) y = Relu (b)"), 1);
}

TEST_F(InstalledBackends, CompileAloneByTheLabelsOfTheirPatterns) {
  expect_right({"compile_alone", "example_chain"},
               model("float[5,7]", "float[5,7]", "", "a = Neg (x) b = Max (x, a) y = Floor (b)"), 2);
  const std::string library = Example{"compile_alone", "example_chain"}.library();
  const Ended listed = installed({"check", file("model.onnx"), "--dump", "candidates", "--backends", "example_chain",
                                  "--backend-library", library});
  EXPECT_THAT(listed.out, HasSubstr("example_chain/magnitude:"));
}

TEST_F(InstalledBackends, CompileLink) {
  expect_right({"compile_link", "example_table"},
               model("float[8,8]", "float[8,8]", weights("w", 8, 8),
                     "a = Floor (x) b = Neg (a) c = MatMul (b, w) d = Relu (c) e = MatMul (d, w) y = Abs (e)"),
               3);
  const auto plan = load_plan(file("plan.collage"));
  ASSERT_TRUE(plan) << to_string(plan.error());
  std::set<std::string> artifacts;
  std::set<std::string> entries;
  for (const PlanStep& step : plan->plan.steps) {
    if (step.backend != "example_table") continue;
    const StepArtifact* const artifact = artifact_of(step);
    ASSERT_NE(artifact, nullptr);
    artifacts.insert(artifact->hash);
    entries.insert(artifact->entry);
  }
  EXPECT_EQ(artifacts.size(), 1U) << "one call of link has made one table";
  EXPECT_EQ(entries, (std::set<std::string>{"a", "fn", "r"}));
}

TEST_F(InstalledPrograms, RunsAPlanWithTheInstalledLibraryAlone) {
  expect_runs("run_plan/run_plan", "y f32[5,7][0] = -1\n");
}

TEST_F(InstalledPrograms, RunsAPlanInC99) { expect_runs("run_plan_c/run_plan_c", "y [5,7][0] = -1\n"); }

TEST_F(InstalledPrograms, RunsAPlanBuiltByMake) { expect_runs("run_plan_c_moved/run_plan_c", "y [5,7][0] = -1\n"); }

TEST_F(InstalledPrograms, TunesFromAMovedTree) {
  const std::string bytes = model("float[5,7]", "float[5,7]", "", "a = Neg (x) y = Floor (a)");
  const Ended tuned = Program(home(),
                              {"tune", given("model.onnx", bytes), "-o", file("plan.collage"), "--store",
                               "memory:", "--budget", "5s", "--quiet"},
                              MOVED_TREE "/bin/collage")
                          .wait();
  expect_good(tuned);
  expect_good(Program(home(), {"verify", file("plan.collage"), "--quiet"}, MOVED_TREE "/bin/collage").wait());
}

TEST_F(InstalledPrograms, RunsStoredPlansWithTheRuntimeAlone) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c"))
    GTEST_SKIP() << "this processor has no AVX2";
  const std::string program = BUILT_EXAMPLES "/run_plan_c_runtime/run_plan_c";
  for (const char* plan : {"host_only", "native_avx2", "many_shapes"}) {
    const std::string stored = test::source_path(std::string("/tests/api/c/stored/") + plan + ".collage");
    const Ended ran = Program(home(), {stored}, program).wait();
    EXPECT_EQ(ran.exit_code, 0) << describe(ran);
    EXPECT_THAT(ran.out, ::testing::StartsWith("y [")) << plan;
  }
}

TEST_F(InstalledPrograms, RunsAPlanInC99AndMapsNothingOfATune) {
  if (!std::filesystem::exists(INSTALLED_TREE "/lib/collage/libcollage_backend_native.so"))
    GTEST_SKIP() << "the native backend is not built";
  const std::string plan = file("plan.collage");
  expect_good(
      installed({"tune", given("model.onnx", model("float[5,7]", "float[5,7]", "", "a = Neg (x) y = Floor (a)")), "-o",
                 plan, "--only", "native", "--store", "memory:", "--budget", "5s", "--quiet"}));
  ::setenv("LD_DEBUG", "files", 1);
  const Ended ran = Program(home(), {plan}, BUILT_EXAMPLES "/run_plan_c/run_plan_c").wait();
  ::unsetenv("LD_DEBUG");
  EXPECT_EQ(ran.exit_code, 0) << describe(ran);
  EXPECT_THAT(ran.err, HasSubstr("calling init: " INSTALLED_TREE "/lib/collage/libcollage_backend_native.so"));
  for (const char* other : {"onnxruntime", "openvino", "Halide", "protobuf", "sqlite", "collage_tuner"})
    EXPECT_THAT(ran.err, Not(HasSubstr(other)));
}

TEST_F(InstalledPrograms, TunesInC99) { expect_tunes("tune_model_c/tune_model_c", "output[0] = -1\n"); }

TEST_F(InstalledPrograms, TunesBuiltByMake) { expect_tunes("tune_model_c_moved/tune_model_c", "output[0] = -1\n"); }

TEST_F(InstalledPrograms, TunesInCpp17) {
  expect_tunes("tune_model_cpp/tune_model_cpp", "output[0] = -1, without the tune -1\n");
}

TEST_F(InstalledPrograms, RunsAPlanInCpp17) { expect_runs("run_plan_cpp/run_plan_cpp", "y[0] = -1\n"); }

TEST_F(InstalledBackends, CompilePrepare) {
  const Example example{"compile_prepare", "example_product"};
  const std::string product = model("float[3,16]", "float[3,8]", weights("w", 16, 8), "y = MatMul (x, w)");
  expect_right(example, product, 1);
  EXPECT_THAT(read_all(file("plan.collage")), HasSubstr(".packed0"));  // the name of a prepared constant
  const auto with_option = [&](const std::string& option) {
    return installed({"check", file("model.onnx"), "--json", "-", "--backends", example.kind + ":" + option,
                      "--backend-library", example.library()});
  };
  EXPECT_EQ(parsed(with_option("columns=4").out)["backends"]["example_product:columns=4"], 0);
  EXPECT_EQ(parsed(with_option("columns=8").out)["backends"]["example_product:columns=8"], 1);
  EXPECT_THAT(with_option("rows=4").out, HasSubstr("option rows=4; allowed columns=NUMBER"));
}

TEST_F(InstalledBackends, LowerToCalls) {
  expect_right({"lower_call", "example_woofles"},
               model("float[5,7]", "float[5,7]", weights("w", 5, 7), "a = Add (x, w) b = Mul (a, x) y = Add (b, b)"),
               3);
}

TEST_F(InstalledBackends, LowerCodegen) {
  expect_right({"lower_codegen", "example_c"},
               model("float[5,7]", "float[5,7]", weights("w", 5, 7), "a = Sub (x, w) b = Neg (a) y = Relu (b)"), 1);
}

}  // namespace
}  // namespace collage::testing
