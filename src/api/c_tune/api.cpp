// The table of the C interface for tuning and the one function that gives it.
#include <cstddef>

#include "api/c/cancel.h"
#include "api/c_tune/checks.h"
#include "api/c_tune/collage_tune.h"
#include "api/c_tune/report.h"
#include "api/c_tune/tune.h"
#include "api/c_tune/worker.h"

namespace collage::c_api {
namespace {

constexpr collage_tune_api kTuneApi = {
    .size = sizeof(collage_tune_api),
    .version = COLLAGE_TUNE_API_VERSION,
    .tune = tune_model,
    .plan_of_model = plan_of_model,
    .bench = bench_plan,
    .verify = verify_plan,
    .recheck = recheck_plan,
    .explain = explain_plan,
    .backends = list_backends,
    .report_json = report_json,
    .report_text = report_text,
    .report_ok = report_ok,
    .report_tune_summary = report_tune_summary,
    .report_free = report_free,
    .cancel_create = cancel_create,
    .cancel_now = cancel_now,
    .cancel_free = cancel_free,
    .serve_worker = serve_jobs,
};

// What programs were compiled with: within a version members are added behind the last one only.
static_assert(offsetof(collage_tune_api, version) == 8 && offsetof(collage_tune_api, tune) == 16);
static_assert(offsetof(collage_tune_api, serve_worker) == 136 && sizeof(collage_tune_api) == 144);
static_assert(sizeof(collage_texts) == 16 && sizeof(collage_context) == 96 && sizeof(collage_progress) == 80);
static_assert(sizeof(collage_tune_options) == 280 && sizeof(collage_model_options) == 64);
static_assert(sizeof(collage_bench_options) == 104 && sizeof(collage_check_options) == 104);
static_assert(sizeof(collage_tune_summary) == 112);

}  // namespace
}  // namespace collage::c_api

extern "C" const collage_tune_api* collage_get_tune_api(std::uint32_t version) {
  return version == COLLAGE_TUNE_API_VERSION ? &collage::c_api::kTuneApi : nullptr;
}
