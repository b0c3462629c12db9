#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/registry.h"
#include "base/suggest.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/look_up.h"
#include "cli/program.h"
#include "region/instance_name.h"
#include "store/strikes.h"
#include "tune/rehearsal.h"

namespace collage::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct BackendsCommand {
  CommonOptions common;
  std::string lift;
  std::vector<std::string> worker_command;
};

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

Result<std::vector<Strike>> strikes_here(const CommonOptions& common) {
  COLLAGE_TRY(std::optional<Store> store, store_if_any(common));
  return store ? strikes_in(*store) : std::vector<Strike>();
}

std::string table_of(const std::vector<BackendInfo>& infos) {
  std::string text = fmt::format("{:<14} {:<22} {:<8} {}\n", "backend", "version", "usable", "devices or reason");
  for (const BackendInfo& info : infos) {
    const bool usable = info.unusable.empty();
    text += fmt::format("{:<14} {:<22} {:<8} {}\n", info.name, info.version, usable ? "yes" : "no",
                        usable ? fmt::format("{}", fmt::join(info.devices, ", ")) : info.unusable);
  }
  return text;
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

int show(const BackendsCommand& options, Console& console) {
  Registry registry(module_places(options.common.backend_libraries));
  if (auto tried = try_all(registry, worker_command(options.worker_command, options.common)); !tried)
    return console.failure(tried.error());
  const auto strikes = strikes_here(options.common);
  if (!strikes) return console.failure(strikes.error());
  std::vector<BackendInfo> infos;
  OrderedJson list = OrderedJson::array();
  for (const std::string& kind : registry.kinds()) list.push_back(json_of(infos.emplace_back(inspect(registry, kind))));
  OrderedJson counted = OrderedJson::array();
  for (const Strike& strike : *strikes) counted.push_back(json_of(strike));
  const OrderedJson object = {{"schema", "collage.backends/1"}, {"backends", list}, {"strikes", counted}};
  if (auto shown = console.result(table_of(infos) + text_of(*strikes),
                                  object.dump(2, ' ', false, OrderedJson::error_handler_t::replace));
      !shown)
    return console.failure(shown.error());
  return 0;
}

/// What --lift names.
struct Lifted {
  std::string backend;
  std::string operators;  ///< empty: all
};

/// "NAME" or "NAME/OPERATORS".
Lifted lifted_by(const std::string& text) {
  const std::size_t slash = text.find('/');
  return {.backend = text.substr(0, slash), .operators = slash == std::string::npos ? "" : text.substr(slash + 1)};
}

/// Kinds that are here, and instances and kinds that crashed or hung.
std::vector<std::string> known_backends(const BackendsCommand& options, const std::vector<Strike>& strikes) {
  std::set<std::string> known;
  for (const Strike& strike : strikes) known.insert({strike.backend, std::string(kind_of_instance(strike.backend))});
  for (std::string& kind : Registry(module_places(options.common.backend_libraries)).kinds())
    known.insert(std::move(kind));
  return {known.begin(), known.end()};
}

/// Why nothing was lifted: nothing, when the backend is known and nothing is counted against it.
Result<void> check_names(const BackendsCommand& options, const Lifted& lifted, const std::vector<Strike>& strikes) {
  const std::vector<std::string> known = known_backends(options, strikes);
  if (std::ranges::none_of(known, [&](const std::string& one) { return is_instance_of(lifted.backend, one); }))
    return fail(ExitCode::kUsage, "cli/bad-option", "--lift",
                fmt::format("no backend {}{}", lifted.backend, did_you_mean(lifted.backend, known)),
                fmt::format("{}", fmt::join(known, ", ")));
  if (lifted.operators.empty()) return {};
  std::vector<std::string> counted;
  for (const Strike& strike : strikes)
    if (is_instance_of(strike.backend, lifted.backend)) counted.push_back(strike.operators);
  return fail(ExitCode::kUsage, "cli/bad-option", "--lift",
              fmt::format("no crash or hang of {} on {}{}", lifted.backend, lifted.operators,
                          did_you_mean(lifted.operators, counted)),
              counted.empty() ? "a backend that crashed or hung; this one did not"
                              : fmt::format("{}", fmt::join(counted, ", ")));
}

Result<std::size_t> lift_named(const BackendsCommand& options, const Lifted& lifted) {
  COLLAGE_TRY(std::optional<Store> store, store_if_any(options.common));
  const std::vector<Strike> strikes = store ? strikes_in(*store) : std::vector<Strike>();
  const std::size_t count = store ? lift_strikes(*store, lifted.backend, lifted.operators) : 0;
  if (count == 0) COLLAGE_TRY_VOID(check_names(options, lifted, strikes));
  return count;
}

int lift(const BackendsCommand& options, Console& console) {
  const Lifted lifted = lifted_by(options.lift);
  const auto count = lift_named(options, lifted);
  if (!count) return console.failure(count.error());
  const OrderedJson object = {{"schema", "collage.backends-lift/1"}, {"lifted", *count}};
  const std::string text = *count == 0
                               ? fmt::format("nothing to lift: no crash or hang of {} is counted\n", lifted.backend)
                               : fmt::format("{} records lifted\n", *count);
  if (auto shown = console.result(text, object.dump(2)); !shown) return console.failure(shown.error());
  return 0;
}

int run_backends(const BackendsCommand& options) {
  Console console(options.common);
  return options.lift.empty() ? show(options, console) : lift(options, console);
}

}  // namespace

void add_backends(CLI::App& app, Program& program) {
  auto options = std::make_shared<BackendsCommand>();
  options->worker_command = program.worker_command;
  CLI::App* command = add_command(app, program, "backends", "what is here, which version, and why something is not",
                                  options, run_backends);
  command->add_option("--lift", options->lift, "forget that the backend crashed or hung, so that it is tried again")
      ->option_text("NAME[/OPERATORS]");
  add_store(*command, options->common);
  add_backend_library(*command, options->common.backend_libraries);
  command->footer(examples({"collage backends", "collage backends --lift onednn/Add+Conv"}));
}

}  // namespace collage::cli
