#include "tune/plan_settings.h"

namespace collage {

TuneOptions with_settings_of(const Plan& plan, TuneOptions options) {
  options.shapes.entries = plan.shapes;
  options.threads = plan.threads;
  options.passes_off = plan.passes_off;
  options.bound = bound_in_plan(plan.accuracy);
  options.accuracy = options.bound->accuracy;
  options.backends.clear();
  for (const PlanBackend& backend : plan.backends) options.backends.push_back(backend.name);
  return options;
}

}  // namespace collage
