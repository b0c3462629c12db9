// The table of the C interface and the one function that gives it.
#include <cstddef>

#include "api/c/cancel.h"
#include "api/c/collage.h"
#include "api/c/plan.h"
#include "api/c/session.h"
#include "api/c/status.h"
#include "api/c/values.h"

namespace collage::c_api {
namespace {

const char* version_string() noexcept { return COLLAGE_VERSION; }

constexpr collage_api kApi = {
    .size = sizeof(collage_api),
    .version = COLLAGE_API_VERSION,
    .version_string = version_string,
    .status_code = status_code,
    .status_message = status_message,
    .status_where = status_where,
    .status_saw = status_saw,
    .status_allowed = status_allowed,
    .status_kind = status_kind,
    .status_free = status_free,
    .plan_load_file = plan_load_file,
    .plan_load_memory = plan_load_memory,
    .plan_free = plan_free,
    .plan_input_count = plan_input_count,
    .plan_output_count = plan_output_count,
    .plan_input_info = plan_input_info,
    .plan_output_info = plan_output_info,
    .plan_input_index = plan_input_index,
    .plan_output_index = plan_output_index,
    .plan_threads = plan_threads,
    .plan_verdict = plan_verdict,
    .plan_metadata = plan_metadata,
    .session_create = session_create,
    .session_free = session_free,
    .session_set_shapes = session_set_shapes,
    .session_input_info = session_input_info,
    .session_output_info = session_output_info,
    .session_input_index = session_input_index,
    .session_output_index = session_output_index,
    .session_input = session_input,
    .session_copy_input = session_copy_input,
    .session_output = session_output,
    .session_copy_output = session_copy_output,
    .session_bind_input = session_bind_input,
    .session_bind_output = session_bind_output,
    .session_run = session_run,
    .session_run_with = session_run_with,
    .cancel_create = cancel_create,
    .cancel_now = cancel_now,
    .cancel_free = cancel_free,
    .plan_input_type = plan_input_type,
    .plan_output_type = plan_output_type,
    .session_set_strings = session_set_strings,
    .session_output_strings = session_output_strings,
    .session_set_json = session_set_json,
    .session_output_json = session_output_json,
};

// What programs were compiled with: within a version members are added behind the last one only.
static_assert(offsetof(collage_api, version) == 8 && offsetof(collage_api, version_string) == 16);
static_assert(offsetof(collage_api, plan_load_file) == 80 && offsetof(collage_api, session_create) == 176);
static_assert(offsetof(collage_api, session_run) == 280 && offsetof(collage_api, cancel_free) == 312);
static_assert(offsetof(collage_api, session_output_json) == 360 && sizeof(collage_api) == 368);
static_assert(sizeof(collage_string) == 16 && sizeof(collage_strings) == 40);
static_assert(sizeof(collage_plan_options) == 32 && offsetof(collage_plan_options, copy_file) == 16 &&
              offsetof(collage_plan_options, signed_by) == 24);
static_assert(sizeof(collage_session_options) == 32 && offsetof(collage_session_options, parallel_for) == 8);
static_assert(sizeof(collage_run_options) == 24 && offsetof(collage_run_options, cancel) == 16);
static_assert(sizeof(collage_tensor_info) == 48 && sizeof(collage_tensor) == 40);
static_assert(sizeof(collage_shape) == 16 && sizeof(collage_verdict) == 32);

}  // namespace
}  // namespace collage::c_api

extern "C" const collage_api* collage_get_api(std::uint32_t version) {
  return version == COLLAGE_API_VERSION ? &collage::c_api::kApi : nullptr;
}
