#include <memory>
#include <utility>

#include "api/c/plan.h"
#include "api/c/sized_struct.h"
#include "api/c/status.h"
#include "api/c_tune/context.h"
#include "api/c_tune/model_source.h"
#include "api/c_tune/texts.h"
#include "api/c_tune/tune.h"
#include "api/run/loaded_plan.h"
#include "api/tune/unmeasured.h"
#include "plan/plan_cases.h"

namespace collage::c_api {
namespace {

/// Loaded with a registry that lives as long as the plan and its sessions.
Result<LoadedPlan> load_model(const UnmeasuredOptions& options, const Context& context) {
  const auto registry = std::make_shared<Registry>(context.places());
  COLLAGE_TRY(RealisedPlan plan, unmeasured_plan(options, *registry));
  return LoadedPlan::load(single_case(std::move(plan)),
                          BackendSource([registry](const std::string& instance) { return registry->get(instance); }));
}

Result<LoadedPlan> load_model(const collage_model_options& given) {
  COLLAGE_TRY(const Context context, context_of(given.context));
  COLLAGE_TRY(const ModelSource model,
              ModelSource::from(given.model, given.model_bytes, given.model_byte_count, "collage_model_options"));
  UnmeasuredOptions options{.model = model.path(), .model_name = model.name(), .shapes = {}};
  COLLAGE_TRY(options.threads, count_of(given.threads, 1, kMostThreads, "collage_model_options.threads"));
  COLLAGE_TRY(const auto shapes, texts_of(given.shapes, "collage_model_options.shapes"));
  COLLAGE_TRY(options.shapes, parse_shape_bindings(shapes));
  COLLAGE_TRY(options.reader, context.model_reader());
  auto loaded = load_model(options, context);
  if (!loaded) return std::unexpected(model.renamed(std::move(loaded).error()));
  return loaded;
}

}  // namespace

collage_status* plan_of_model(const collage_model_options* options, collage_plan** plan) noexcept {
  return answer("plan_of_model", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
    *plan = nullptr;
    COLLAGE_TRY_VOID(check_not_null(options, "options"));
    COLLAGE_TRY(const collage_model_options given, options_of(options, "collage_model_options"));
    COLLAGE_TRY(LoadedPlan loaded, load_model(given));
    *plan = new collage_plan(std::move(loaded));
    return {};
  });
}

}  // namespace collage::c_api
