#include "api/c/session.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "api/c/cancel.h"
#include "api/c/plan.h"
#include "api/c/sized_struct.h"
#include "api/c/status.h"

collage_session::collage_session(collage::LoadedPlan of, collage::Session made)
    : loaded(std::move(of)),
      session(std::move(made)),
      has_shape(!loaded.has_open_inputs()),
      inputs(loaded.inputs().size()),
      outputs(loaded.outputs().size()),
      output_extents(loaded.outputs().size()),
      texts(loaded.outputs().size()) {}

namespace collage::c_api {
namespace {

Result<void> check_options(const collage_session_options& options) {
  const auto wrong = [](const char* code, const char* member, std::int32_t saw, const char* allowed) {
    return fail(ExitCode::kUsage, code, std::string("collage_session_options.") + member, std::to_string(saw), allowed);
  };
  if (options.pool_threads < 0) return wrong("api/wrong-option", "pool_threads", options.pool_threads, "0 or more");
  if (options.pool_threads > 0 && options.parallel_for == nullptr)
    return wrong("api/wrong-option", "pool_threads", options.pool_threads, "0 without parallel_for");
  if (options.reserved != 0) return wrong("api/unknown-option", "reserved", options.reserved, "0");
  return {};
}

Result<void> check_input(const collage_session* session, std::size_t index) {
  COLLAGE_TRY_VOID(check_not_null(session, "session"));
  return check_index(index, session->inputs.size(), "input");
}

Result<void> check_output(const collage_session* session, std::size_t index) {
  COLLAGE_TRY_VOID(check_not_null(session, "session"));
  return check_index(index, session->outputs.size(), "output");
}

Result<void> check_shape(const collage_session& session) {
  if (session.has_shape) return {};
  return fail(ExitCode::kUsage, "session/no-shape", "session", "inputs with open extents",
              "a call of session_set_shapes before");
}

std::unexpected<Error> wrong_bytes(const char* kind, const TensorPort& port, std::size_t bytes, const char* relation) {
  return fail(ExitCode::kUsage, "api/wrong-bytes", std::string(kind) + " " + port.name,
              std::to_string(bytes) + " bytes", relation + std::to_string(port.bytes) + " bytes");
}

/// The port as it is now under its lasting name: ports of a shape that is no longer set may be gone.
Result<void> give_info(PortView& view, const TensorPort& now, const TensorPort& lasting, collage_tensor_info* info) {
  view.show(now);
  collage_tensor_info shown = view.info();
  shown.name = lasting.name.c_str();
  return give(shown, info, "collage_tensor_info");
}

Result<std::span<std::byte>> own_input(collage_session& session, std::size_t index) {
  COLLAGE_TRY_VOID(check_shape(session));
  if (const TensorPort& port = session.session.inputs()[index]; port.type.is_held())
    return fail(ExitCode::kUsage, "api/no-bytes", "input " + port.name, to_string(port.type),
                "session_set_strings or session_set_json for it");
  const std::span<std::byte> bytes = session.session.input(index);
  if (bytes.data() == nullptr)
    return fail(ExitCode::kUsage, "input/bound", "input " + session.loaded.inputs()[index].name,
                "the caller's memory is bound to it", "an input with the session's own memory");
  return bytes;
}

/// An output of the last run; its extents stay in the session.
Result<collage_tensor> output_of(collage_session& session, std::size_t index) {
  const std::string& name = session.loaded.outputs()[index].name;
  if (!session.has_run)
    return fail(ExitCode::kUsage, "session/not-run", "output " + name, "no successful run",
                "a call of session_run before, after shapes are set and memory is bound");
  COLLAGE_TRY(DynamicOutput found, session.session.output_tensor(index));
  if (bits_of(found.type) == 0)
    return fail(ExitCode::kUnsupported, "api/no-bytes", "output " + name,
                to_string(session.session.outputs()[index].type),
                "session_output_strings or session_output_json for it");
  Extents& extents = session.output_extents[index];
  extents.assign(found.extents.begin(), found.extents.end());  // the memory stays where the caller saw it
  return collage_tensor{.size = sizeof(collage_tensor),
                        .data = found.data,
                        .bytes = byte_count(found.type, extents),
                        .element_type = static_cast<std::int32_t>(found.type),
                        .rank = static_cast<std::int32_t>(extents.size()),
                        .extents = extents.data()};
}

Result<RunOptions> run_options(const collage_run_options& given) {
  RunOptions options;
  if (given.cancel != nullptr) options.cancel = given.cancel->source.get_token();
  if (given.time_limit_ns < 0)
    return fail(ExitCode::kUsage, "api/wrong-option", "collage_run_options.time_limit_ns",
                std::to_string(given.time_limit_ns), "0 or more");
  if (given.time_limit_ns > 0) options.deadline = later(std::chrono::nanoseconds(given.time_limit_ns));
  return options;
}

/// Reads one shape for each input; of those with another rank than the input nothing is read.
Result<void> read_shapes(const std::vector<TensorPort>& inputs, const collage_shape* given,
                         std::vector<Extents>& shapes) {
  shapes.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t rank = inputs[i].type.shape ? inputs[i].type.shape->size() : 0;
    if (given[i].rank != rank)
      return fail(ExitCode::kBadInput, "input/wrong-shape", "input " + inputs[i].name,
                  std::to_string(given[i].rank) + " extents", to_string(inputs[i].type));
    if (rank > 0) COLLAGE_TRY_VOID(check_not_null(given[i].extents, "shapes.extents"));
    shapes[i].assign(given[i].extents, given[i].extents + rank);
  }
  return {};
}

}  // namespace

collage_status* session_create(const collage_plan* plan, const collage_session_options* options,
                               collage_session** session) noexcept {
  return answer("session_create", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(session, "session"));
    *session = nullptr;
    COLLAGE_TRY_VOID(check_not_null(plan, "plan"));
    COLLAGE_TRY(const collage_session_options known, options_of(options, "collage_session_options"));
    COLLAGE_TRY_VOID(check_options(known));
    const PoolFunctions pool{.parallel_for = known.parallel_for, .pool = known.pool, .threads = known.pool_threads};
    COLLAGE_TRY(Session made, plan->loaded.make_session({.pool = pool}));
    *session = new collage_session(plan->loaded, std::move(made));
    return {};
  });
}

void session_free(collage_session* session) noexcept { delete session; }

collage_status* session_set_shapes(collage_session* session, const collage_shape* shapes, std::size_t count) noexcept {
  return answer("session_set_shapes", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(session, "session"));
    const std::size_t wanted = session->inputs.size();
    if (count != wanted)
      return fail(ExitCode::kBadInput, "input/wrong-count", "shapes", std::to_string(count), std::to_string(wanted));
    if (count > 0) COLLAGE_TRY_VOID(check_not_null(shapes, "shapes"));
    COLLAGE_TRY_VOID(read_shapes(session->loaded.inputs(), shapes, session->shapes));
    COLLAGE_TRY_VOID(session->session.set_shapes(session->shapes));
    session->has_shape = true;
    session->has_run = false;
    return {};
  });
}

collage_status* session_input_info(collage_session* session, std::size_t index, collage_tensor_info* info) noexcept {
  return answer("session_input_info", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_input(session, index));
    return give_info(session->inputs[index], session->session.inputs()[index], session->loaded.inputs()[index], info);
  });
}

collage_status* session_output_info(collage_session* session, std::size_t index, collage_tensor_info* info) noexcept {
  return answer("session_output_info", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_output(session, index));
    return give_info(session->outputs[index], session->session.outputs()[index], session->loaded.outputs()[index],
                     info);
  });
}

collage_status* session_input_index(const collage_session* session, const char* name, std::size_t* index) noexcept {
  return answer("session_input_index", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(session, "session"));
    return give_index(session->loaded, &LoadedPlan::input_index, name, index);
  });
}

collage_status* session_output_index(const collage_session* session, const char* name, std::size_t* index) noexcept {
  return answer("session_output_index", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(session, "session"));
    return give_index(session->loaded, &LoadedPlan::output_index, name, index);
  });
}

collage_status* session_input(collage_session* session, std::size_t index, void** data, std::size_t* bytes) noexcept {
  return answer("session_input", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_input(session, index));
    COLLAGE_TRY_VOID(check_not_null(data, "data"));
    COLLAGE_TRY_VOID(check_not_null(bytes, "bytes"));
    COLLAGE_TRY(const std::span<std::byte> own, own_input(*session, index));
    *data = own.data();
    *bytes = own.size();
    return {};
  });
}

collage_status* session_copy_input(collage_session* session, std::size_t index, const void* data,
                                   std::size_t bytes) noexcept {
  return answer("session_copy_input", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_input(session, index));
    COLLAGE_TRY(const std::span<std::byte> own, own_input(*session, index));
    if (bytes != own.size()) return wrong_bytes("input", session->session.inputs()[index], bytes, "");
    if (bytes == 0) return {};
    COLLAGE_TRY_VOID(check_not_null(data, "data"));
    std::memcpy(own.data(), data, bytes);
    return {};
  });
}

collage_status* session_output(collage_session* session, std::size_t index, collage_tensor* tensor) noexcept {
  return answer("session_output", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_output(session, index));
    COLLAGE_TRY(const collage_tensor found, output_of(*session, index));
    return give(found, tensor, "collage_tensor");
  });
}

collage_status* session_copy_output(collage_session* session, std::size_t index, void* data,
                                    std::size_t bytes) noexcept {
  return answer("session_copy_output", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_output(session, index));
    COLLAGE_TRY(const collage_tensor found, output_of(*session, index));
    if (bytes < found.bytes) {
      TensorPort port = session->loaded.outputs()[index];
      port.bytes = found.bytes;
      return wrong_bytes("output", port, bytes, "at least ");
    }
    if (found.bytes == 0) return {};
    COLLAGE_TRY_VOID(check_not_null(data, "data"));
    std::memcpy(data, found.data, found.bytes);
    return {};
  });
}

collage_status* session_bind_input(collage_session* session, std::size_t index, const void* data,
                                   std::size_t bytes) noexcept {
  return answer("session_bind_input", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_input(session, index));
    COLLAGE_TRY_VOID(check_shape(*session));
    const TensorPort& port = session->session.inputs()[index];
    if (data != nullptr && bytes < port.bytes) return wrong_bytes("input", port, bytes, "at least ");
    session->has_run = false;
    return session->session.bind_input(index, data);
  });
}

collage_status* session_bind_output(collage_session* session, std::size_t index, void* data,
                                    std::size_t bytes) noexcept {
  return answer("session_bind_output", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_output(session, index));
    COLLAGE_TRY_VOID(check_shape(*session));
    const TensorPort& port = session->session.outputs()[index];
    if (data != nullptr && bytes < port.bytes) return wrong_bytes("output", port, bytes, "at least ");
    session->has_run = false;
    return session->session.bind_output(index, data);
  });
}

collage_status* session_run(collage_session* session) noexcept {
  return answer("session_run", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(session, "session"));
    session->has_run = false;
    COLLAGE_TRY_VOID(session->session.run());
    session->has_run = true;
    return {};
  });
}

collage_status* session_run_with(collage_session* session, const collage_run_options* options) noexcept {
  return answer("session_run_with", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(session, "session"));
    COLLAGE_TRY(const collage_run_options known, options_of(options, "collage_run_options"));
    COLLAGE_TRY(const RunOptions run, run_options(known));
    session->has_run = false;
    COLLAGE_TRY_VOID(session->session.run(run));
    session->has_run = true;
    return {};
  });
}

}  // namespace collage::c_api
