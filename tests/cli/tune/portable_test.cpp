// Plans with kernels of the native compiler on other machines: a processor with fewer instructions, a system with
// nothing installed.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include "onnx/files/tensor_file.h"
#include "plan/file/plan_file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kMask = "COLLAGE_INSTRUCTION_SETS";
const fs::path kModules = test::build_path("/lib/collage");

/// What a shell command printed, and how it ended.
struct Said {
  int exit_code = -1;
  std::string text;
};

Said shell(const std::string& command) {
  Said said;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said.text += static_cast<char>(c);
  const int status = ::pclose(pipe);
  said.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return said;
}

/// The files that the dynamic loader maps for a program or module, as ldd lists them.
std::vector<fs::path> libraries_of(const fs::path& file) {
  std::vector<fs::path> libraries;
  std::istringstream words(shell("ldd '" + file.string() + "'").text);
  for (std::string word; words >> word;)
    if (word.starts_with('/') && !word.ends_with(':')) libraries.emplace_back(word);
  return libraries;
}

class PortablePlanTest : public CliTest {
 protected:
  void SetUp() override {
    if (!fs::exists(kModules / "libcollage_backend_native.so")) GTEST_SKIP() << "no native backend here";
    if (!fs::exists(kModules / "libcollage_backend_onnxruntime.so")) GTEST_SKIP() << "no reference here";
    ASSERT_TRUE(write_npy(file("image.npy"), ramp({1, 3, 8, 8})));
    const Ended tuned =
        tuned_once(given("model.onnx", small_network()), plan_, {"--only", "native", "--portable", "--json", "-"});
    ASSERT_EQ(tuned.exit_code, 0) << describe(tuned);
    report_ = parsed(tuned.out);
    if (!report_["backends"].contains("native")) GTEST_SKIP() << "a plan without native steps: " << tuned.out;
  }
  void TearDown() override { ::unsetenv(kMask); }

  [[nodiscard]] std::vector<double> scores() const {
    const auto output = read_npy(file("out/output_0.npy"));
    EXPECT_TRUE(output);
    return output ? floats_of(*output).value() : std::vector<double>();
  }
  [[nodiscard]] std::vector<std::string> run_arguments() const {
    return {"run", plan_, "--input", "image=" + file("image.npy"), "--output-dir", file("out")};
  }

  std::string plan_ = file("model.collage");
  nlohmann::json report_;
};

TEST_F(PortablePlanTest, RunsOnALesserProcessorAndSaysSo) {
  if (!__builtin_cpu_supports("avx512bw")) GTEST_SKIP() << "this is the least processor";
  EXPECT_THAT(report_["notes"].dump(), Not(HasSubstr("no processor with fewer")));
  expect_good(run(run_arguments()));
  const std::vector<double> here = scores();
  ::setenv(kMask, "avx2", 1);
  const Ended ended = run(run_arguments());
  EXPECT_EQ(ended.exit_code, 0) << describe(ended);
  EXPECT_THAT(ended.err, HasSubstr("native: kernels for avx2 instead of avx512"));
  const std::vector<double> there = scores();
  ASSERT_EQ(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_NEAR(there[i], here[i], 1e-5) << i;
}

TEST_F(PortablePlanTest, HasItsKernelsInOneSharedObject) {
  const auto plan = load_plan(plan_);
  ASSERT_TRUE(plan) << to_string(plan.error());
  std::size_t steps = 0;
  std::set<std::string> artifacts;
  std::set<std::string> entries;
  for (const PlanStep& step : plan->plan.steps) {
    if (step.backend != "native") continue;
    ++steps;
    const StepArtifact* const artifact = artifact_of(step);
    ASSERT_NE(artifact, nullptr);
    artifacts.insert(artifact->hash);
    entries.insert(artifact->entry);
  }
  EXPECT_GE(steps, 2U) << report_["backends"].dump();
  EXPECT_EQ(artifacts.size(), 1U);
  EXPECT_EQ(entries.size(), steps) << "another kernel for each step";
  EXPECT_FALSE(entries.contains(""));
  expect_good(run({"verify", plan_, "--seeds", "2"}));
}

TEST_F(PortablePlanTest, IsRefusedWithReasonsWhereNoneOfItsKernelsRuns) {
  ::setenv(kMask, "none", 1);
  const Ended ended = run(run_arguments());
  EXPECT_EQ(ended.exit_code, 4) << describe(ended);
  EXPECT_THAT(ended.err, HasSubstr("native"));
}

// Neither a compiler, nor a linker, nor Halide: the program, two modules and what these are linked with.
TEST_F(PortablePlanTest, RunsWhereNothingElseIsInstalled) {
  const std::string root = file("root");
  const auto add = [&](const fs::path& from, const std::string& to) {
    fs::create_directories(fs::path(root + to).parent_path());
    fs::copy_file(from, root + to, fs::copy_options::skip_existing);
    for (const fs::path& library : libraries_of(from)) {
      fs::create_directories(fs::path(root + library.string()).parent_path());
      fs::copy_file(library, root + library.string(), fs::copy_options::skip_existing);
    }
  };
  const std::string program = test::build_path("/bin/collage");
  add(program, program);
  for (const char* module : {"libcollage_backend_host.so", "libcollage_backend_native.so"})
    add(kModules / module, (kModules / module).string());
  for (const auto& entry : fs::recursive_directory_iterator(root))
    EXPECT_THAT(entry.path().filename().string(), AllOf(Not(HasSubstr("Halide")), Not(HasSubstr("compiler"))));
  add("/bin/true", "/bin/true");
  fs::copy_file(plan_, root + "/model.collage");
  fs::copy_file(file("image.npy"), root + "/image.npy");
  fs::create_directory(root + "/tmp");
  // Without /proc a program does not know where it lies.
  const std::string places =
      "LD_LIBRARY_PATH='" + test::build_path("/lib") + "' COLLAGE_BACKEND_PATH='" + kModules.string() + "' ";
  const std::string enter = places + (::geteuid() == 0 ? "chroot '" : "unshare -r chroot '") + root + "' ";
  if (shell(enter + "/bin/true").exit_code != 0) GTEST_SKIP() << "this user may not change the root folder";

  const Said said = shell(enter + program + " run /model.collage --input image=/image.npy --output-dir /out");
  EXPECT_EQ(said.exit_code, 0) << said.text;
  expect_good(run(run_arguments()));
  const auto inside = read_npy(root + "/out/output_0.npy");
  ASSERT_TRUE(inside);
  EXPECT_EQ(floats_of(*inside).value(), scores());
}

}  // namespace
}  // namespace collage::testing
