#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "api/tune/find_backends.h"
#include "api/tune/store_place.h"
#include "backend/registry.h"
#include "base/json_numbers.h"
#include "base/suggest.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"
#include "region/instance_name.h"
#include "store/strikes.h"

namespace collage::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct BackendsCommand {
  CommonOptions common;
  std::string lift;
};

int show(const BackendsCommand& options, Console& console) {
  const auto found = [&]() -> Result<FoundBackends> {
    Registry registry(module_places(options.common.backend_libraries));
    COLLAGE_TRY(const std::vector<std::string> command, worker_command(options.common.backend_libraries));
    return find_backends(command, options.common.store, registry);
  }();
  if (!found) return console.failure(found.error());
  if (auto shown = console.result(to_text(*found), to_json(*found)); !shown) return console.failure(shown.error());
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
  COLLAGE_TRY(std::optional<Store> store, existing_store(options.common.store));
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
  CLI::App* command = add_command(app, program, "backends", "what is here, which version, and why something is not",
                                  options, run_backends);
  command->add_option("--lift", options->lift, "forget that the backend crashed or hung, so that it is tried again")
      ->option_text("NAME[/OPERATORS]");
  add_store(*command, options->common);
  add_backend_library(*command, options->common);
  command->footer(examples({"collage backends", "collage backends --lift onednn/Add+Conv"}));
}

}  // namespace collage::cli
