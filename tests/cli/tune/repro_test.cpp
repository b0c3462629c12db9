// A library that fails in a tune, and what a user does about it.
#include <filesystem>

#include "tests/cli/models.h"
#include "tests/cli/test_backends.h"

namespace collage::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReproTest : public TestBackendsTest {
 protected:
  /// A tune in which this instance takes part; its report.
  nlohmann::json tuned_with(const std::string& backend, const std::string& store) {
    const Ended ended =
        run({"tune", given("model.onnx", chain(3)), "-o", file("model.collage"), "--budget", "10s", "--quiet",
             "--measure-all", "--backends", "test," + backend, "--store", store, "--json", "-"});
    expect_good(ended);
    return parsed(ended.out);
  }
};

TEST_F(ReproTest, FailureIsNamedReplayedAndRemoved) {
  const nlohmann::json report = tuned_with("test:fault=run-wrong", file("costs.sqlite"));
  ASSERT_FALSE(report["repros"].empty());
  const nlohmann::json& failure = report["repros"][0];
  EXPECT_EQ(failure["backend"], "test:fault=run-wrong");
  EXPECT_EQ(failure["reason"], "wrong-result");
  EXPECT_EQ(failure["stage"], "verify");
  const std::string folder = failure["folder"];
  EXPECT_THAT(folder, HasSubstr(file("costs.sqlite.repros") + "/test-fault-run-wrong-wrong-result-"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/region.onnx"));

  const Ended again = run({"repro", folder, "--json", "-"});
  EXPECT_EQ(again.exit_code, 1) << describe(again);
  const nlohmann::json replay = parsed(again.out);
  EXPECT_EQ(replay["schema"], "collage.replay/1");
  EXPECT_FALSE(replay["passes"]);
  EXPECT_EQ(replay["replays"][0]["verdict"], "same");
  EXPECT_EQ(replay["replays"][0]["failure"]["reason"], "wrong-result");

  const Ended others = run({"repro", folder, "--backends", "test,onnxruntime"});
  EXPECT_EQ(others.exit_code, 0) << describe(others);
  EXPECT_THAT(others.out, HasSubstr("onnxruntime"));
  // The region is plain ONNX.
  expect_good(run({"check", folder + "/region.onnx"}));

  expect_good(run({"db", "prune", "--repros", "--store", file("costs.sqlite")}));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(ReproTest, CrashOfAStoreInMemoryIsKeptInTheCache) {
  const nlohmann::json report = tuned_with("test:fault=compile-crash", "memory:");
  ASSERT_FALSE(report["repros"].empty());
  const std::string folder = report["repros"][0]["folder"];
  EXPECT_THAT(folder, HasSubstr((home() / "cache" / "collage" / "repros").string()));
  EXPECT_THAT(report["repros"][0]["detail"].get<std::string>(), HasSubstr("SIGSEGV"));
  const Ended again = run({"repro", folder});
  EXPECT_EQ(again.exit_code, 1) << describe(again);
  EXPECT_THAT(again.out, HasSubstr("still fails, crashed at compile: killed by SIGSEGV"));
  EXPECT_THAT(temporaries(), IsEmpty());
}

TEST_F(ReproTest, ReportSaysHowToReplay) {
  const Ended ended =
      run({"tune", given("model.onnx", chain(2)), "-o", file("model.collage"), "--budget", "10s", "--quiet",
           "--measure-all", "--backends", "test,test:fault=compile-throw", "--store", "memory:"});
  expect_good(ended);
  EXPECT_THAT(ended.out, HasSubstr("test:fault=compile-throw failed: compile, "));
  EXPECT_THAT(ended.out, HasSubstr("; see collage repro '/"));
  EXPECT_EQ(ended.out.find("compile-throw failed"), ended.out.rfind("compile-throw failed")) << "one line for all";
}

TEST_F(ReproTest, BadFolderAndMissingBackendAreClear) {
  expect_error(run({"repro", file("absent")}), 3, "repro/no-folder", file("absent"));
  std::filesystem::create_directory(file("empty"));
  expect_error(run({"repro", file("empty")}), 3, "repro/damaged", "repro.json");
  const std::string folder = tuned_with("test:fault=run-wrong", "memory:")["repros"][0]["folder"];
  const std::string cut = folder.substr(0, folder.size() - 3);
  expect_error(run({"repro", cut}), 3, "repro/no-folder", "did you mean " + folder + "?");
  ::setenv("COLLAGE_BACKEND_PATH", file("empty").c_str(), 1);
  expect_error(run({"repro", folder}), 4, "backend/missing", "test");
  expect_error(run({"repro", folder, "--limit", "soon"}), 2, "cli/bad-option", "soon");
}

}  // namespace
}  // namespace collage::testing
