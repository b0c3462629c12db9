// The functions of the table about plans (api/c/collage.h says what each does), and what a plan's handle holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/c/collage.h"
#include "api/c/port_view.h"
#include "api/c/status.h"
#include "api/run/loaded_plan.h"

/// A loaded plan with all that C asks of it made ready, so that any thread may ask.
struct collage_plan {  // NOLINT(readability-identifier-naming): a name of the C interface
  explicit collage_plan(collage::LoadedPlan of);

  collage::LoadedPlan loaded;
  std::vector<collage::c_api::PortView> inputs;
  std::vector<collage::c_api::PortView> outputs;
  std::vector<std::string> input_types;  ///< as text
  std::vector<std::string> output_types;
  std::vector<const char*> reasons;  ///< of the verdict
  std::string metadata;
};

namespace collage::c_api {

collage_status* plan_load_file(const char* path, const collage_plan_options* options, collage_plan** plan) noexcept;
collage_status* plan_load_memory(const void* bytes, std::size_t byte_count, const collage_plan_options* options,
                                 collage_plan** plan) noexcept;
void plan_free(collage_plan* plan) noexcept;
collage_status* plan_input_count(const collage_plan* plan, std::size_t* count) noexcept;
collage_status* plan_output_count(const collage_plan* plan, std::size_t* count) noexcept;
collage_status* plan_input_info(const collage_plan* plan, std::size_t index, collage_tensor_info* info) noexcept;
collage_status* plan_output_info(const collage_plan* plan, std::size_t index, collage_tensor_info* info) noexcept;
collage_status* plan_input_index(const collage_plan* plan, const char* name, std::size_t* index) noexcept;
collage_status* plan_output_index(const collage_plan* plan, const char* name, std::size_t* index) noexcept;
collage_status* plan_threads(const collage_plan* plan, std::int32_t* threads) noexcept;
collage_status* plan_verdict(const collage_plan* plan, collage_verdict* verdict) noexcept;
collage_status* plan_metadata(const collage_plan* plan, const char** json) noexcept;

/// The index of a port by its name, with LoadedPlan::input_index or output_index as `find`.
template <class Find>
[[nodiscard]] Result<void> give_index(const LoadedPlan& plan, Find find, const char* name, std::size_t* index) {
  COLLAGE_TRY_VOID(check_not_null(name, "name"));
  COLLAGE_TRY_VOID(check_not_null(index, "index"));
  COLLAGE_TRY(*index, (plan.*find)(name));
  return {};
}

}  // namespace collage::c_api
