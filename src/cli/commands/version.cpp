#include "cli/commands/version.h"

#include <fmt/format.h>

#include <sstream>

#include "api/c/collage.h"
#include "base/json_numbers.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"
#include "plan/plan_cases.h"

namespace collage::cli {
namespace {

struct Library {
  std::string name;
  std::string version;
};

/// Of COLLAGE_BUILT_WITH: "NAME=VERSION|NAME=VERSION".
std::vector<Library> libraries() {
  std::vector<Library> found;
  std::istringstream list(COLLAGE_BUILT_WITH);
  for (std::string one; std::getline(list, one, '|');)
    if (const std::size_t equals = one.find('='); equals != std::string::npos)
      found.push_back({one.substr(0, equals), one.substr(equals + 1)});
  return found;
}

std::string version_json() {
  nlohmann::ordered_json out{
      {"schema", "collage.version/1"},      {"collage", COLLAGE_VERSION},
      {"c_interface", COLLAGE_API_VERSION}, {"plan_files", {kPlanSchema, kHeldPlanSchema, kCasesSchema}},
      {"compiler", COLLAGE_COMPILER},       {"libraries", nlohmann::ordered_json::object()}};
  for (const Library& library : libraries()) out["libraries"][library.name] = library.version;
  return out.dump(2);
}

struct VersionCommand {
  CommonOptions common;
};

int run_version(const VersionCommand& options) {
  Console console(options.common);
  if (auto said = console.result(version_text() + "\n", version_json()); !said) return console.failure(said.error());
  return 0;
}

}  // namespace

std::string version_number() { return COLLAGE_VERSION; }

std::string version_text() {
  std::string text = fmt::format("collage {}\nC interface {}\nplan files {}, {}, {}\nbuilt with {}", COLLAGE_VERSION,
                                 COLLAGE_API_VERSION, kPlanSchema, kHeldPlanSchema, kCasesSchema, COLLAGE_COMPILER);
  for (const Library& library : libraries()) text += fmt::format(", {} {}", library.name, library.version);
  return text;
}

void add_version(CLI::App& app, Program& program) {
  CLI::App* command = add_command(app, program, "version", "say which version this is",
                                  std::make_shared<VersionCommand>(), run_version);
  command->footer(examples({"collage version", "collage version --json -"}));
}

}  // namespace collage::cli
