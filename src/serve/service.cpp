#include "serve/service.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "base/json.h"
#include "base/number_text.h"
#include "base/suggest.h"
#include "serve/guarded.h"
#include "serve/infer_inputs.h"
#include "serve/infer_response.h"
#include "serve/model_metadata.h"
#include "serve/request_reader.h"
#include "serve/status.h"

namespace collage {
namespace {

/// A request that waits longer than this may as well have no deadline.
constexpr std::uint64_t kMostTimeoutUs = 24ULL * 3600 * 1000 * 1000;

/// "v2/models/a" without the "v2": what lies between slashes.
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(path, '/'))
    if (const std::string_view text(part.begin(), part.end()); !text.empty()) parts.push_back(text);
  return parts;
}

std::unexpected<Error> not_found(std::string_view path) {
  return fail(ExitCode::kBadInput, "serve/not-found", std::string(path), "no such address",
              "/v2, /v2/health/live, /v2/health/ready, /v2/models/NAME, /v2/models/NAME/ready, /v2/models/NAME/infer, "
              "/v2/repository/index, /metrics");
}

/// What is asked of a model: "infer" of v2/models/NAME[/versions/1]/infer, "" of its metadata.
Result<std::string_view> action_of(std::string_view path, const std::vector<std::string_view>& parts) {
  std::size_t at = 3;
  if (parts.size() > 4 && parts[3] == "versions") {
    if (parts[4] != "1")
      return fail(ExitCode::kBadInput, "serve/unknown-version", "version " + std::string(parts[4]), "no such version",
                  "1, the only one");
    at = 5;
  }
  if (parts.size() > at + 1) return not_found(path);
  return parts.size() > at ? parts[at] : std::string_view();
}

ServiceAnswer json_answer(std::string text) {
  return {.status = 200, .type = "application/json", .text = std::move(text), .binary = {}};
}

struct SplitBody {
  std::string_view json;
  std::span<const std::byte> binary;
};

Result<SplitBody> split_body(const ServiceRequest& request) {
  if (!request.json_bytes) return SplitBody{.json = request.body, .binary = {}};
  const auto size = number_in<std::uint64_t>(*request.json_bytes);
  if (!size || *size > request.body.size())
    return fail(ExitCode::kBadInput, "serve/wrong-size", "Inference-Header-Content-Length", *request.json_bytes,
                fmt::format("0 to {}, the size of the body", request.body.size()));
  return SplitBody{.json = request.body.substr(0, *size),
                   .binary = std::as_bytes(std::span(request.body.substr(*size)))};
}

/// Why a plan could not be loaded, for a client that asked for it: the file is no fault of the request.
Error fault_of_the_server(Error error) {
  if (http_status_of(error) == 400) error.exit = ExitCode::kIo;
  return error;
}

ServiceAnswer answer_of(InferResponse response) {
  const bool is_binary = !response.binary.empty();
  return {.status = 200,
          .type = is_binary ? "application/octet-stream" : "application/json",
          .text = std::move(response.json),
          .binary = std::move(response.binary)};
}

}  // namespace

ServiceAnswer Service::answer(const ServiceRequest& request) {
  Result<ServiceAnswer> answer = guarded("request", "a smaller request", [&] { return route(request); });
  return answer ? *std::move(answer) : refusal(answer.error());
}

ServiceAnswer Service::refusal(const Error& error) {
  {
    const std::scoped_lock lock(mutex_);
    ++other_failures_[error.code];
  }
  return error_answer(error);
}

Result<ModelHost*> Service::host_of(std::string_view name) const {
  const auto found = std::ranges::find_if(models_, [name](const auto& host) { return host->name() == name; });
  if (found != models_.end()) return found->get();
  std::vector<std::string> names;
  for (const auto& host : models_) names.push_back(host->name());
  return fail(ExitCode::kBadInput, "serve/unknown-model", "model " + std::string(name),
              "no such model" + did_you_mean(name, names), "one that /v2/repository/index lists");
}

Result<ServiceAnswer> Service::route(const ServiceRequest& request) {
  const Address address{.path = request.path, .parts = parts_of(request.path)};
  if (request.method == "GET" || request.method == "HEAD") return route_get(address);
  if (request.method == "POST") return route_post(address, request);
  return fail(ExitCode::kBadInput, "serve/wrong-method", std::string(request.path), std::string(request.method),
              "GET or POST");
}

Result<ServiceAnswer> Service::route_get(const Address& address) {
  const auto& [path, parts] = address;
  if (parts.size() == 1 && parts[0] == "metrics") return metrics();
  if (parts.empty() || parts[0] != "v2") return not_found(path);
  if (parts.size() == 1) return server_metadata();
  if (parts.size() == 3 && parts[1] == "health" && parts[2] == "live") return json_answer(R"({"live":true})");
  if (parts.size() == 3 && parts[1] == "health" && parts[2] == "ready") {
    ServiceAnswer answer = json_answer(is_ready() ? R"({"ready":true})" : R"({"ready":false})");
    answer.status = is_ready() ? 200 : 503;
    return answer;
  }
  if (parts.size() < 3 || parts[1] != "models") return not_found(path);
  COLLAGE_TRY(ModelHost* const host, host_of(parts[2]));
  return about_model(*host, address);
}

Result<ServiceAnswer> Service::route_post(const Address& address, const ServiceRequest& request) {
  const auto& [path, parts] = address;
  if (parts.size() < 3 || parts[0] != "v2") return not_found(path);
  if (parts[1] == "repository") return change_repository(address);
  if (parts[1] != "models") return not_found(path);
  COLLAGE_TRY(ModelHost* const host, host_of(parts[2]));
  COLLAGE_TRY(const std::string_view what, action_of(path, parts));
  if (what != "infer") return not_found(path);
  return counted_infer(*host, request);
}

Result<ServiceAnswer> Service::about_model(ModelHost& host, const Address& address) {
  COLLAGE_TRY(const std::string_view what, action_of(address.path, address.parts));
  const std::shared_ptr<Model> model = host.current();
  if (what == "ready") {
    ServiceAnswer answer = json_answer(to_line({{"name", host.name()}, {"ready", model != nullptr}}));
    answer.status = model ? 200 : 503;
    return answer;
  }
  if (what != "" && what != "config") return not_found(address.path);
  if (!model)
    return fail(ExitCode::kLimit, "serve/not-loaded", "model " + host.name(), host.reason(), "a load request before");
  return json_answer(what == "config" ? config_json(host.name(), *model) : model_metadata_json(host.name(), *model));
}

ServiceAnswer Service::counted_infer(ModelHost& host, const ServiceRequest& request) {
  host.metrics().requests.fetch_add(1);
  Result<ServiceAnswer> answer = infer(host, request);
  if (answer) return *std::move(answer);
  host.metrics().count_failure(answer.error().code);
  return error_answer(answer.error());
}

Result<ServiceAnswer> Service::infer(ModelHost& host, const ServiceRequest& request) {
  const ServeClock::time_point arrived = ServeClock::now();
  COLLAGE_TRY(const SplitBody body, split_body(request));
  for (;;) {
    // Read again when the plan was replaced meanwhile: its elements have moved into the first attempt.
    COLLAGE_TRY(InferRequest asked, read_infer_request(body.json));
    const std::shared_ptr<Model> model = host.current();
    if (!model)
      return fail(ExitCode::kLimit, "serve/not-loaded", "model " + host.name(), host.reason(), "a load request before");
    PendingRequest pending;
    pending.arrived = arrived;
    const auto timeout = asked.timeout_us.value_or(0) > 0
                             ? std::chrono::microseconds(std::min<std::uint64_t>(*asked.timeout_us, kMostTimeoutUs))
                             : deadline_;
    if (timeout.count() > 0) pending.deadline = arrived + timeout;
    COLLAGE_TRY_VOID(fill_pending(asked, body.binary, *model, pending));
    if (auto queued = model->queue().submit(pending); !queued) {
      // The plan was replaced after it was looked up: the new one takes the request.
      if (queued.error().code == "serve/closing" && host.current() != model) continue;
      return std::unexpected(std::move(queued).error());
    }
    model->queue().wait(pending);
    if (pending.error) return std::unexpected(std::move(*pending.error));
    COLLAGE_TRY(InferResponse response, make_response(host.name(), asked, model->plan().outputs(), pending));
    return answer_of(std::move(response));
  }
}

Result<ServiceAnswer> Service::change_repository(const Address& address) {
  const auto& [path, parts] = address;
  if (parts.size() == 3 && parts[2] == "index") return repository_index();
  if (parts.size() != 5 || parts[2] != "models") return not_found(path);
  COLLAGE_TRY(ModelHost* const host, host_of(parts[3]));
  if (parts[4] == "load") {
    if (auto loaded = host->load(); !loaded) return std::unexpected(fault_of_the_server(std::move(loaded).error()));
  } else if (parts[4] == "unload") {
    host->unload();
  } else {
    return not_found(path);
  }
  return json_answer("{}");
}

ServiceAnswer Service::repository_index() const {
  Json index = Json::array();
  for (const auto& host : models_)
    index.push_back({{"name", host->name()},
                     {"version", "1"},
                     {"state", host->current() ? "READY" : "UNAVAILABLE"},
                     {"reason", host->reason()}});
  return json_answer(to_line(index));
}

ServiceAnswer Service::metrics() const {
  std::vector<ModelSample> samples;
  for (const auto& host : models_) {
    const std::shared_ptr<Model> model = host->current();
    samples.push_back({.name = host->name(),
                       .metrics = &host->metrics(),
                       .queue_length = model ? model->queue().size() : 0,
                       .is_ready = model != nullptr});
  }
  const std::scoped_lock lock(mutex_);
  return {.status = 200,
          .type = "text/plain; version=0.0.4; charset=utf-8",
          .text = metrics_text(samples, other_failures_, connections_ ? connections_() : 0),
          .binary = {}};
}

ServiceAnswer Service::server_metadata() const {
  return json_answer(to_line({{"name", "collage"},
                              {"version", version_},
                              {"extensions", {"binary_tensor_data", "model_repository", "model_configuration"}}}));
}

bool Service::is_ready() const {
  return !is_ending_ && std::ranges::all_of(models_, [](const auto& host) { return host->current() != nullptr; });
}

std::vector<Error> Service::reload() {
  std::vector<Error> errors;
  for (const auto& host : models_)
    if (auto loaded = host->load(); !loaded) errors.push_back(std::move(loaded).error());
  return errors;
}

void Service::end() {
  for (const auto& host : models_) host->unload();
}

}  // namespace collage
