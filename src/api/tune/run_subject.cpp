#include "api/tune/run_subject.h"

#include <optional>
#include <utility>

#include "api/tune/gather_inputs.h"
#include "api/tune/plan_origin.h"
#include "api/tune/shape_choice.h"
#include "api/tune/source_model.h"
#include "api/tune/unmeasured.h"
#include "plan/file/cases_file.h"
#include "plan/file/plan_file.h"

namespace collage {
namespace {

/// What the arrays given say about open dimensions, and what is wrong with the first that cannot be read.
struct GivenShapes {
  ArrayShapes shapes;
  std::optional<Error> failure;
};

GivenShapes shapes_of(const std::map<std::string, std::string>& files) {
  GivenShapes given;
  for (const auto& [name, path] : files) {
    const auto tensor = read_array(path);
    if (tensor)
      given.shapes[name] = tensor->extents;
    else if (!given.failure)
      given.failure = tensor.error();
  }
  return given;
}

Result<RealisedPlan> plan_of_model(const RunSubjectOptions& options, Registry& registry) {
  GivenShapes given = shapes_of(options.files);
  auto plan = unmeasured_plan({.model = options.path,
                               .shapes = options.shapes,
                               .arrays = std::move(given.shapes),
                               .threads = options.threads,
                               .reader = options.reader},
                              registry);
  // Without the array a dimension stays open, which is not what is wrong.
  if (!plan && given.failure && plan.error().code == "import/unbound-dimension")
    return std::unexpected(*std::move(given.failure));
  return plan;
}

}  // namespace

Result<RunSubject> find_run_subject(const RunSubjectOptions& options, Registry& registry) {
  RunSubject subject;
  if (!is_plan_file(options.path)) {
    COLLAGE_TRY_VOID(refuse_model(options.path, options.signers));
    COLLAGE_TRY(subject.plan, plan_of_model(options, registry));
    subject.cases = single_case(subject.plan);
    COLLAGE_TRY(subject.graph, plan_onnx_graph(subject.plan, PlanWeights::kZeros));
    return subject;
  }
  COLLAGE_TRY(subject.cases, load_cases(options.path, Checked::kWhatRuns, options.signers));
  COLLAGE_TRY(const ShapePoint point, choose_point(subject.cases, options.shapes, options.files));
  COLLAGE_TRY(subject.plan, plan_at(subject.cases, point));
  COLLAGE_TRY(subject.graph, plan_onnx_graph(subject.plan, PlanWeights::kZeros));
  bind_inputs(subject.cases.domain, point, subject.graph);
  return subject;
}

}  // namespace collage
