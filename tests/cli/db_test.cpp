// collage db: looking into the cost store of a tune, carrying costs elsewhere, cleaning up.
#include <fstream>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DbTest : public CliTest {
 protected:
  DbTest() : model_(given("model.onnx", small_network())), store_(file("costs.sqlite")) {
    std::vector<std::string> arguments = {"tune",    model_,    "-o",  file("model.collage"), "--budget", "5s",
                                          "--quiet", "--store", store_};
    expect_good(run(arguments));
  }

  [[nodiscard]] Ended db(std::vector<std::string> arguments, const std::string& store) const {
    arguments.insert(arguments.begin(), "db");
    arguments.insert(arguments.end(), {"--store", store});
    return run(arguments);
  }
  [[nodiscard]] nlohmann::json answer(std::vector<std::string> arguments, const std::string& store) const {
    arguments.insert(arguments.end(), {"--json", "-"});
    const Ended ended = db(arguments, store);
    expect_good(ended);
    return parsed(ended.out);
  }

  std::string model_;
  std::string store_;
};

TEST_F(DbTest, ShowsWhatATuneKept) {
  const nlohmann::json stats = answer({"stats"}, store_);
  EXPECT_EQ(stats["schema"], "collage.db-stats/1");
  EXPECT_GT(stats["costs"], 0);
  EXPECT_GT(stats["files"], 0);
  EXPECT_EQ(stats["set_aside"], 0);
  EXPECT_EQ(stats["machines"].size(), 1U);
  const Ended listed = db({"list", "backend=onnxruntime", "--limit", "2"}, store_);
  expect_good(listed);
  EXPECT_THAT(listed.out, AllOf(HasSubstr(" us ["), HasSubstr("backend=onnxruntime"), HasSubstr("--limit")));
  EXPECT_THAT(db({"show", "backend=onnxruntime", "--limit", "1"}, store_).out, HasSubstr("threads    1\n"));
  expect_error(db({"show", "nothing like it"}, store_), 3, "store/no-record", "nothing like it");
  expect_good(db({"verify"}, store_));
}

TEST_F(DbTest, CarriesCostsToAnotherStore) {
  const nlohmann::json written = answer({"export", file("costs.jsonl")}, store_);
  const nlohmann::json first = answer({"import", file("costs.jsonl")}, file("other.sqlite"));
  EXPECT_EQ(first["added"], written["costs"]);
  EXPECT_EQ(answer({"merge", store_}, file("other.sqlite"))["added"], 0);
  EXPECT_EQ(answer({"stats"}, file("other.sqlite"))["costs"], written["costs"]);
  std::ofstream(file("costs.jsonl"), std::ios::app) << "{\"schema\": \"collage.cost/1\", \"key\": 7}\nrubbish\n";
  const Ended damaged = db({"import", file("costs.jsonl")}, file("third.sqlite"));
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.out, HasSubstr("2 skipped"));
  expect_error(db({"import", file("absent.jsonl")}, store_), 6, "io/cannot-read", "absent.jsonl");
  expect_error(db({"merge", file("absent.sqlite")}, store_), 6, "io/cannot-read", "absent.sqlite");
}

TEST_F(DbTest, RemovesWhatIsNamedOnly) {
  const nlohmann::json before = answer({"stats"}, store_);
  expect_error(db({"prune"}, store_), 2, "cli/bad-option", "prune");
  const nlohmann::json removed = answer({"prune", "--like", "backend=onednn", "--files"}, store_);
  EXPECT_GT(removed["costs"], 0);
  EXPECT_GT(removed["files"], 0);
  const nlohmann::json after = answer({"stats"}, store_);
  EXPECT_EQ(after["costs"].get<int>(), before["costs"].get<int>() - removed["costs"].get<int>());
  EXPECT_FALSE(after["backends"].contains("onednn"));
  expect_good(db({"verify"}, store_));
}

TEST_F(DbTest, ExplainsWhyNothingWasFound) {
  std::string key = answer({"list", "backend=onnxruntime"}, store_)["records"][0]["key"];
  EXPECT_EQ(answer({"explain-miss", key}, store_)["found"], true);
  const std::size_t at = key.find("threads=1");
  ASSERT_NE(at, std::string::npos);
  key.replace(at, 9, "threads=7");
  const nlohmann::json missed = answer({"explain-miss", key}, store_);
  EXPECT_EQ(missed["found"], false);
  ASSERT_GT(missed["near"].size(), 0U);
  EXPECT_EQ(missed["near"][0]["differences"][0]["field"], "threads");
  EXPECT_EQ(missed["near"][0]["differences"][0]["wanted"], "7");
  expect_error(db({"explain-miss", "what is this"}, store_), 2, "cli/bad-option", "what is this");
}

}  // namespace
}  // namespace collage::testing
