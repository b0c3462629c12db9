#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/registry.h"
#include "cli/console.h"
#include "cli/program.h"

namespace collage::cli {
namespace {

struct Options {
  CommonOptions common;
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

int run(const Options& options) {
  Console console(options.common);
  Registry registry(default_module_folders());
  std::string text = fmt::format("{:<14} {:<22} {:<8} {}\n", "backend", "version", "usable", "devices or reason");
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& kind : registry.kinds()) {
    const BackendInfo info = inspect(registry, kind);
    const bool usable = info.unusable.empty();
    text += fmt::format("{:<14} {:<22} {:<8} {}\n", info.name, info.version, usable ? "yes" : "no",
                        usable ? fmt::format("{}", fmt::join(info.devices, ", ")) : info.unusable);
    list.push_back({{"name", info.name},
                    {"version", info.version},
                    {"build", info.build},
                    {"engine", info.is_engine},
                    {"usable", usable},
                    {"reason", info.unusable},
                    {"devices", info.devices}});
  }
  const nlohmann::ordered_json object = {{"schema", "collage.backends/1"}, {"backends", list}};
  if (auto shown = console.result(text, object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)); !shown)
    return console.failure(shown.error());
  return 0;
}

}  // namespace

void add_backends(CLI::App& app, Program& program) {
  add_command(app, program, "backends", "what is here, which version, and why something is not",
              std::make_shared<Options>(), run);
}

}  // namespace collage::cli
