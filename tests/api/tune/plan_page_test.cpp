// The page of a plan: what is in the file, and in a browser what it shows.
#include "api/tune/page/plan_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/json_numbers.h"
#include "plan/file/plan_file.h"
#include "tests/plan/explain/explanation_fixture.h"
#include "tests/support/paths.h"
#include "tests/support/scratch_folder.h"

namespace collage {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kSkipped = 77;

std::string stored(const std::string& name) { return test::source_path("/tests/api/c/stored/" + name); }

RealisedPlan stored_plan(const std::string& name) {
  auto plan = load_plan(stored(name));
  COLLAGE_CHECK(plan.has_value(), name);
  return *std::move(plan);
}

/// Names that would end the script, run one, load something, turn the text around, or fill the page.
std::vector<std::string> hostile_names() {
  return {"</script><script>alert(1)</script>",
          "<img src=x onerror=alert(1)>",
          "\"><svg onload=alert(1)>",
          "\u202eesrever",
          std::string(10'000, 'w'),
          "a\u2028b & <!-- {{x}} @DATA@ @SCRIPT@"};
}

RealisedPlan hostile_plan() {
  RealisedPlan realised = stored_plan("host_only.collage");
  const std::vector<std::string> names = hostile_names();
  std::size_t count = 0;
  const auto next = [&] {
    ++count;
    return names[count % names.size()] + std::to_string(count);
  };
  for (PlanValue& value : realised.plan.values) value.name = next();
  for (PlanStep& step : realised.plan.steps)
    if (StepNodes* nodes = nodes_in(step))
      for (std::string& node : nodes->names) node = next();
  realised.plan.model_path = names[0];
  return realised;
}

/// With engines, intervals, 16 bits, offers and refusals, and hostile text in all of them.
RealisedPlan rich_plan() {
  auto realised = rich_sketch().realise();
  COLLAGE_CHECK(realised.has_value(), "the plan of the tests");
  Explanation explanation = rich_explanation();
  const std::vector<std::string> names = hostile_names();
  explanation.candidates[1].backend += names[0];
  explanation.candidates[1].variant += names[1];
  explanation.refusals[0].detail += names[2];
  explanation.apparent_loss_against += names[0];
  explanation.plan += names[1];
  realised->plan = explained_plan(explanation);
  realised->plan.report->plans[0].name += names[0];
  realised->plan.steps[3].variant += names[2];
  realised->plan.steps[3].runner_up += names[1];
  return *std::move(realised);
}

/// A chain of so many steps, each with a node of its own. Its values lie in two places of the arena in turns.
Plan long_plan(std::size_t steps) {
  Plan plan = stored_plan("host_only.collage").plan;
  const PlanStep step = plan.steps.back();
  const PlanIndex output = step.outputs.front();
  const PlanValue last = plan.values[output];
  const std::size_t room = (last.bytes + 63) / 64 * 64;
  plan.steps.clear();
  plan.arena_bytes = 2 * room;
  PlanIndex before = plan.inputs.front();
  for (std::size_t s = 0; s < steps; ++s) {
    PlanStep& made = plan.steps.emplace_back(step);
    made.cost_ns = static_cast<std::int64_t>(1000 + s);
    if (StepNodes* nodes = nodes_in(made)) nodes->names = {"/layers." + std::to_string(s) + "/MatMul"};
    made.inputs = {before};
    if (s + 1 < steps) {
      PlanValue value = last;
      value.name = "between" + std::to_string(s);
      value.storage = Storage::kArena;
      value.offset = s % 2 * room;
      made.outputs = {static_cast<PlanIndex>(plan.values.size())};
      plan.values.push_back(std::move(value));
    }
    before = made.outputs.front();
  }
  return plan;
}

/// The same with every third step made by another variant, in a time of its own.
Plan changed(Plan plan) {
  for (std::size_t s = 0; s < plan.steps.size(); s += 3) {
    plan.steps[s].variant = "other";
    plan.steps[s].cost_ns += static_cast<std::int64_t>(s % 2 == 0 ? 100 * s : -20 * s);
  }
  return plan;
}

void save_as(Plan plan, const std::string& file) {
  RealisedPlan realised = stored_plan("host_only.collage");
  realised.plan = std::move(plan);
  ASSERT_TRUE(save_plan(realised, file));
}

std::string data_in(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}

TEST(PlanPage, HoldsAllOfThePlanAndNeedsNothingElse) {
  const Plan plan = stored_plan("native_avx2.collage").plan;
  const std::string page = plan_page(plan);
  const auto data = nlohmann::json::parse(data_in(page));
  EXPECT_EQ(data["steps"].size(), plan.steps.size());
  EXPECT_EQ(data["values"].size(), plan.values.size());
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  for (const char* outside : {"http://", "https://", " src=", "@POLICY@", "@TITLE@", "@STYLE@", "@BODY@", "@DATA@",
                              "@PARTS@", "@SCRIPT@", "import("}) {
    std::string rest = page;
    // The name of SVG's namespace is no address to load from.
    for (std::size_t at = 0; (at = rest.find("http://www.w3.org/2000/svg")) != std::string::npos;) rest.erase(at, 26);
    EXPECT_THAT(rest, Not(HasSubstr(outside)));
  }
}

TEST(PlanPage, TakesNamesForTextWhateverTheyHold) {
  const RealisedPlan plan = hostile_plan();
  const std::string data = data_in(plan_page(plan.plan));
  EXPECT_THAT(data, Not(HasSubstr("<")));
  const auto read = nlohmann::json::parse(data);
  for (std::size_t v = 0; v < plan.plan.values.size(); ++v)
    EXPECT_EQ(read["values"][v]["name"], plan.plan.values[v].name);
}

TEST(PlanPage, IsSmall) {
  EXPECT_LT(plan_page(long_plan(200)).size(), 400'000U);
  EXPECT_LT(plan_page(long_plan(5000)).size(), 3'000'000U);
}

/// tests/api/tune/page/page_test.mjs: no error, no request, the numbers of `explain --json`, linked views, keys,
/// search, accessibility.
TEST(PlanPage, ShowsInABrowserWhatExplainSays) {
  const test::ScratchFolder folder;
  std::string command = "node '" + test::source_path("/tests/api/tune/page/page_test.mjs") + "' '" +
                        test::build_path("/bin/collage") + "' '" + folder.file("before.collage") + "' '" +
                        folder.file("after.collage") + "' '" + stored("host_only.collage") + "' '" +
                        stored("native_avx2.collage") + "'";
  save_as(long_plan(40), folder.file("before.collage"));
  save_as(changed(long_plan(40)), folder.file("after.collage"));
  ASSERT_TRUE(save_plan(hostile_plan(), folder.file("hostile.collage")));
  ASSERT_TRUE(save_plan(rich_plan(), folder.file("rich.collage")));
  for (const std::size_t steps : {200, 2000}) {
    const std::string file = folder.file("steps" + std::to_string(steps) + ".collage");
    save_as(long_plan(steps), file);
    command += " '" + file + "'";
  }
  command += " '" + folder.file("hostile.collage") + "' '" + folder.file("rich.collage") + "' > '" +
             folder.file("said") + "' 2>&1";
  const int status = std::system(command.c_str());
  std::ifstream said(folder.file("said"));
  const std::string text{std::istreambuf_iterator<char>(said), {}};
  const int exit_code = WEXITSTATUS(status);
  if (exit_code == kSkipped || exit_code == 127) GTEST_SKIP() << text;
  EXPECT_EQ(exit_code, 0) << text;
  RecordProperty("pages", text);
}

}  // namespace
}  // namespace collage
