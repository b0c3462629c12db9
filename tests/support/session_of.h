// A plan made ready to run, for tests that look at its numbers.
#pragma once

#include <string>

#include "api/run/loaded_plan.h"
#include "plan/plan_cases.h"

namespace collage::test {

inline Result<Session> session_of(RealisedPlan plan, Registry& registry) {
  COLLAGE_TRY(const LoadedPlan loaded, LoadedPlan::load(single_case(std::move(plan)), registry));
  return loaded.make_session();
}

inline Result<Session> session_of(const std::string& path, Registry& registry) {
  COLLAGE_TRY(const LoadedPlan loaded, LoadedPlan::load(path, registry));
  return loaded.make_session();
}

}  // namespace collage::test
