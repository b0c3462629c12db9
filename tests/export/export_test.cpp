// `collage export` as a user meets it: libraries of tuned plans, loaded into this process and built into programs.
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <sstream>
#include <thread>

#include "onnx/files/tensor_file.h"
#include "plan/file/plan_file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/onnx/model_text.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kGood = 0;
constexpr int kUsage = 2;
constexpr int kUnsupported = 4;

/// The functions of an exported library whose names begin with `name`.
class Library {
 public:
  Library(const std::string& path, const std::string& name) : handle_(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(::dlerror());
    find(name + "_init", init);
    find(name + "_workspace_bytes", workspace_bytes);
    find(name + "_input", input);
    find(name + "_output", output);
    find(name + "_run", run);
    find(name + "_error", error);
    find(name + "_free", free);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { ::dlclose(handle_); }

  int (*init)(void*, std::size_t, void**) = nullptr;
  std::size_t (*workspace_bytes)() = nullptr;
  void* (*input)(void*, std::size_t) = nullptr;
  const void* (*output)(const void*, std::size_t) = nullptr;
  int (*run)(void*, const void* const*, void* const*) = nullptr;
  const char* (*error)(const void*) = nullptr;
  void (*free)(void*) = nullptr;

 private:
  template <class Function>
  void find(const std::string& name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(handle_, name.c_str()));
    if (function == nullptr) throw std::runtime_error("no " + name);
  }
  void* handle_;
};

/// A workspace whose bytes are those of no number, so that what a run reads unwritten is seen.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes) : bytes_(bytes), memory_(bytes + kAlignment, std::byte{0xff}) {}
  [[nodiscard]] std::byte* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (kAlignment - address % kAlignment) % kAlignment;
  }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

/// The outputs of one run on `image` in an instance of its own; empty when something went wrong.
std::vector<float> scores_of(const Library& library, const Tensor& image, std::size_t count) {
  Workspace workspace(library.workspace_bytes());
  void* instance = nullptr;
  if (library.init(workspace.data(), workspace.size(), &instance) != kGood) return {};
  std::vector<float> scores(count);
  const std::array<const void*, 1> inputs = {image.data.data()};
  const std::array<void*, 1> outputs = {scores.data()};
  if (library.run(instance, inputs.data(), outputs.data()) != kGood) scores.clear();
  library.free(instance);
  return scores;
}

/// What a shell command printed, and how it ended.
struct Said {
  int exit_code = -1;
  std::string text;
};

Said shell(const std::string& command) {
  Said said;
  FILE* pipe = ::popen(("(" + command + ") 2>&1").c_str(), "r");
  if (pipe == nullptr) return said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said.text += static_cast<char>(c);
  const int status = ::pclose(pipe);
  said.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return said;
}

class ExportTest : public CliTest {
 protected:
  static constexpr std::size_t kScores = 5;

  void SetUp() override {
    const fs::path modules = test::build_path("/lib/collage");
    for (const char* backend : {"native", "onnxruntime"})
      if (!fs::exists(modules / ("libcollage_backend_" + std::string(backend) + ".so")))
        GTEST_SKIP() << "no " << backend << " here";
    const Ended tuned =
        tuned_once(given("model.onnx", small_network()), plan_, {"--deploy", "library", "--portable", "--json", "-"});
    ASSERT_EQ(tuned.exit_code, 0) << describe(tuned);
    report_ = parsed(tuned.out);
  }
  void TearDown() override { ::unsetenv("COLLAGE_INSTRUCTION_SETS"); }

  [[nodiscard]] std::vector<std::string> arguments(const std::string& folder) const {
    fs::create_directories(file(folder));
    return {"export",   plan_,
            "-o",       file(folder + "/libdet.so"),
            "--header", file(folder + "/det.h"),
            "--static", file(folder + "/libdet.a"),
            "--json",   "-"};
  }
  /// The exported library; made once in a process.
  [[nodiscard]] std::string library() const {
    const Ended made = made_once("export", [&] { return run(arguments("out")); });
    EXPECT_EQ(made.exit_code, 0) << describe(made);
    EXPECT_EQ(parsed(made.out)["name"], "det");
    return file("out/libdet.so");
  }
  /// What the plan itself says for the image.
  [[nodiscard]] std::vector<float> scores_of_plan() const {
    EXPECT_TRUE(write_npy(file("image.npy"), image_));
    expect_good(run({"run", plan_, "--input", "image=" + file("image.npy"), "--output-dir", file("ran")}));
    const auto output = read_npy(file("ran/output_0.npy"));
    EXPECT_TRUE(output);
    const auto values = output->data.as<float>();
    return {values.begin(), values.end()};
  }

  std::string plan_ = file("model.collage");
  Tensor image_ = ramp({1, 3, 8, 8});
  nlohmann::json report_;
};

TEST_F(ExportTest, TunesForALibraryWithItsBackendsAlone) {
  EXPECT_EQ(report_["deploy"]["target"], "library");
  EXPECT_TRUE(report_["deploy"].contains("ratio")) << "the whole-model engine is still timed: " << report_["deploy"];
  EXPECT_EQ(report_["shipped"], "cover");
  for (const std::string& name : keys_of(report_["backends"])) EXPECT_THAT(name, AnyOf("host", "native"));
}

TEST_F(ExportTest, GivesTheNumbersOfThePlan) {
  const Library det(library(), "det");
  EXPECT_EQ(scores_of(det, image_, kScores), scores_of_plan());
}

TEST_F(ExportTest, ComputesInPlaceInTheMemoryOfTheWorkspace) {
  const Library det(library(), "det");
  Workspace workspace(det.workspace_bytes());
  void* instance = nullptr;
  ASSERT_EQ(det.init(workspace.data(), workspace.size(), &instance), kGood);
  std::memcpy(det.input(instance, 0), image_.data.data(), image_.data.size());
  ASSERT_EQ(det.run(instance, nullptr, nullptr), kGood) << det.error(instance);
  const auto* const scores = static_cast<const float*>(det.output(instance, 0));
  EXPECT_EQ(std::vector<float>(scores, scores + kScores), scores_of_plan());
  EXPECT_EQ(det.input(instance, 1), nullptr);
  EXPECT_EQ(det.output(instance, 1), nullptr);
  EXPECT_STREQ(det.error(instance), "");
  det.free(instance);
}

TEST_F(ExportTest, NeedsTheCLibraryAlone) {
  const std::string needed = shell("ldd '" + library() + "'").text;
  EXPECT_THAT(needed, HasSubstr("libc.so"));
  std::istringstream lines(needed);
  for (std::string line; std::getline(lines, line);)
    EXPECT_THAT(line.substr(line.find_first_not_of(" \t")),
                AnyOf(StartsWith("linux-vdso"), StartsWith("libc.so"), StartsWith("libm.so"), StartsWith("libpthread"),
                      StartsWith("/lib64/ld-linux")));
  EXPECT_EQ(shell("nm -D --undefined-only '" + library() + "' | grep -E 'dlopen|dlsym|memfd'").text, "");
}

TEST_F(ExportTest, IsSeenByTheNamesOfItsHeaderAlone) {
  const std::string defined = shell("nm -D --defined-only '" + library() + "'").text;
  EXPECT_THAT(defined, HasSubstr(" T det_init"));
  std::istringstream lines(defined);
  for (std::string address, kind, name; lines >> address >> kind >> name;) EXPECT_THAT(name, StartsWith("det_"));
}

TEST_F(ExportTest, HasInstancesThatRunAtTheSameTime) {
  const Library det(library(), "det");
  const std::vector<float> expected = scores_of(det, image_, kScores);
  ASSERT_EQ(expected.size(), kScores);
  std::array<bool, 8> agrees{};
  std::vector<std::thread> threads;
  for (bool& good : agrees)
    threads.emplace_back([&] {
      good = true;
      for (int i = 0; i < 10; ++i) good = good && scores_of(det, image_, kScores) == expected;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(agrees, ::testing::Each(true));
}

TEST_F(ExportTest, RefusesAWorkspaceThatDoesNotDo) {
  const Library det(library(), "det");
  Workspace workspace(det.workspace_bytes() + 64);
  void* instance = nullptr;
  EXPECT_EQ(det.init(nullptr, workspace.size(), &instance), kUsage);
  EXPECT_EQ(det.init(workspace.data() + 4, det.workspace_bytes(), &instance), kUsage);
  EXPECT_EQ(instance, nullptr);
  EXPECT_THAT(det.error(instance), HasSubstr("alignment"));
  EXPECT_EQ(det.init(workspace.data(), 100, &instance), kUsage);
  EXPECT_EQ(det.init(workspace.data(), det.workspace_bytes() - 1, &instance), kUsage);
  ASSERT_NE(instance, nullptr);
  EXPECT_THAT(det.error(instance), HasSubstr("too small"));
  EXPECT_EQ(det.run(instance, nullptr, nullptr), kUsage);
  det.free(instance);
  det.free(nullptr);
}

TEST_F(ExportTest, HasAStatusForAProcessorWithoutTheInstructions) {
  const Library det(library(), "det");
  ::setenv("COLLAGE_INSTRUCTION_SETS", "none", 1);
  Workspace workspace(det.workspace_bytes());
  void* instance = nullptr;
  EXPECT_EQ(det.init(workspace.data(), workspace.size(), &instance), kUnsupported);
  EXPECT_THAT(det.error(instance), HasSubstr("native"));
  det.free(instance);
}

TEST_F(ExportTest, RunsOnALesserProcessor) {
  if (!__builtin_cpu_supports("avx512bw")) GTEST_SKIP() << "this is the least processor";
  const Library det(library(), "det");
  const std::vector<float> here = scores_of(det, image_, kScores);
  ::setenv("COLLAGE_INSTRUCTION_SETS", "avx2", 1);
  const std::vector<float> there = scores_of(det, image_, kScores);
  ASSERT_EQ(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_NEAR(there[i], here[i], 1e-5) << i;
}

TEST_F(ExportTest, GivesEqualBytesForEqualPlans) {
  const std::string first = library();
  ASSERT_EQ(run(arguments("again")).exit_code, 0);
  for (const char* name : {"libdet.so", "libdet.a", "det.h"})
    EXPECT_TRUE(read_all(file("out/" + std::string(name))) == read_all(file("again/" + std::string(name)))) << name;
}

TEST_F(ExportTest, BuildsTheExampleWhichRunsAlone) {
  const std::string collage = test::build_path("/bin/collage");
  fs::create_directories(file("example"));
  const Said built =
      shell("cd '" + file("example") + "' && make -f '" + test::source_path("/examples/export/Makefile") + "' PLAN='" +
            plan_ + "' COLLAGE='" + collage + "'");
  ASSERT_EQ(built.exit_code, 0) << built.text;
  fs::create_directories(file("alone"));
  for (const char* name : {"run_model", "run_model_static", "libmodel.so"})
    fs::copy_file(file("example/" + std::string(name)), file("alone/" + std::string(name)));
  const Said shared = shell("cd '" + file("alone") + "' && env -i ./run_model");
  EXPECT_EQ(shared.exit_code, 0) << shared.text;
  EXPECT_THAT(shared.text, StartsWith("scores[0] = "));
  fs::remove(file("alone/libmodel.so"));
  const Said archive = shell("cd '" + file("alone") + "' && env -i ./run_model_static");
  EXPECT_EQ(archive.exit_code, 0) << archive.text;
  EXPECT_EQ(archive.text, shared.text);
  const Said timed = shell("cd '" + file("example") + "' && ./time_model ./libmodel.so 0.05");
  EXPECT_EQ(timed.exit_code, 0) << timed.text;
  EXPECT_THAT(timed.text, HasSubstr("run "));
}

TEST_F(ExportTest, LinksTwoModelsIntoOneProgram) {
  (void)library();
  const std::string other = file("double.collage");
  const Ended tuned = run(quick_tune(given("double.onnx", doubling()), other, {"--deploy", "library"}));
  ASSERT_EQ(tuned.exit_code, 0) << describe(tuned);
  const Ended made = run({"export", other, "-o", file("out/libtwice.so"), "--header", file("out/twice.h"), "--static",
                          file("out/libtwice.a")});
  ASSERT_EQ(made.exit_code, 0) << describe(made);
  const std::string program = given("two.c", R"(
#include "det.h"
#include "twice.h"
#include <stdio.h>
static unsigned char det_memory[DET_WORKSPACE_BYTES] __attribute__((aligned(DET_ALIGNMENT)));
static unsigned char twice_memory[TWICE_WORKSPACE_BYTES] __attribute__((aligned(TWICE_ALIGNMENT)));
int main(void) {
  det_instance* det = NULL;
  twice_instance* twice = NULL;
  if (det_init(det_memory, sizeof det_memory, &det) != DET_GOOD) return 1;
  if (twice_init(twice_memory, sizeof twice_memory, &twice) != TWICE_GOOD) return 2;
  const float x[6] = {1, 2, 3, 4, 5, 6};
  float y[6] = {0};
  const void* const inputs[] = {x};
  void* const outputs[] = {y};
  if (twice_run(twice, inputs, outputs) != TWICE_GOOD || det_run(det, NULL, NULL) != DET_GOOD) return 3;
  printf("%g %g\n", y[0], y[5]);
  det_free(det);
  twice_free(twice);
  return 0;
}
)");
  const Said built = shell("cd '" + file("out") + "' && cc -std=c99 -Wall -Wextra -pedantic -Werror -I. -o two '" +
                           program + "' libdet.a libtwice.a -lm -lpthread && env -i ./two");
  EXPECT_EQ(built.exit_code, 0) << built.text;
  EXPECT_EQ(built.text, "2 12\n");
}

TEST_F(ExportTest, HasAHeaderForProgramsInCpp) {
  const std::string program = given("program.cpp", "#include \"det.h\"\nint main() { return det_abi() != DET_ABI; }\n");
  (void)library();
  const Said built =
      shell("cd '" + file("out") + "' && c++ -std=c++17 -Wall -Wextra -pedantic -Werror -I. -o program '" + program +
            "' -L. -ldet -Wl,-rpath,. && ./program");
  EXPECT_EQ(built.exit_code, 0) << built.text;
}

TEST_F(ExportTest, RunsAPlanOfSeveralThreads) {
  const std::string other = file("threads.collage");
  const Ended tuned = run(quick_tune(file("model.onnx"), other, {"--deploy", "library", "--threads", "2"}));
  ASSERT_EQ(tuned.exit_code, 0) << describe(tuned);
  const Ended made =
      run({"export", other, "-o", file("libtwo.so"), "--header", file("two.h"), "--static", file("libtwo.a")});
  ASSERT_EQ(made.exit_code, 0) << describe(made);
  EXPECT_THAT(shell("ldd '" + file("libtwo.so") + "'").text, HasSubstr("libgomp.so"));
  const std::vector<float> scores = scores_of(Library(file("libtwo.so"), "two"), image_, kScores);
  EXPECT_NE(::dlopen(file("libtwo.so").c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << "threads of its pool are left";
  const std::vector<float> expected = scores_of_plan();
  ASSERT_EQ(scores.size(), expected.size());
  for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], expected[i], 1e-5) << i;
}

TEST_F(ExportTest, RunsBothBranchesOfAnIf) {
  const std::string model = bytes_of(model_of(R"(<ir_version: 8, opset_import: ["": 17]>
      choose (bool c, float[4] x) => (float[4] y) {
        d = Add (x, x)
        b = If (c) <then_branch = same () => (float[4] t) { t = Mul (d, x) },
                    else_branch = other () => (float[4] e) { e = Sub (x, d) }>
        y = Relu (b)
      })"));
  const std::string other = file("if.collage");
  const Ended tuned = run(quick_tune(given("if.onnx", model), other, {"--deploy", "library"}));
  ASSERT_EQ(tuned.exit_code, 0) << describe(tuned);
  const Ended made = run({"export", other, "-o", file("libif.so"), "--header", file("if.h"), "--name", "chosen"});
  ASSERT_EQ(made.exit_code, 0) << describe(made);
  const Library chosen(file("libif.so"), "chosen");
  Workspace workspace(chosen.workspace_bytes());
  void* instance = nullptr;
  ASSERT_EQ(chosen.init(workspace.data(), workspace.size(), &instance), kGood);
  const std::array<float, 4> x = {1, -2, 3, -4};
  const auto answer = [&](bool condition) {
    std::vector<float> y(x.size());
    const std::array<const void*, 2> inputs = {&condition, x.data()};
    const std::array<void*, 1> outputs = {y.data()};
    EXPECT_EQ(chosen.run(instance, inputs.data(), outputs.data()), kGood) << chosen.error(instance);
    return y;
  };
  EXPECT_THAT(answer(true), ::testing::ElementsAre(2, 8, 18, 32));
  EXPECT_THAT(answer(false), ::testing::ElementsAre(0, 2, 0, 4));
  chosen.free(instance);
}

TEST_F(ExportTest, WritesNoFileWhenOneCannotBeMade) {
  const Ended refused = run({"export", plan_, "-o", file("same"), "--header", file("same")});
  expect_error(refused, kUsage, "export/same-file", "same");
  EXPECT_FALSE(fs::exists(file("same")));
}

TEST_F(ExportTest, RefusesAPlanOfOtherBackendsByTheNamesOfItsSteps) {
  const std::string other = file("engine.collage");
  const Ended tuned =
      run(quick_tune(given("double.onnx", doubling()), other, {"--only", "onnxruntime", "--pin", "*=onnxruntime"}));
  ASSERT_EQ(tuned.exit_code, 0) << describe(tuned);
  const Ended refused = run({"export", other, "-o", file("lib.so"), "--header", file("lib.h")});
  expect_error(refused, kUnsupported, "export/backend", "onnxruntime");
  EXPECT_THAT(refused.err, HasSubstr("step 0"));
  EXPECT_THAT(refused.err, HasSubstr("--deploy library"));
  EXPECT_FALSE(fs::exists(file("lib.so")));
}

TEST_F(ExportTest, RefusesATuneForALibraryThatNobodyCanRun) {
  const std::string model =
      bytes_of(model_of(R"(<ir_version: 8, opset_import: ["": 13]> g (float[4] x) => (float[4] v, int64[4] i) {
        k = Constant<value = int64[1] {4}>()
        v, i = TopK(x, k)
      })"));
  const Ended refused = run(quick_tune(given("topk.onnx", model), file("topk.collage"), {"--deploy", "library"}));
  EXPECT_EQ(refused.exit_code, kUnsupported) << describe(refused);
  EXPECT_THAT(refused.err, HasSubstr("TopK"));
}

TEST_F(ExportTest, SaysWhatToInstallWithoutALinker) {
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  const Ended refused = run({"export", plan_, "-o", file("lib.so"), "--header", file("lib.h")});
  ::setenv("PATH", path.c_str(), 1);
  expect_error(refused, kUnsupported, "export/no-linker", "g++");
}

TEST_F(ExportTest, TakesANameThatIsAnIdentifier) {
  const Ended refused = run({"export", plan_, "-o", file("lib.so"), "--header", file("lib.h"), "--name", "My Model"});
  expect_error(refused, kUsage, "export/bad-name", "my_model");
}

}  // namespace
}  // namespace collage::testing
