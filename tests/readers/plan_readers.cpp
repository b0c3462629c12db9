// Plan files: run, explained, listed, compared with another.
#include <algorithm>
#include <fstream>

#include "api/tune/explain_plan.h"
#include "api/tune/plan_list.h"
#include "onnx/relocate.h"
#include "plan/diff/plan_diff.h"
#include "plan/file/cases_file.h"
#include "plan/file/plan_file.h"
#include "tests/plan/explain/explanation_fixture.h"
#include "tests/readers/plan_archive.h"
#include "tests/readers/reader.h"
#include "tests/readers/run_plan.h"
#include "tests/runtime/runtime_fixture.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shape_cases.h"
#include "tests/support/whole_file.h"

namespace collage::test {
namespace {

constexpr const char* kName = "x.collage";

/// Bodies in bodies, a loop, look-ups that are checked.
const char* const kControl = R"(graph g(%cond: bool[], %x: f32[4], %count: i64[], %rows: i64[2]) -> (%y, %z, %picked) {
  opset ai.onnx 26
  constant %two = f32[]{2.0}
  constant %table = f32[3,2]{1.0,2.0,3.0,4.0,5.0,6.0}
  %a: f32[4] = Add(%x, %x) "Add_0"
  %b: f32[4] = If(%cond) captures(%a, %two, %x) {else_branch=graph other() -> (%q) {
      capture %x: f32[4]
      capture %a: f32[4]
      %q: f32[4] = Sub(%x, %a) "Sub_0"
    }, then_branch=graph same() -> (%t) {
      capture %a: f32[4]
      capture %two: f32[]
      constant %w = f32[4]{1.0,10.0,100.0,1000.0}
      %s: f32[4] = Mul(%a, %two) "Mul_0"
      %t: f32[4] = Add(%s, %w) "Add_1"
    }} "If_1"
  %z: f32[4] = Loop(%count, %cond, %b) captures(%two) {body=graph body(%i: i64[], %go: bool[], %v: f32[4]) -> (%go, %r) {
      capture %two: f32[]
      %r: f32[4] = Mul(%v, %two) "Mul_0"
    }} "Loop_2"
  %y: f32[4] = Add(%b, %two) "Add_3"
  %picked: f32[2,2] = Gather(%table, %rows) "Gather_4"
}
)";

std::string saved(const RealisedPlan& plan) {
  const ScratchFolder folder;
  const auto done = save_plan(plan, folder.file(kName));
  COLLAGE_CHECK(done.has_value(), done ? "" : to_string(done.error()));
  return read_all(folder.file(kName));
}

/// One plan for each of two shapes.
std::string many_shapes() {
  const ScratchFolder folder;
  PlanCases cases{.domain = {{{"n", 1, 16}}}};
  const Graph open = added_rows(-1);
  cases.inputs = {{"x", open.value(open.inputs.front()).type}};
  for (const std::int64_t rows : {2, 8}) {
    Graph graph = added_rows(rows);
    // The constant of the made-up backend is a row for each of many.
    graph.values[1] = Value{.name = "w",
                            .type = ValueType::tensor(ElementType::kFloat32, {kCaseWidth}),
                            .constant = make_tensor<float>(ElementType::kFloat32, {kCaseWidth}, {1, 2, 3, 4})};
    cases.cases.push_back(
        {.point = {rows}, .weight = 1, .measured_us = 10, .generic_us = 20, .plan = all_plain(graph)});
  }
  auto done = share_weights(cases, relocate_external_data);
  if (done) done = save_cases(cases, folder.file(kName));
  COLLAGE_CHECK(done.has_value(), done ? "" : to_string(done.error()));
  return read_all(folder.file(kName));
}

std::vector<std::string> plans_to_run() {
  const auto control = parse_graph(kControl);
  COLLAGE_CHECK(control.has_value(), control ? "" : to_string(control.error()));
  const auto open = parse_graph(kOpenControl);
  COLLAGE_CHECK(open.has_value(), open ? "" : to_string(open.error()));
  return {saved(all_plain(sample_graph())), saved(all_plain(*control)), saved(all_plain(*open)), many_shapes()};
}

std::vector<std::string> plans_to_explain() {
  RealisedPlan rich = rich_sketch().realise().value();
  rich.plan.report->explanation = rich_explanation();
  rich.plan.report->rivals = {{"engine", 12.5}};
  rich.plan.report->plans = {{.name = "mixed", .us = 10, .faster = FasterBy{1.2, 1.1, 1.3}, .is_engine = false},
                             {.name = "engine", .us = 12, .faster = std::nullopt, .is_engine = true}};
  std::vector<std::string> all = plans_to_run();
  all.push_back(saved(rich));
  all.push_back(saved(realise_nested().value()));
  return all;
}

/// All that is said of a plan without running it.
Result<std::string> told_of(const std::string& path) {
  ExplainOptions options{.plan = path};
  COLLAGE_TRY(ExplainReport all, explain_plan(options, test_registry()));
  options.wants_page = options.wants_dot = true;
  if (const PlanCases cases = load_cases(path).value(); !cases.domain.dimensions.empty())
    options.shapes.entries[cases.domain.dimensions[0].name] = "2";
  if (const auto drawn = explain_plan(options, test_registry())) all.text += drawn->page + drawn->dot;
  options.wants_page = options.wants_dot = false;
  for (const char* node : {"a", "Add*", "If_1", "?"}) {
    options.node = node;
    if (const auto one = explain_plan(options, test_registry())) all.text += one->text + one->json;
  }
  options.node.clear();
  options.why_not = "a=other";
  if (const auto why = explain_plan(options, test_registry())) all.text += why->text + why->json;
  options.why_not.clear();
  options.what_if = {"a=other", "c=test:opt=1"};
  if (const auto what = explain_plan(options, test_registry())) all.text += what->text + what->json;
  COLLAGE_TRY(const PlanList list, list_plans({path}));
  for (const ListedPlan& plan : list.plans) all.text += plan.shape + plan.shipped;
  return all.text + all.json;
}

Result<std::string> compared(const std::string& path, const std::string& other) {
  COLLAGE_TRY(const PlanCases a, load_cases(path));
  COLLAGE_TRY(const PlanCases b, load_cases(other));
  COLLAGE_TRY(const PlanDiff diff, diff_plans({path, &any_plan(a).plan}, {other, &any_plan(b).plan}));
  return to_text(diff) + to_json(diff);
}

std::string mutated(const std::string& sample, const std::string& other, Dice& dice) {
  return mutated_plan(sample, other, dice);
}

Answer read_and_run(const std::string& bytes, const std::filesystem::path& folder) {
  write_bytes(folder / kName, bytes);
  Answer answer = run_plan(folder / kName);
  std::filesystem::remove(folder / kName);
  return answer;
}

Answer read_and_tell(const std::string& bytes, const std::filesystem::path& folder) {
  static const std::string whole = saved(rich_sketch().realise().value());
  write_bytes(folder / kName, bytes);
  write_bytes(folder / "whole.collage", whole);
  Answer answer = answer_of([&] { return told_of(folder / kName); });
  (void)compared(folder / kName, folder / "whole.collage");
  std::filesystem::remove(folder / kName);
  std::filesystem::remove(folder / "whole.collage");
  return answer;
}

}  // namespace

void add_plan_readers(std::vector<Reader>& all) {
  all.push_back({.name = "plan",
                 .samples = plans_to_run,
                 .mutate = mutated,
                 .read = read_and_run,
                 .names = kName,
                 .is_checked = true});
  all.push_back(
      {.name = "explain", .samples = plans_to_explain, .mutate = mutated, .read = read_and_tell, .names = kName});
}

}  // namespace collage::test
