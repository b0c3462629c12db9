// collage strategies, and tuning schedules from the command line.
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class StrategiesTest : public CliTest {
 protected:
  [[nodiscard]] nlohmann::json listed(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "strategies");
    arguments.insert(arguments.end(), {"--json", "-"});
    const Ended ended = run(arguments);
    expect_good(ended);
    return parsed(ended.out);
  }
  [[nodiscard]] bool has_native() const {
    return run({"strategies", "--backends", "native"}).out.find("winograd4") != std::string::npos;
  }
};

TEST_F(StrategiesTest, ListsWhatThereIsAndWhenItApplies) {
  if (!has_native()) GTEST_SKIP() << "native is not here";
  const nlohmann::json answer = listed({});
  EXPECT_EQ(answer["schema"], "collage.strategies/1");
  ASSERT_EQ(answer["backends"].size(), 4U);
  for (const nlohmann::json& backend : answer["backends"]) {
    if (backend["name"] != "native") {
      EXPECT_TRUE(backend["strategies"].empty());
      EXPECT_NE(backend["reason"], "") << backend["name"];
      continue;
    }
    EXPECT_EQ(backend["reason"], "");
    EXPECT_GE(backend["strategies"].size(), 10U);
    for (const nlohmann::json& line : backend["strategies"]) {
      EXPECT_FALSE(line["operators"].empty()) << line;
      EXPECT_NE(line["condition"], "");
      EXPECT_EQ(line["measured"]["regions"], 0) << "no store";
    }
  }
  EXPECT_FALSE(std::filesystem::exists(home() / "cache/collage/costs.sqlite")) << "looking makes no store";
  expect_error(run({"strategies", "--store", file("costs.sqlite")}), 6, "store/missing", "costs.sqlite");
  EXPECT_THAT(names(), ::testing::IsEmpty());
}

TEST_F(StrategiesTest, ListsThoseOfOneOperator) {
  if (!has_native()) GTEST_SKIP() << "native is not here";
  const Ended conv = run({"strategies", "Conv", "--backends", "native", "--store", "memory:"});
  expect_good(conv);
  EXPECT_THAT(conv.out,
              AllOf(HasSubstr("convolution/winograd4"), HasSubstr("tunes     rows: 0|1"),
                    HasSubstr("separable/sliding"), HasSubstr("never timed here"), Not(HasSubstr("batch_product"))));
  const nlohmann::json relu = listed({"Relu", "--backends", "native"});
  ASSERT_EQ(relu["backends"][0]["strategies"].size(), 1U);
  EXPECT_EQ(relu["backends"][0]["strategies"][0]["family"], "elementwise");
  expect_error(run({"strategies", "Konv", "--backends", "native"}), 2, "strategies/unknown-operator",
               "did you mean Conv?");
  expect_error(run({"strategies", "Conv", "--backends", "onnxruntime"}), 2, "strategies/unknown-operator",
               "no backend");
}

TEST_F(StrategiesTest, KnowsHowTheyFaredInATune) {
  if (!has_native()) GTEST_SKIP() << "native is not here";
  const std::string model = given("model.onnx", small_network());
  expect_good(run({"tune", model, "-o", file("model.collage"), "--budget", "10s", "--quiet", "--backends",
                   "native,onnxruntime", "--measure-all", "--store", file("costs.sqlite")}));
  std::size_t timed = 0;
  const nlohmann::json answer = listed({"--backends", "native", "--store", file("costs.sqlite")});
  for (const nlohmann::json& line : answer["backends"][0]["strategies"]) {
    timed += line["measured"]["regions"].get<std::size_t>();
    EXPECT_EQ(line["measured"]["compared"] > 0, line["measured"]["ratio"] > 0.0) << line;
  }
  EXPECT_GT(timed, 0U);
}

TEST_F(StrategiesTest, TunesSchedulesInATinyTime) {
  if (!has_native()) GTEST_SKIP() << "native is not here";
  const std::string model = given("model.onnx", small_network());
  const std::vector<std::string> tune = {"tune",
                                         model,
                                         "-o",
                                         file("model.collage"),
                                         "--budget",
                                         "5s",
                                         "--tune-budget",
                                         "4s",
                                         "--quiet",
                                         "--backends",
                                         "native,onnxruntime",
                                         "--store",
                                         file("costs.sqlite"),
                                         "--json",
                                         "-"};
  Ended ended = run(tune);
  expect_good(ended);
  const nlohmann::json first = parsed(ended.out)["schedules"];
  EXPECT_LE(first["took_s"], 8.0);
  EXPECT_LE(first["after_us"], first["before_us"]);
  ended = run(tune);
  expect_good(ended);
  EXPECT_EQ(parsed(ended.out)["schedules"]["tried"], 0) << "the question was answered";
  expect_error(run({"tune", model, "-o", file("x.collage"), "--tune-budget", "-1"}), 2, "cli/bad-option",
               "--tune-budget");
  expect_error(run({"tune", model, "-o", file("x.collage"), "--tune-budget", "soon"}), 2, "cli/bad-option",
               "--tune-budget");
}

}  // namespace
}  // namespace collage::testing
