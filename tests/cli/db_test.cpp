// collage db: looking into the cost store of a tune, carrying costs elsewhere, cleaning up.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DbTest : public CliTest {
 protected:
  DbTest() : model_(given("model.onnx", small_network())), store_(file("costs.sqlite")) {
    std::vector<std::string> arguments = {
        "tune",    model_,    "-o",   file("model.collage"), "--budget",           "5s",
        "--quiet", "--store", store_, "--backends",          "onednn,onnxruntime", "--measure-all"};
    expect_good(made_once("store of two backends", [&] { return run(arguments); }));
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
  EXPECT_THAT(listed.out, AllOf(HasSubstr(" us  onnxruntime"), HasSubstr("f32[1,3,8,8]"), HasSubstr("--limit")));
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
  expect_error(db({"merge", file("absent.sqlite")}, store_), 6, "store/missing", "absent.sqlite");
}

TEST_F(DbTest, FindsCostsByWhatTheyAreOfAndListsThemIn80Columns) {
  const nlohmann::json conv = answer({"list", "Conv", "--limit", "1000"}, store_);
  EXPECT_EQ(conv["found"], conv["records"].size());
  ASSERT_GT(conv["found"], 0);
  for (const nlohmann::json& one : conv["records"]) {
    EXPECT_THAT(one["operators"].get<std::string>(), HasSubstr("Conv"));
    EXPECT_EQ(one["of"]["model"], "model.onnx");
    EXPECT_THAT(one["of"]["inputs"][0].get<std::string>(), HasSubstr("f32["));
  }
  const std::string node = conv["records"][0]["of"]["nodes"][0];
  const nlohmann::json filtered =
      answer({"list", "--operator", "Conv", "--backend", "onnxruntime", "--node", node}, store_);
  ASSERT_GT(filtered["found"], 0);
  for (const nlohmann::json& one : filtered["records"]) {
    EXPECT_EQ(one["backend"], "onnxruntime");
    EXPECT_THAT(one["of"]["nodes"].get<std::vector<std::string>>(), ::testing::Contains(node));
  }
  EXPECT_EQ(answer({"export", file("conv.jsonl"), "--operator", "Conv"}, store_)["costs"], conv["found"]);
  EXPECT_THAT(db({"show", "Conv", "--limit", "1"}, store_).out,
              AllOf(HasSubstr("operators  "), HasSubstr("nodes      ")));
  const Ended listed = db({"list", "--limit", "1000"}, store_);
  expect_good(listed);
  std::istringstream lines(listed.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(DbTest, SaysThatNothingFitsAndWhatMayBeMeant) {
  expect_error(db({"list", "Cnov"}, store_), 3, "store/no-record", "did you mean Conv?");
  expect_error(db({"list", "--operator", "conv"}, store_), 3, "store/no-record", "did you mean Conv?");
  expect_error(db({"list", "--backend", "onnxruntme"}, store_), 3, "store/no-record", "did you mean onnxruntime?");
  expect_error(db({"export", file("none.jsonl"), "--like", "nobody"}, store_), 3, "store/no-record", "nobody");
  EXPECT_FALSE(std::filesystem::exists(file("none.jsonl")));
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

TEST_F(CliTest, DbMakesNoStoreToLookInto) {
  const auto db = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "db");
    arguments.insert(arguments.end(), {"--store", file("absent.sqlite")});
    return run(arguments);
  };
  for (const std::vector<std::string>& command : {std::vector<std::string>{"stats"},
                                                  {"list"},
                                                  {"show", "Conv"},
                                                  {"export", file("costs.jsonl")},
                                                  {"prune", "--like", "x"},
                                                  {"verify"},
                                                  {"explain-miss", "region=1"}})
    expect_error(db(command), 6, "store/missing", "no such store");
  expect_error(db({"merge", file("none.sqlite")}), 6, "store/missing", "none.sqlite");
  expect_error(run({"db", "stats"}), 6, "store/missing", "costs.sqlite");
  EXPECT_THAT(names(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace collage::testing
