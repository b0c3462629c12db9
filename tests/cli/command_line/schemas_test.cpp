// Every JSON form that the program writes is the published one, docs/schemas.
#include <signal.h>
#include <fstream>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "plan/file/zip.h"
#include "tests/cli/models.h"
#include "tests/cli/test_backends.h"
#include "tests/support/paths.h"
#include "tests/support/schema_check.h"

namespace collage::testing {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class SchemasTest : public TestBackendsTest {
 protected:
  /// Checks the form, and that its schema would notice a key that is missing or misspelt.
  void accept(const Json& value) {
    ASSERT_TRUE(value.is_object() && value.contains("schema")) << value;
    const std::string name = test::file_of_schema(value["schema"]);
    SCOPED_TRACE(name);
    seen_.insert(name);
    const Json schema = test::published_schema(name);
    const test::SchemaCheck check(schema);
    EXPECT_EQ(check.problem(value), "");
    for (const auto& key : schema["required"]) {
      Json without = value;
      without.erase(key.get<std::string>());
      EXPECT_NE(check.problem(without), "") << key;
    }
    Json misspelt = value;
    misspelt["misspelt"] = 1;
    EXPECT_NE(check.problem(misspelt), "");
  }

  Json answer(Words arguments, const ::testing::Matcher<int>& exit_code = 0) {
    arguments.insert(arguments.end(), {"--json", "-"});
    const Ended ended = run(arguments);
    EXPECT_THAT(ended.exit_code, exit_code) << describe(ended);
    Json value = parsed(ended.out);
    accept(value);
    return value;
  }
  Json stored(const Words& arguments, int exit_code = 0) {
    Words all = {"db"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--store", store_});
    return answer(all, exit_code);
  }
  void accept_lines(const std::string& path) {
    std::istringstream lines(read_all(path));
    for (std::string line; std::getline(lines, line);) accept(parsed(line));
  }
  static Json member(const std::string& plan, const std::string& name) {
    const Result<Buffer> whole = Buffer::map_file(plan);
    const auto members = read_zip(*whole, plan);
    for (const ZipMember& one : *members)
      if (one.name == name) return parsed(std::string(one.data.text()));
    ADD_FAILURE() << plan << " has no " << name;
    return {};
  }

  void use_one_plan();
  void use_server();
  void use_a_library();
  void use_the_store();
  void use_many_shapes();
  void use_models();

  std::string store_ = file("costs.sqlite");
  std::string plan_ = file("model.collage");
  std::set<std::string> seen_;
};

void SchemasTest::use_one_plan() {
  const Json tuned = answer({"tune", given("model.onnx", chain(3)), "-o", plan_, "--backends",
                             "test,test:fault=run-wrong", "--measure-all", "--budget", "2s", "--store", store_,
                             "--quiet", "--events", file("events"), "--dump", "cover"});
  accept_lines(file("events"));
  accept(member(plan_, "plan.json"));
  ASSERT_FALSE(tuned["repros"].empty());
  const std::string bundle = tuned["repros"][0]["folder"];
  (void)answer({"repro", bundle}, 1);
  accept(parsed(read_all(bundle + "/repro.json")));
  (void)answer({"bench", plan_, "--seconds", "0.05"});
  (void)answer({"verify", plan_});
  (void)answer({"recheck", plan_, "--force"},
               ::testing::AnyOf(0, 1));  // 1: a busy machine's times ask for another tune
  const Json story = answer({"explain", plan_});
  (void)answer({"explain", plan_, "--why-not", story["nodes"][0]["node"].get<std::string>() + "=onednn"});
  const Json& first = story["nodes"][0];
  (void)answer({"explain", plan_, "--what-if",
                first["node"].get<std::string>() + "=" + first["chosen"]["backend"].get<std::string>()});
  (void)answer({"diff", plan_, plan_});
  (void)answer({"report", plan_});
  (void)answer({"sign", "--new-key", file("key.pem")});
  (void)answer({"sign", plan_, "--key", file("key.pem"), "-o", file("signed.collage")});
  (void)answer({"sign", file("signed.collage"), "--check", file("key.pub.pem")});
  (void)answer({"run", plan_, "--output-dir", file("out"), "--profile", file("profile.json")});
  accept(parsed(read_all(file("out/index.json"))));
  accept(parsed(read_all(file("profile.json"))));
  use_server();
}

void SchemasTest::use_server() {
  Program server(home(),
                 {"serve", "m=" + plan_, "--port", "0", "--port-file", file("port"), "--json", file("served.json")});
  for (int tries = 0; tries < 10'000 && !std::filesystem::exists(file("port")); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  server.send(SIGTERM);
  const Ended ended = server.wait();
  EXPECT_EQ(ended.exit_code, 0) << describe(ended);
  EXPECT_NE(ended.err.find("serving on http://127.0.0.1:" + read_all(file("port"))), std::string::npos) << ended.err;
  const Json served = parsed(read_all(file("served.json")));
  accept(served);
  EXPECT_EQ(served["models"][0]["name"], "m");
}

void SchemasTest::use_a_library() {
  const std::string plan = file("library.collage");
  (void)answer({"tune", given("library.onnx", chain(3)), "-o", plan, "--only", "host", "--deploy", "library",
                "--budget", "2s", "--store", "memory:", "--quiet"});
  (void)answer({"export", plan, "-o", file("liblibrary.so"), "--header", file("library.h")});
}

void SchemasTest::use_the_store() {
  (void)stored({"stats"});
  (void)stored({"list"});
  std::string key = stored({"show"})["records"][0]["key"];
  (void)stored({"explain-miss", key});
  const std::size_t threads = key.find("threads=1");
  ASSERT_NE(threads, std::string::npos);
  EXPECT_FALSE(stored({"explain-miss", key.replace(threads, 9, "threads=7")})["near"].empty());
  (void)stored({"export", file("costs.jsonl")});
  accept_lines(file("costs.jsonl"));
  (void)stored({"import", file("costs.jsonl")});
  (void)stored({"merge", store_});
  (void)stored({"verify"});
  (void)answer({"strategies", "--store", store_});
  (void)answer({"backends", "--store", store_});
  (void)answer({"backends", "--lift", "test", "--store", store_});
  (void)stored({"prune", "--files"});
}

void SchemasTest::use_many_shapes() {
  const std::string plan = file("shapes.collage");
  // Nobody here takes the model with open dimensions, so that every point is a case.
  (void)answer({"tune", given("open.onnx", doubling_with_open_dimension()), "-o", plan, "--shape", "N=1..8", "--points",
                "2", "--backends", "test", "--budget", "3s", "--quiet", "--store", "memory:"});
  const Json index = member(plan, "plan.json");
  accept(index);
  for (const Json& one : index["cases"]) accept(member(plan, one["plan"]));
  (void)answer({"explain", plan});
  (void)answer({"bench", plan, "--seconds", "0.1"});
  (void)answer({"verify", plan});
}

void SchemasTest::use_models() {
  (void)answer({"version"});
  (void)answer({"limits"});
  (void)answer({"workload"});
  (void)answer({"workload", "mnist", "-o", file("mnist.onnx")});
  (void)answer({"check", file("mnist.onnx")});
  for (const char* stage : {"graph", "simplified", "candidates"})
    (void)answer({"check", file("mnist.onnx"), "--dump", stage});
  (void)answer({"check", file("none.onnx")}, 6);
}

TEST_F(SchemasTest, EveryFormIsThePublishedOne) {
  use_one_plan();
  use_a_library();
  use_the_store();
  use_many_shapes();
  use_models();
  accept(Json::parse(std::ifstream(test::build_path("/lib/collage/priors.json"))));
  // The index of a record is gone when a tune ends; tests of measure look at it.
  seen_.insert("record.schema.json");
  // Of models with strings, which need an engine; ValuesTest looks at it.
  seen_.insert("value.schema.json");
  // No command prints what a program asks of a plan; tests of api/c do.
  seen_.insert("plan-metadata.schema.json");
  // Only functions of the user's are told of these; tests of region and tune look at them.
  seen_.insert("region.schema.json");
  seen_.insert("candidate.schema.json");
  const Words published = test::published_schemas();
  EXPECT_EQ(Words(seen_.begin(), seen_.end()), published);
}

}  // namespace
}  // namespace collage::testing
