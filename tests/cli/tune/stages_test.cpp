// Looking at the values of a tune, and going on from one that was stored.
#include "tests/cli/models.h"
#include "tests/cli/test_backends.h"

namespace collage::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class StagesTest : public TestBackendsTest {
 protected:
  [[nodiscard]] Ended tuned(const std::vector<std::string>& more) const {
    std::vector<std::string> with = {"--backends", "test,test:build=other"};
    with.insert(with.end(), more.begin(), more.end());
    return run(quick_tune(model_, file("model.collage"), with));
  }

  std::string model_ = given("model.onnx", chain(3));
};

TEST_F(StagesTest, EveryValueOfATuneIsPrinted) {
  const std::vector<std::pair<std::string, std::string>> shown = {
      {"prepared", "graph"}, {"pool", "test/"},       {"priced", "collage.priced/1"},
      {"covers", "kernel"},  {"contest", " winner "}, {"shipped", "collage.plan/1"}};
  for (const auto& [stage, part] : shown) {
    // In one store: only the first tune measures.
    const Ended ended = run({"tune", model_, "-o", file("model.collage"), "--backends", "test,test:build=other",
                             "--budget", "10s", "--quiet", "--store", file("costs.sqlite"), "--dump", stage});
    expect_good(ended);
    EXPECT_THAT(ended.out, HasSubstr(part)) << stage;
  }
}

TEST_F(StagesTest, EnginesGetNoLargePartOfTheWeightsAsOneStepInAShortTune) {
  const std::string model = given("products.onnx", two_products());
  const auto pool = [&](const std::string& budget) {
    const Ended ended = run({"tune", model, "-o", file("products.collage"), "--backends", "onnxruntime,onednn",
                             "--budget", budget, "--quiet", "--store", "memory:", "--dump", "pool"});
    EXPECT_EQ(ended.exit_code, 0) << describe(ended);
    return ended.out;
  };
  const std::string both = "onnxruntime/default: MatMul_0 Relu_1 MatMul_2 |";
  const std::string one = "onnxruntime/default: MatMul_0 Relu_1 |";
  EXPECT_THAT(pool("20s"), AllOf(HasSubstr(both), HasSubstr(one)));
  EXPECT_THAT(pool("2s"), AllOf(Not(HasSubstr(both)), HasSubstr(one))) << "2.9 MB of weights, and 2 MiB at most";
}

TEST_F(StagesTest, StoredCostsAreNotMeasuredAgain) {
  const nlohmann::json first = parsed(tuned({"--measure-all", "--dump", "priced", "--json", "-"}).out);
  const std::string costs = given("costs.txt", first["dumped"]);
  const Ended ended = tuned({"--measure-all", "--resume", costs, "--json", "-"});
  expect_good(ended);
  const nlohmann::json resumed = parsed(ended.out);
  EXPECT_GT(first["measured"], 0);
  EXPECT_LT(resumed["measured"], first["measured"]);
  EXPECT_EQ(resumed["candidates"], first["candidates"]);
}

TEST_F(StagesTest, CostsOfAnotherModelAreRefused) {
  const std::string costs = given("costs.txt", tuned({"--dump", "priced"}).out);
  const std::string other = given("other.onnx", chain(4));
  expect_error(run(quick_tune(other, file("other.collage"), {"--backends", "test", "--resume", costs})), 3,
               "tune/other-costs", "costs.txt");
}

}  // namespace
}  // namespace collage::testing
