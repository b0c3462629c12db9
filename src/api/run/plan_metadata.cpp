#include "api/run/plan_metadata.h"

#include "base/json.h"
#include "plan/plan_cases.h"

namespace collage {
namespace {

constexpr const char* kMetadataSchema = "collage.plan-metadata/1";

Json to_json(const ShapeDomain& domain) {
  Json list = Json::array();
  for (const DimensionRange& range : domain.dimensions)
    list.push_back({{"name", range.name}, {"low", range.low}, {"high", range.high}});
  return list;
}

Json to_json(const std::vector<PlanBackend>& backends) {
  Json list = Json::array();
  for (const PlanBackend& backend : backends)
    list.push_back({{"name", backend.name}, {"version", backend.version}, {"build", backend.build}});
  return list;
}

Json plan_entry(const Plan& plan, Json extents, bool is_generic) {
  const StepCounts counts = count_steps(plan);
  return {{"extents", std::move(extents)},
          {"is_generic", is_generic},
          {"steps", counts.steps},
          {"views", counts.views},
          {"step_backends", counts.backends}};
}

Json plan_entries(const PlanCases& cases) {
  Json list = Json::array();
  for (const PlanCase& one : cases.cases) {
    Json extents = Json::object();
    for (std::size_t d = 0; d < one.point.size(); ++d) extents[cases.domain.dimensions[d].name] = one.point[d];
    list.push_back(plan_entry(one.plan.plan, std::move(extents), false));
  }
  if (cases.generic) list.push_back(plan_entry(cases.generic->plan, Json::object(), true));
  return list;
}

}  // namespace

std::string metadata_json(const PlanCases& cases) {
  const Plan& plan = any_plan(cases).plan;
  const Json signer = cases.signer ? Json(name_of(cases.signer->key)) : Json(nullptr);
  return to_line({{"schema", kMetadataSchema},
                  {"model", {{"path", plan.model_path}, {"hash", plan.model_hash}}},
                  {"shapes", plan.shapes},
                  {"domain", to_json(cases.domain)},
                  {"accuracy", plan.accuracy},
                  {"threads", plan.threads},
                  {"machine", plan.machine},
                  {"signer", signer},
                  {"signature_checked", cases.signer && cases.signer->is_checked},
                  {"backends", to_json(plan.backends)},
                  {"plans", plan_entries(cases)}});
}

}  // namespace collage
