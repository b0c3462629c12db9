#include "api/c/values.h"

#include <string>
#include <utility>

#include "api/c/plan.h"
#include "api/c/session.h"
#include "api/c/sized_struct.h"
#include "api/c/status.h"
#include "ir/value_json.h"

namespace collage::c_api {
namespace {

Result<void> give_type(const std::vector<std::string>& types, std::size_t index, const char* kind, const char** type) {
  COLLAGE_TRY_VOID(check_not_null(type, "type"));
  COLLAGE_TRY_VOID(check_index(index, types.size(), kind));
  *type = types[index].c_str();
  return {};
}

Result<void> check_input_now(const collage_session* session, std::size_t index) {
  COLLAGE_TRY_VOID(check_not_null(session, "session"));
  COLLAGE_TRY_VOID(check_index(index, session->inputs.size(), "input"));
  if (session->has_shape) return {};
  return fail(ExitCode::kUsage, "session/no-shape", "session", "inputs with open extents",
              "a call of session_set_shapes before");
}

/// An output of the last run.
Result<Tensor> value_of_output(const collage_session* session, std::size_t index) {
  COLLAGE_TRY_VOID(check_not_null(session, "session"));
  COLLAGE_TRY_VOID(check_index(index, session->outputs.size(), "output"));
  if (!session->has_run)
    return fail(ExitCode::kUsage, "session/not-run", "output " + session->loaded.outputs()[index].name,
                "no successful run", "a call of session_run before, after shapes are set and memory is bound");
  return session->session.value(index);
}

std::unexpected<Error> no_strings(const std::string& where, const ValueType& type) {
  return fail(ExitCode::kUsage, "api/wrong-type", where, to_string(type), "a tensor of strings");
}

}  // namespace

collage_status* plan_input_type(const collage_plan* plan, std::size_t index, const char** type) noexcept {
  return answer("plan_input_type", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
    return give_type(plan->input_types, index, "input", type);
  });
}

collage_status* plan_output_type(const collage_plan* plan, std::size_t index, const char** type) noexcept {
  return answer("plan_output_type", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
    return give_type(plan->output_types, index, "output", type);
  });
}

collage_status* session_set_strings(collage_session* session, std::size_t index, const collage_string* strings,
                                    std::size_t count) noexcept {
  return answer("session_set_strings", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_input_now(session, index));
    const TensorPort& port = session->session.inputs()[index];
    if (port.type.kind != ValueKind::kTensor || port.type.element != ElementType::kString)
      return no_strings("input " + port.name, port.type);
    Tensor value{.type = ElementType::kString, .extents = port.type.extents(), .strings = {}};
    if (count != static_cast<std::size_t>(value.size()))
      return fail(ExitCode::kUsage, "api/wrong-count", "input " + port.name, std::to_string(count) + " strings",
                  std::to_string(value.size()));
    if (count > 0) COLLAGE_TRY_VOID(check_not_null(strings, "strings"));
    for (std::size_t i = 0; i < count; ++i) {
      if (strings[i].bytes > 0) COLLAGE_TRY_VOID(check_not_null(strings[i].data, "strings.data"));
      value.strings.emplace_back(strings[i].bytes > 0 ? strings[i].data : "", strings[i].bytes);
    }
    return session->session.set_value(index, value);
  });
}

collage_status* session_output_strings(collage_session* session, std::size_t index, collage_strings* strings) noexcept {
  return answer("session_output_strings", [&]() -> Result<void> {
    COLLAGE_TRY(Tensor value, value_of_output(session, index));
    if (value.container || value.type != ElementType::kString)
      return no_strings("output " + session->loaded.outputs()[index].name, value.value_type());
    GivenText& given = session->texts[index];
    given.strings = std::move(value.strings);
    given.extents = std::move(value.extents);
    given.views.clear();
    for (const std::string& text : given.strings) given.views.push_back({.data = text.data(), .bytes = text.size()});
    const collage_strings ours = {.size = sizeof ours,
                                  .strings = given.views.data(),
                                  .count = given.views.size(),
                                  .rank = static_cast<std::int32_t>(given.extents.size()),
                                  .reserved = 0,
                                  .extents = given.extents.data()};
    return give(ours, strings, "collage_strings");
  });
}

collage_status* session_set_json(collage_session* session, std::size_t index, const char* json,
                                 std::size_t bytes) noexcept {
  return answer("session_set_json", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_input_now(session, index));
    COLLAGE_TRY_VOID(check_not_null(json, "json"));
    const TensorPort& port = session->session.inputs()[index];
    const std::string where = "input " + port.name;
    const auto parsed = parse_json({json, bytes}, where);
    if (!parsed) return fail(ExitCode::kBadInput, "tensor/malformed", where, parsed.error().saw, "a value in JSON");
    COLLAGE_TRY(const Tensor value, value_from_json(*parsed, port.type, where));
    return session->session.set_value(index, value);
  });
}

collage_status* session_output_json(collage_session* session, std::size_t index, const char** json,
                                    std::size_t* bytes) noexcept {
  return answer("session_output_json", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(json, "json"));
    COLLAGE_TRY_VOID(check_not_null(bytes, "bytes"));
    COLLAGE_TRY(const Tensor value, value_of_output(session, index));
    COLLAGE_TRY(const Json made, value_to_json(value, "output " + session->loaded.outputs()[index].name));
    std::string& text = session->texts[index].json;
    text = to_line(made);
    *json = text.c_str();
    *bytes = text.size();
    return {};
  });
}

}  // namespace collage::c_api
