// collage limits: how much a model may ask for before its import is refused.
#include "onnx/limits.h"

#include <fmt/format.h>

#include "base/json_numbers.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"

namespace collage::cli {
namespace {

struct LimitsCommand {
  CommonOptions common;
};

int run_limits(const LimitsCommand& options) {
  Console console(options.common);
  const ImportLimits limits;
  std::string text;
  nlohmann::ordered_json object = {{"schema", "collage.limits/1"}, {"limits", nlohmann::ordered_json::array()}};
  for (const ImportLimit& one : import_limits()) {
    const std::uint64_t value = limits.*one.value;
    text += fmt::format("{:<16} {:>14}  {}\n", one.name, value, one.counted);
    object["limits"].push_back({{"name", one.name}, {"value", value}, {"most", one.most}, {"counted", one.counted}});
  }
  if (auto said = console.result(text, object.dump(2)); !said) return console.failure(said.error());
  return 0;
}

}  // namespace

void add_limits(CLI::App& app, Program& program) {
  CLI::App* command = add_command(app, program, "limits", "how much a model may ask for before it is refused",
                                  std::make_shared<LimitsCommand>(), run_limits);
  command->footer(examples({"collage limits", "collage check model.onnx --limit nodes=2000000"}));
}

}  // namespace collage::cli
