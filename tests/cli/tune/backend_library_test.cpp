// Backends in files that the command line names.
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/onnx/model_text.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

const std::string kTestModule = test::build_path("/tests/modules/libcollage_backend_test.so");
const std::string kChainModule = test::build_path("/tests/modules/examples/libcollage_backend_example_chain.so");

using ::testing::HasSubstr;

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

TEST_F(CliTest, BackendLibraryDecidesByTheLabelOfItsPattern) {
  const std::string model = given("model.onnx", opset_model(17,
                                                            "labels (float[5,7] x) => (float[5,7] y) { "
                                                            "a = Neg (x) b = Max (x, a) y = Floor (b) }"));
  const Ended listed = run({"check", model, "--dump", "candidates", "--backend-library", kChainModule});
  EXPECT_THAT(listed.out, HasSubstr("example_chain/magnitude:")) << listed.out;
  EXPECT_THAT(listed.out, HasSubstr("example_chain/chain:")) << listed.out;
  // The labels reach support() and the compile() of a worker, so that it can do without looking at the nodes: what is
  // labelled "magnitude" is a step of this variant, with the right numbers.
  const std::string plan = file("plan.collage");
  expect_good(run(quick_tune(model, plan, {"--only", "example_chain", "--backend-library", kChainModule})));
  const Ended explained = run({"explain", plan});
  EXPECT_THAT(explained.out, HasSubstr("magnitude")) << explained.out;
  expect_good(run({"verify", plan, "--seeds", "2", "--quiet", "--backend-library", kChainModule}));
  // A plan made again from its decisions gets the labels from the backend's own patterns.
  const std::string again = file("again.collage");
  expect_good(run({"tune", model, "-o", again, "--replay", plan, "--store", "memory:", "--quiet", "--backend-library",
                   kChainModule}));
  EXPECT_THAT(run({"explain", again}).out, HasSubstr("magnitude"));
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
