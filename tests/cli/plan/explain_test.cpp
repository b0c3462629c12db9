// explain, --why-not and --replay on the plan of a real, small model.
#include "plan/file/zip.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/support/paths.h"
#include "tests/support/schema_check.h"

namespace collage::testing {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class ExplainTest : public CliTest {
 protected:
  ExplainTest() : model_(given("model.onnx", small_network())), plan_(file("model.collage")) {}

  void tune(const std::vector<std::string>& more = {}) const {
    const Ended ended = tuned_once(model_, plan_, more);
    EXPECT_EQ(ended.exit_code, 0) << describe(ended);
  }

  [[nodiscard]] json explained(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"explain", plan_, "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = run(arguments);
    expect_good(ended);
    return parsed(ended.out);
  }

  [[nodiscard]] std::string verdict(const std::string& node, const std::string& backend) const {
    return explained({"--why-not", node + "=" + backend}).value("verdict", "none");
  }

  /// The node with this text in its name.
  static json node_like(const json& story, const std::string& part) {
    for (const json& node : story["nodes"])
      if (node["node"].get<std::string>().find(part) != std::string::npos) return node;
    ADD_FAILURE() << "no node like " << part << " in " << story["nodes"].dump();
    return {};
  }

  /// A member of a plan file.
  static std::string member(const std::string& plan, const std::string& name) {
    const Result<Buffer> whole = Buffer::map_file(plan);
    const auto members = read_zip(*whole, plan);
    for (const ZipMember& one : *members)
      if (one.name == name) return std::string(one.data.text());
    ADD_FAILURE() << plan << " has no " << name;
    return "";
  }

  std::string model_;
  std::string plan_;
};

TEST_F(ExplainTest, TellsOfEveryNodeWhoRunsItAndWhoElseOffered) {
  // No engine, which may ship as a whole when it is tied.
  tune({"--seed", "7", "--backends", "onednn,native"});
  const json story = explained();
  const json schema = test::published_schema("explain.schema.json");
  EXPECT_EQ(test::SchemaCheck(schema).problem(story), "");
  ASSERT_GT(story["nodes"].size(), 0U);
  for (const json& node : story["nodes"]) {
    EXPECT_GT(node["chosen"]["cost_us"], -1) << node;
    EXPECT_GE(node["chosen"]["node_count"], 1) << node;
    // The small network is taken whole and in parts by several backends.
    EXPECT_FALSE(node["runner_up"].is_null()) << node;
    EXPECT_EQ(explained({"--node", node["node"]})["nodes"][0], node);
    for (const json& candidate : node["unmeasured"]) {
      EXPECT_NE(candidate["why"], "") << node;
      EXPECT_GE(candidate["cost_at_least_us"], 0) << node;
      EXPECT_FALSE(candidate.contains("margin_us")) << node;
    }
  }
  EXPECT_EQ(story["alternatives"]["why_none"], "");
  EXPECT_GT(story["alternatives"]["covers"].size(), 0U) << "several backends take all of it";
  for (const json& cover : story["alternatives"]["covers"]) {
    EXPECT_GT(cover["changed_nodes"], 0);
    EXPECT_LE(cover["changed_nodes"], story["nodes"].size());
    EXPECT_GT(cover["steps"].size(), 0U);
  }
  EXPECT_GT(story["losses"]["measured_us"], 0);
  EXPECT_TRUE(story["losses"]["additive_error"].is_object());
  EXPECT_TRUE(story["losses"]["apparent_loss"].is_object());
  EXPECT_TRUE(story["losses"]["optimality_loss"].is_object());
  EXPECT_TRUE(story["gaps"]["model_gap"].is_object());
  EXPECT_TRUE(story["gaps"]["proven_gap"].is_object());
  EXPECT_GE(story["gaps"]["proven_gap"]["us"], story["gaps"]["model_gap"]["us"]);
}

TEST_F(ExplainTest, SaysWhyABackendDoesNotRunANode) {
  tune({"--backends", "onednn,onnxruntime", "--ban", "Conv*=onednn"});
  const json story = explained();
  const std::string conv = node_like(story, "Conv")["node"];
  const std::string chosen = story["nodes"][0]["chosen"]["backend"];
  EXPECT_EQ(verdict(story["nodes"][0]["node"], chosen), "runs");
  EXPECT_EQ(verdict(conv, "onednn"), "banned");
  EXPECT_EQ(verdict(conv, "openvino"), "not-asked");
  EXPECT_EQ(verdict(conv, "host"), "refused");
  const Ended text = run({"explain", plan_, "--why-not", conv + "=onednn"});
  expect_good(text);
  EXPECT_THAT(text.out, HasSubstr("--ban Conv*=onednn names the node"));
  for (const json& node : story["nodes"])
    for (const json& offer : node["offers"]) {
      if (offer["backend"] == node["chosen"]["backend"]) continue;
      EXPECT_THAT(verdict(node["node"], offer["backend"]), AnyOf("dearer", "cheaper-alone")) << node;
    }
}

TEST_F(ExplainTest, SaysWhatAnotherBackendWouldCost) {
  tune({"--backends", "onednn,onnxruntime", "--measure-all"});
  const json story = explained();
  std::size_t asked = 0;
  for (const json& node : story["nodes"])
    for (const json& offer : node["offers"]) {
      if (!offer.contains("cost_us")) continue;
      const std::string backend = offer["backend"];
      const std::string rule = node["node"].get<std::string>() + "=" + backend;
      ++asked;
      if (!offer.contains("margin_by")) {
        // Its neighbours may have no costs that fit: a tune measures what may decide.
        EXPECT_THAT(run({"explain", plan_, "--what-if", rule}).exit_code, AnyOf(0, 4));
        continue;
      }
      const json answer = explained({"--what-if", rule});
      EXPECT_EQ(answer["schema"], "collage.what-if/1");
      EXPECT_GE(answer["more_us"], 0);
      if (offer["margin_by"] == "exchange") {
        const double exchanged = story["gaps"]["cover_us"].get<double>() + offer["margin_us"].get<double>();
        EXPECT_LE(answer["under_us"], exchanged + 0.001);
      }
    }
  EXPECT_GT(asked, 0U);
  const std::string node = story["nodes"][0]["node"];
  const std::string chosen = story["nodes"][0]["chosen"]["backend"];
  const Ended text = run({"explain", plan_, "--what-if", node + "=" + chosen});
  expect_good(text);
  EXPECT_THAT(text.out, HasSubstr("if " + chosen + " runs " + node));
}

TEST_F(ExplainTest, TimesThePlanUnderARule) {
  tune({"--backends", "onednn,onnxruntime"});
  const std::string conv = node_like(explained(), "Conv")["node"];
  const json answer = explained({"--what-if", conv + "=onnxruntime", "--measure", "--budget", "8s", "--quiet"});
  ASSERT_TRUE(answer.contains("measured")) << answer;
  EXPECT_GT(answer["measured"]["us"], 0);
  EXPECT_GT(answer["measured"]["plan_us"], 0);
  EXPECT_LE(answer["measured"]["faster"]["low"], answer["measured"]["faster"]["high"]);
}

TEST_F(ExplainTest, SaysThatOnlyAnotherWasAskedFor) {
  tune({"--only", "onednn"});
  const json story = explained();
  EXPECT_EQ(story["only"], "onednn");
  const std::string conv = node_like(story, "Conv")["node"];
  EXPECT_EQ(verdict(conv, "openvino"), "only");
  EXPECT_EQ(verdict(conv, "onednn"), "runs");
  EXPECT_EQ(verdict(conv, "onnxruntime"), "fills");
}

TEST_F(ExplainTest, WritesAPage) {
  tune();
  const Ended ended = run({"explain", plan_, "--html", file("plan.html")});
  expect_good(ended);
  EXPECT_THAT(ended.out, HasSubstr("plan.html: "));
  const std::string page = read_all(file("plan.html"));
  EXPECT_THAT(page, HasSubstr("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr(json(explained()["nodes"][0]["node"]).dump()));
  expect_error(run({"explain", plan_, "--html", file("no/such/folder.html")}), 6, "file/cannot-write", "folder.html");
}

TEST_F(ExplainTest, WritesPicturesForOtherPrograms) {
  tune();
  const Ended ended = run({"explain", plan_, "--dot", file("plan.dot"), "--onnx", file("plan.onnx")});
  expect_good(ended);
  EXPECT_THAT(ended.out, ::testing::AllOf(HasSubstr("plan.dot: "), HasSubstr("plan.onnx: ")));
  const json report = explained();
  const std::string dot = read_all(file("plan.dot"));
  for (const json& step : report["steps"]) EXPECT_THAT(dot, HasSubstr(step["backend"].get<std::string>()));
  // The names in the model are those of the explanation; its metadata says who runs the node.
  const std::string onnx = read_all(file("plan.onnx"));
  EXPECT_THAT(onnx, HasSubstr("collage.backend"));
  for (const json& node : report["nodes"]) EXPECT_THAT(onnx, HasSubstr(node["node"].get<std::string>()));
}

TEST_F(ExplainTest, ComparesPlansOfOneModel) {
  tune({"--only", "onnxruntime"});
  const std::string other = file("other.collage");
  expect_good(tuned_once(model_, other, {"--only", "onednn"}));
  const Ended ended = run({"diff", plan_, other, "--json", "-"});
  expect_good(ended);
  const json diff = parsed(ended.out);
  ASSERT_GT(diff["parts"].size(), 0U);
  EXPECT_TRUE(diff["parts"][0]["differs"]);
  EXPECT_EQ(diff["only_in_a"], json::array());
  EXPECT_TRUE(diff["same_machine"]);
  expect_good(run({"diff", plan_, plan_}));
  const Ended page = run({"diff", plan_, other, "--html", file("diff.html")});
  expect_good(page);
  EXPECT_THAT(page.out, HasSubstr("diff.html: "));
  EXPECT_THAT(read_all(file("diff.html")), HasSubstr(diff["parts"][0]["nodes"][0].dump()));
}

TEST_F(ExplainTest, RefusesQuestionsItCannotAnswer) {
  tune({"--only", "onnxruntime"});
  expect_error(run({"explain", plan_, "--why-not", "nobody=onednn"}), 2, "plan/no-such-node", "nobody");
  expect_error(run({"explain", plan_, "--why-not", "nobody"}), 2, "cli/bad-option", "--why-not");
  EXPECT_EQ(run({"explain", plan_, "--why-not", "a=b", "--node", "a"}).exit_code, 2);
  expect_error(run({"explain", plan_, "--what-if", "nobody=onednn"}), 2, "plan/no-such-node", "nobody");
  expect_error(run({"explain", plan_, "--budget", "5s"}), 2, "cli/bad-option", "--budget");
  EXPECT_EQ(run({"explain", plan_, "--measure"}).exit_code, 2) << "of nothing";
}

TEST_F(ExplainTest, ReplayMakesTheSamePlanWithoutMeasuring) {
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--only", "onednn"}, {"--only", "openvino"}, {"--accuracy", "strict"}}) {
    SCOPED_TRACE(how.back());
    tune(how);
    const std::string again = file("again.collage");
    const Ended replayed =
        run({"tune", model_, "--replay", plan_, "-o", again, "--quiet", "--store", "memory:", "--json", "-"});
    expect_good(replayed);
    const json report = parsed(replayed.out);
    EXPECT_EQ(report["measured"], 0);
    json before = parsed(member(plan_, "plan.json"));
    json after = parsed(member(again, "plan.json"));
    EXPECT_EQ(report["shipped"], before["shipped"]);
    for (json* plan : {&before, &after}) {
      // Compiled anew, a library may give other bytes for the same decision.
      plan->erase("artifacts");
      for (json& step : (*plan)["steps"]) step.erase("artifact");
    }
    EXPECT_EQ(after, before);
    EXPECT_EQ(member(again, "plan.onnx"), member(plan_, "plan.onnx"));
    expect_good(run({"verify", again}));
    EXPECT_EQ(run({"explain", again}).out, run({"explain", plan_}).out);
    std::filesystem::remove(again);
  }
}

TEST_F(ExplainTest, BodiesArePlacedByThePinAndExplainedAndReplayed) {
  model_ = test::onnx_cases_path("/test_scan9_sum/model.onnx");
  if (!std::filesystem::exists(model_)) GTEST_SKIP() << "no official tests here";
  tune({"--pin", "Scan_0=bodies"});
  const json story = explained();
  const json schema = test::published_schema("explain.schema.json");
  EXPECT_EQ(test::SchemaCheck(schema).problem(story), "");
  ASSERT_EQ(story["nodes"].size(), 1U);
  EXPECT_EQ(story["nodes"][0]["chosen"]["backend"], "bodies");
  EXPECT_EQ(verdict("Scan_0", "onnxruntime"), "pinned");
  EXPECT_EQ(verdict("Scan_0", "bodies"), "runs");
  const json step = story["steps"][0];
  ASSERT_EQ(step["kind"], "control");
  ASSERT_EQ(step["bodies"].size(), 1U);
  json inside;
  for (const json& one : step["bodies"][0]["steps"])
    if (!one["nodes"].empty()) inside = one["nodes"][0];
  ASSERT_TRUE(inside.is_string()) << step;
  EXPECT_EQ(explained({"--node", inside})["steps"], story["steps"]) << "the step that holds it";
  const Ended text = run({"explain", plan_, "--node", inside});
  expect_good(text);
  EXPECT_THAT(text.out, HasSubstr("body "));
  expect_error(run({"explain", plan_, "--why-not", inside.get<std::string>() + "=onednn"}), 2, "plan/no-such-node",
               "inside a body of Scan_0");
  expect_good(run({"verify", plan_}));

  const std::string again = file("again.collage");
  const Ended replayed =
      run({"tune", model_, "--replay", plan_, "-o", again, "--quiet", "--store", "memory:", "--json", "-"});
  expect_good(replayed);
  EXPECT_EQ(parsed(replayed.out)["measured"], 0);
  EXPECT_EQ(run({"explain", again}).out, run({"explain", plan_}).out);
}

TEST_F(ExplainTest, ReplayIsRefusedForAnotherGraph) {
  tune({"--only", "onednn"});
  std::string other = small_network();
  const std::size_t softmax = other.find("Softmax");
  ASSERT_NE(softmax, std::string::npos);
  other.replace(softmax, 7, "Sigmoid");
  const Ended refused = run({"tune", given("other.onnx", other), "--replay", plan_, "-o", file("no.collage"), "--quiet",
                             "--store", "memory:"});
  expect_error(refused, 3, "plan/other-graph", "step ");
  EXPECT_FALSE(std::filesystem::exists(file("no.collage")));
  EXPECT_EQ(temporaries(), std::vector<std::string>{});
}

TEST_F(ExplainTest, ReplayTakesNoOptionsThatThePlanDecides) {
  for (const char* option :
       {"--threads", "--backends", "--only", "--accuracy", "--budget", "--ban", "--pin", "--shape", "--dump"})
    expect_error(run({"tune", model_, "--replay", plan_, "-o", file("no.collage"), option, "1"}), 2, "cli/usage",
                 option);
  expect_error(run({"tune", model_, "--replay", file("none.collage"), "-o", file("no.collage"), "--quiet"}), 6,
               "io/cannot-read", "none.collage");
}

}  // namespace
}  // namespace collage::testing
