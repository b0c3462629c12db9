#include "api/tune/verify.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/run/loaded_plan.h"
#include "api/tune/gather_inputs.h"
#include "api/tune/reference_model.h"
#include "api/tune/shape_choice.h"
#include "base/json_numbers.h"
#include "numbers/output_bound.h"
#include "plan/file/cases_file.h"

namespace collage {
namespace {

void merge(OutputCheck& check, const Comparison& comparison, int seed) {
  check.max_abs = std::max(check.max_abs, comparison.max_abs);
  check.max_rel = std::max(check.max_rel, comparison.max_rel);
  if (comparison.ok || !check.ok) return;
  check.ok = false;
  check.detail = fmt::format("input set {}: {}", seed, to_string(comparison));
}

void note_once(std::vector<std::string>& notes, const std::string& note) {
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
}

/// Appends the checks of the plan at one shape; `session` runs it.
Result<void> verify_one(Session& session, const RealisedPlan& plan, const std::string& shape,
                        const VerifyOptions& options, Registry& registry, VerifyReport& report) {
  COLLAGE_TRY(const SourceModel source, find_source_model(plan, options.model, registry, options.reader));
  const OutputBound bound = bound_in_plan(plan.plan.accuracy);
  std::vector<std::string> notes;
  if (source.note) notes.push_back(*source.note);
  COLLAGE_TRY(ReferenceModel reference, ReferenceModel::create(registry, source, notes));
  for (const std::string& note : notes) note_once(report.notes, note);
  const std::size_t first = report.outputs.size();
  for (ValueId id : source.graph.outputs)
    report.outputs.push_back(
        {.name = source.graph.value(id).name, .shape = shape, .max_abs = 0, .max_rel = 0, .ok = true, .detail = {}});
  for (int s = 0; s < options.seeds; ++s) {
    COLLAGE_TRY(const std::vector<Tensor> inputs,
                gather_inputs(source.graph, {.files = {},
                                             .ranges = options.input_ranges,
                                             .seed = options.seed + static_cast<std::uint64_t>(s)}));
    COLLAGE_TRY(const ReferenceOutputs expected, reference.run(inputs));
    COLLAGE_TRY_VOID(session.set_inputs(inputs));
    COLLAGE_TRY_VOID(session.run());
    COLLAGE_TRY(const std::vector<Tensor> seen, session.copy_outputs());
    for (std::size_t o = 0; o < seen.size(); ++o)
      merge(report.outputs[first + o], check_output(seen[o], expected.tensors[o], bound, expected.slacks[o]).comparison,
            s);
  }
  return {};
}

}  // namespace

Result<VerifyReport> verify_plan(const VerifyOptions& options, Registry& registry) {
  COLLAGE_TRY(const PlanCases cases, load_cases(options.plan, Checked::kEverything, options.signers));
  COLLAGE_TRY(const LoadedPlan loaded, LoadedPlan::load(cases, registry));
  COLLAGE_TRY(Session session, loaded.make_session());
  COLLAGE_TRY(std::vector<ShapePoint> points, choose_points(cases, options.shapes));
  if (options.shapes.entries.empty())
    for (ShapePoint& point : points_between(cases)) points.push_back(std::move(point));
  VerifyReport report;
  for (const ShapePoint& point : points) {
    COLLAGE_TRY(const RealisedPlan plan, plan_at(cases, point));
    COLLAGE_TRY_VOID(verify_one(session, plan, to_string(cases.domain, point), options, registry, report));
  }
  report.seeds = options.seeds;
  report.ok = std::all_of(report.outputs.begin(), report.outputs.end(), [](const OutputCheck& c) { return c.ok; });
  return report;
}

std::string to_text(const VerifyReport& report) {
  std::string text = fmt::format("{} with {} input set{}\n", report.ok ? "equal within bounds" : "DIFFERENT",
                                 report.seeds, report.seeds == 1 ? "" : "s");
  const std::string* shape = nullptr;
  for (const OutputCheck& check : report.outputs) {
    if (!check.shape.empty() && (shape == nullptr || *shape != check.shape)) text += check.shape + "\n";
    shape = &check.shape;
    text += fmt::format("  {:<32} max abs {:.3g}, max rel {:.3g}  {}\n", check.name, check.max_abs, check.max_rel,
                        check.ok ? "ok" : check.detail);
  }
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  return text;
}

std::string to_json(const VerifyReport& report) {
  nlohmann::ordered_json object = {{"schema", "collage.verify/1"}, {"ok", report.ok}, {"seeds", report.seeds}};
  object["outputs"] = nlohmann::ordered_json::array();
  for (const OutputCheck& check : report.outputs) {
    object["outputs"].push_back({{"name", check.name},
                                 {"max_abs", check.max_abs},
                                 {"max_rel", check.max_rel},
                                 {"ok", check.ok},
                                 {"detail", check.detail}});
    if (!check.shape.empty()) object["outputs"].back()["shape"] = check.shape;
  }
  object["notes"] = report.notes;
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace collage
