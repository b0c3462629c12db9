#include "api/c/plan.h"

#include <span>
#include <utility>

#include "api/c/sized_struct.h"
#include "api/c/status.h"
#include "api/run/plan_metadata.h"
#include "base/buffer.h"

collage_plan::collage_plan(collage::LoadedPlan of) : loaded(std::move(of)) {
  for (const collage::TensorPort& port : loaded.inputs()) inputs.emplace_back(port);
  for (const collage::TensorPort& port : loaded.outputs()) outputs.emplace_back(port);
  for (const collage::TensorPort& port : loaded.inputs()) input_types.push_back(to_string(port.type));
  for (const collage::TensorPort& port : loaded.outputs()) output_types.push_back(to_string(port.type));
  for (const std::string& reason : loaded.verdict().reasons) reasons.push_back(reason.c_str());
  metadata = collage::metadata_json(loaded.cases());
}

namespace collage::c_api {
namespace {

static_assert(COLLAGE_SAME == static_cast<int>(MachineVerdict::Kind::kSame));
static_assert(COLLAGE_USABLE == static_cast<int>(MachineVerdict::Kind::kUsable));
static_assert(COLLAGE_REFUSED == static_cast<int>(MachineVerdict::Kind::kRefused));

Result<LoadOptions> load_options_of(const collage_plan_options& options) {
  LoadOptions load{.threads = options.threads, .machine = {}, .copy_file = options.copy_file != 0};
  if (options.signed_by != nullptr) {
    COLLAGE_TRY(load.signers, public_keys_in(options.signed_by, "collage_plan_options.signed_by"));
  }
  return load;
}

/// Loads with `load(LoadOptions, collage_plan_options)` and gives the handle.
template <class Load>
Result<void> give_plan(const collage_plan_options* given, collage_plan** plan, Load&& load) {
  COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
  *plan = nullptr;
  COLLAGE_TRY(const collage_plan_options options, options_of(given, "collage_plan_options"));
  if (options.threads < 0)
    return fail(ExitCode::kUsage, "api/wrong-option", "collage_plan_options.threads", std::to_string(options.threads),
                "0 or more");
  if (options.reserved != 0)
    return fail(ExitCode::kUsage, "api/unknown-option", "collage_plan_options.reserved",
                std::to_string(options.reserved), "0");
  COLLAGE_TRY(const LoadOptions load_options, load_options_of(options));
  COLLAGE_TRY(LoadedPlan loaded, load(load_options, options));
  *plan = new collage_plan(std::move(loaded));
  return {};
}

Result<void> give_count(const collage_plan* plan, const std::vector<PortView> collage_plan::*ports,
                        std::size_t* count) {
  COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
  COLLAGE_TRY_VOID(check_not_null(count, "count"));
  *count = (plan->*ports).size();
  return {};
}

Result<void> give_info(const std::vector<PortView>& ports, std::size_t index, const char* kind,
                       collage_tensor_info* info) {
  COLLAGE_TRY_VOID(check_index(index, ports.size(), kind));
  return give(ports[index].info(), info, "collage_tensor_info");
}

}  // namespace

collage_status* plan_load_file(const char* path, const collage_plan_options* options, collage_plan** plan) noexcept {
  return answer("plan_load_file", [&] {
    return give_plan(options, plan, [&](const LoadOptions& load, const collage_plan_options&) -> Result<LoadedPlan> {
      COLLAGE_TRY_VOID(check_not_null(path, "path"));
      return LoadedPlan::load(std::string(path), load);
    });
  });
}

collage_status* plan_load_memory(const void* bytes, std::size_t byte_count, const collage_plan_options* options,
                                 collage_plan** plan) noexcept {
  return answer("plan_load_memory", [&] {
    return give_plan(options, plan,
                     [&](const LoadOptions& load, const collage_plan_options& known) -> Result<LoadedPlan> {
                       COLLAGE_TRY_VOID(check_not_null(bytes, "bytes"));
                       const std::span file(static_cast<const std::byte*>(bytes), byte_count);
                       const bool is_borrowed = known.borrow_memory != 0;
                       return LoadedPlan::load(is_borrowed ? Buffer(nullptr, file) : Buffer::copy_of(file), load);
                     });
  });
}

void plan_free(collage_plan* plan) noexcept { delete plan; }

collage_status* plan_input_count(const collage_plan* plan, std::size_t* count) noexcept {
  return answer("plan_input_count", [&] { return give_count(plan, &collage_plan::inputs, count); });
}

collage_status* plan_output_count(const collage_plan* plan, std::size_t* count) noexcept {
  return answer("plan_output_count", [&] { return give_count(plan, &collage_plan::outputs, count); });
}

collage_status* plan_input_info(const collage_plan* plan, std::size_t index, collage_tensor_info* info) noexcept {
  return answer("plan_input_info", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
    return give_info(plan->inputs, index, "input", info);
  });
}

collage_status* plan_output_info(const collage_plan* plan, std::size_t index, collage_tensor_info* info) noexcept {
  return answer("plan_output_info", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
    return give_info(plan->outputs, index, "output", info);
  });
}

collage_status* plan_input_index(const collage_plan* plan, const char* name, std::size_t* index) noexcept {
  return answer("plan_input_index", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
    return give_index(plan->loaded, &LoadedPlan::input_index, name, index);
  });
}

collage_status* plan_output_index(const collage_plan* plan, const char* name, std::size_t* index) noexcept {
  return answer("plan_output_index", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
    return give_index(plan->loaded, &LoadedPlan::output_index, name, index);
  });
}

collage_status* plan_threads(const collage_plan* plan, std::int32_t* threads) noexcept {
  return answer("plan_threads", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
    COLLAGE_TRY_VOID(check_not_null(threads, "threads"));
    *threads = plan->loaded.threads();
    return {};
  });
}

collage_status* plan_verdict(const collage_plan* plan, collage_verdict* verdict) noexcept {
  return answer("plan_verdict", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
    const collage_verdict ours = {.size = sizeof ours,
                                  .kind = static_cast<std::int32_t>(plan->loaded.verdict().kind),
                                  .reason_count = plan->reasons.size(),
                                  .reasons = plan->reasons.data()};
    return give(ours, verdict, "collage_verdict");
  });
}

collage_status* plan_metadata(const collage_plan* plan, const char** json) noexcept {
  return answer("plan_metadata", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
    COLLAGE_TRY_VOID(check_not_null(json, "json"));
    *json = plan->metadata.c_str();
    return {};
  });
}

}  // namespace collage::c_api
