// What a run through the C interface costs beside one in C++, of the same plan file: the budget is 1 us.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <memory>
#include <string>

#include "api/c/collage.h"
#include "api/run/loaded_plan.h"
#include "base/work_folder.h"
#include "plan/file/plan_file.h"
#include "tests/support/shape_cases.h"

namespace collage {
namespace {

/// One step that adds four numbers: the rest of a run is what is measured.
class SmallPlan {
 public:
  SmallPlan() : folder_(WorkFolder::create().value()), path_(folder_.file("small.collage")) {
    ::setenv("COLLAGE_BACKEND_PATH", BENCH_MODULES, 1);
    is_saved_ = save_plan(test::plan_of_rows(1), path_).has_value();
  }
  [[nodiscard]] bool is_saved() const { return is_saved_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  WorkFolder folder_;
  std::string path_;
  bool is_saved_ = false;
};

void run_session(benchmark::State& state) {
  const SmallPlan small;
  const auto plan = LoadedPlan::load(small.path());
  if (!small.is_saved() || !plan) return state.SkipWithError("no plan");
  Session session = plan->make_session().value();
  for (auto _ : state)
    if (!session.run()) state.SkipWithError("a step failed");
}
BENCHMARK(run_session);

void run_session_through_c(benchmark::State& state) {
  const SmallPlan small;
  const collage_api* const api = collage_get_api(COLLAGE_API_VERSION);
  collage_plan* plan = nullptr;
  collage_session* session = nullptr;
  collage_status* status = api->plan_load_file(small.path().c_str(), nullptr, &plan);
  if (status == nullptr) status = api->session_create(plan, nullptr, &session);
  if (status != nullptr) state.SkipWithError(api->status_message(status));
  for (auto _ : state)
    if (status == nullptr && (status = api->session_run(session)) != nullptr) state.SkipWithError("a step failed");
  api->status_free(status);
  api->session_free(session);
  api->plan_free(plan);
}
BENCHMARK(run_session_through_c);

}  // namespace
}  // namespace collage
