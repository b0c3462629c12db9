// Looking at the values of a tune, and going on from one that was stored.
#include "tests/cli/models.h"
#include "tests/cli/test_backends.h"

namespace collage::testing {
namespace {

using ::testing::HasSubstr;

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
                             "--budget", "3s", "--quiet", "--store", file("costs.sqlite"), "--dump", stage});
    expect_good(ended);
    EXPECT_THAT(ended.out, HasSubstr(part)) << stage;
  }
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
