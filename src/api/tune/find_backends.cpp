#include "api/tune/find_backends.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/tune/store_place.h"
#include "base/json_numbers.h"
#include "store/store.h"
#include "tune/rehearsal.h"

namespace collage {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// What one kind is here; a module that cannot be loaded is shown with the reason.
BackendInfo inspect(Registry& registry, const std::string& kind) {
  if (const auto backend = registry.inspect(kind))
    return (*backend)->info();
  else {
    BackendInfo info;
    info.name = info.kind = kind;
    info.unusable = backend.error().saw;
    return info;
  }
}

/// Leaves out the kinds that do not live through being tried in a worker.
Result<void> try_all(Registry& registry, const std::vector<std::string>& worker_command) {
  WorkerProcess worker(worker_command);
  RehearsalRequest request;
  request.backends = registry.kinds();
  COLLAGE_TRY(const Rehearsed tried, rehearse(worker, request));
  for (const auto& [name, refusal] : tried.refused)
    registry.exclude(name, fmt::format("{}: {}", name_of(refusal.reason), refusal.detail));
  return {};
}

std::string text_of(const std::vector<Strike>& strikes) {
  std::string text;
  for (const Strike& strike : strikes)
    text += fmt::format("{} {} on {} {} times; the last: {}\n", strike.backend,
                        strike.count >= kMostStrikes ? "is blocked, it crashed or hung" : "crashed or hung",
                        strike.operators, strike.count, strike.last);
  if (std::ranges::any_of(strikes, [](const Strike& strike) { return strike.count >= kMostStrikes; }))
    text += "collage backends --lift NAME[/OPERATORS] lets them be tried again\n";
  return text;
}

OrderedJson json_of(const BackendInfo& info) {
  return {{"name", info.name},        {"version", info.version},         {"build", info.build},
          {"engine", info.is_engine}, {"usable", info.unusable.empty()}, {"reason", info.unusable},
          {"devices", info.devices}};
}

OrderedJson json_of(const Strike& strike) {
  return {{"backend", strike.backend}, {"build", strike.build}, {"operators", strike.operators},
          {"count", strike.count},     {"last", strike.last},   {"blocked", strike.count >= kMostStrikes}};
}

}  // namespace

Result<FoundBackends> find_backends(const std::vector<std::string>& worker_command, const std::string& store,
                                    Registry& registry) {
  FoundBackends found;
  COLLAGE_TRY_VOID(try_all(registry, worker_command));
  COLLAGE_TRY(std::optional<Store> records, existing_store(store));
  if (records) found.strikes = strikes_in(*records);
  for (const std::string& kind : registry.kinds()) found.backends.push_back(inspect(registry, kind));
  for (const auto& [kind, reason] : registry.left_out()) {
    BackendInfo info;
    info.name = info.kind = kind;
    info.unusable = reason;
    found.backends.push_back(std::move(info));
  }
  std::ranges::sort(found.backends, {}, &BackendInfo::name);
  return found;
}

std::string to_text(const FoundBackends& found) {
  std::string text = fmt::format("{:<14} {:<22} {:<8} {}\n", "backend", "version", "usable", "devices or reason");
  for (const BackendInfo& info : found.backends) {
    const bool usable = info.unusable.empty();
    text += fmt::format("{:<14} {:<22} {:<8} {}\n", info.name, info.version, usable ? "yes" : "no",
                        usable ? fmt::format("{}", fmt::join(info.devices, ", ")) : info.unusable);
  }
  return text + text_of(found.strikes);
}

std::string to_json(const FoundBackends& found) {
  OrderedJson backends = OrderedJson::array();
  for (const BackendInfo& info : found.backends) backends.push_back(json_of(info));
  OrderedJson strikes = OrderedJson::array();
  for (const Strike& strike : found.strikes) strikes.push_back(json_of(strike));
  const OrderedJson object = {{"schema", "collage.backends/1"}, {"backends", backends}, {"strikes", strikes}};
  return object.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace collage
