// Backends in files that the command line names.
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

const std::string kTestModule = test::build_path("/tests/modules/libcollage_backend_test.so");

TEST_F(CliTest, BackendLibraryIsTriedInAWorkerAndListed) {
  const Ended ended = run({"backends", "--json", "-", "--backend-library", kTestModule});
  expect_good(ended);
  bool is_usable = false;
  const nlohmann::json object = parsed(ended.out);
  for (const auto& backend : object["backends"])
    if (backend["name"] == "test") is_usable = backend["usable"];
  EXPECT_TRUE(is_usable) << ended.out;
}

TEST_F(CliTest, BackendLibraryTakesPartUnlessBackendsSaysWhoDoes) {
  const std::string model = given("model.onnx", chain(4));
  const auto takes_part = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"check", model, "--json", "-"});
    return parsed(run(more).out)["backends"].contains("test");
  };
  EXPECT_TRUE(takes_part({"--backend-library", kTestModule}));
  EXPECT_FALSE(takes_part({"--backend-library", kTestModule, "--backends", "onnxruntime"}));
  EXPECT_TRUE(takes_part({"--backend-library", kTestModule, "--backends", "onnxruntime,test"}));
  EXPECT_FALSE(takes_part({}));
}

TEST_F(CliTest, BackendLibraryIsMeasuredAndRun) {
  const std::string model = given("model.onnx", chain(4));
  const std::string plan = file("plan.collage");
  const Ended tuned = run(quick_tune(model, plan, {"--only", "test", "--backend-library", kTestModule, "--json", "-"}));
  expect_good(tuned);
  EXPECT_GE(parsed(tuned.out)["backends"].value("test", 0), 1) << tuned.out;
  expect_good(run({"run", plan, "--backend-library", kTestModule}));
  expect_error(run({"run", plan}), 4, "plan/missing-backend", "test");
}

TEST_F(CliTest, BackendLibraryMustBeAModuleThatIsThere) {
  const std::string model = given("model.onnx", doubling());
  const std::string plan = file("plan.collage");
  const auto tune_with = [&](const std::string& library) {
    return run(quick_tune(model, plan, {"--backend-library", library}));
  };
  expect_error(tune_with(file("libcollage_backend_none.so")), 2, "cli/bad-option", "libcollage_backend_none.so");
  expect_error(tune_with(given("plugin.so", "bytes")), 2, "cli/bad-option", "libcollage_backend_KIND.so");
  expect_error(tune_with(given("libcollage_backend_broken.so", "bytes")), 4, "backend/unusable", "broken");
  expect_error(run({"run", model, "--backend-library"}), 2, "cli/usage", "--backend-library");
}

}  // namespace
}  // namespace collage::testing
