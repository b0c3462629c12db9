// collage strategies: the ways that backends have to compute operators, and how they fared on this machine.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/tune/store_place.h"
#include "backend/extensions/strategy_extension.h"
#include "backend/registry.h"
#include "base/json_numbers.h"
#include "base/suggest.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"
#include "store/strategy_records.h"
#include "timing/machine.h"

namespace collage::cli {
namespace {

using nlohmann::ordered_json;

struct StrategiesCommand {
  CommonOptions common;
  std::string operator_name;
  CLI::App* command = nullptr;
};

/// One backend and its ways that know the operator asked about.
struct Listed {
  BackendInfo info;
  std::string why_none;
  std::vector<StrategyLine> lines;
  std::map<std::string, StrategyRecord> records;
};

std::vector<std::string> operators_of(const StrategyLine& line) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < line.operators.size();) {
    const std::size_t end = std::min(line.operators.find('|', begin), line.operators.size());
    names.push_back(line.operators.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

bool knows(const StrategyLine& line, const std::string& operator_name) {
  const std::vector<std::string> names = operators_of(line);
  return std::ranges::find(names, operator_name) != names.end();
}

/// What one instance has; one that cannot be had says why.
Listed list(Registry& registry, const std::string& name) {
  Listed listed;
  listed.info.name = name;
  const auto backend = registry.get(name);
  if (!backend) {
    listed.why_none = backend.error().saw;
    return listed;
  }
  listed.info = (*backend)->info();
  auto lines = strategies(**backend);
  if (!lines)
    listed.why_none = fmt::format("{}: {}", lines.error().where, lines.error().saw);
  else if (lines->empty())
    listed.why_none = "a library of its own, which lists no strategies";
  else
    listed.lines = *std::move(lines);
  return listed;
}

Result<void> add_records(const StrategiesCommand& options, std::vector<Listed>& all) {
  COLLAGE_TRY(std::optional<Store> store, existing_store(options.common.store));
  if (!store) return {};
  for (Listed& one : all) one.records = strategy_records(*store, one.info, one.lines, machine_print());
  return {};
}

/// Keeps the implementations for one operator. Error strategies/unknown-operator when there are none.
Result<void> keep_for(const std::string& operator_name, std::vector<Listed>& all) {
  std::set<std::string> known;
  bool is_known = false;
  for (Listed& one : all) {
    for (const StrategyLine& line : one.lines)
      for (std::string& name : operators_of(line)) known.insert(std::move(name));
    std::erase_if(one.lines, [&](const StrategyLine& line) { return !knows(line, operator_name); });
    is_known |= !one.lines.empty();
    if (one.lines.empty() && one.why_none.empty()) one.why_none = "nothing for " + operator_name;
  }
  if (is_known) return {};
  const std::vector<std::string> names(known.begin(), known.end());
  return fail(
      ExitCode::kUsage, "strategies/unknown-operator", operator_name,
      "no strategy for it" + did_you_mean(operator_name, names),
      known.empty() ? "an operator; no backend here lists strategies" : fmt::format("{}", fmt::join(known, ", ")));
}

std::string fared(const StrategyRecord& record) {
  if (record.regions == 0) return fmt::format("never timed here, {} variants refused", record.refused);
  std::string text = fmt::format("timed in {} regions", record.regions);
  if (record.compared > 0)
    text += fmt::format(", fastest in {} of {}, {:.2f}x the best other in the mean, at most {:.2f}x ({})",
                        record.fastest, record.compared, record.ratio, record.best_ratio, record.best_variant);
  if (record.refused > 0) text += fmt::format("; {} variants refused", record.refused);
  return text;
}

/// Long lists of operators are cut; the JSON has them whole.
std::string shortened(const StrategyLine& line) {
  constexpr std::size_t kMostShown = 6;
  std::vector<std::string> names = operators_of(line);
  const std::size_t count = names.size();
  if (count > kMostShown) names.resize(kMostShown);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     count > kMostShown ? fmt::format(" and {} more", count - kMostShown) : "");
}

std::string text_of(const Listed& one) {
  std::string text = fmt::format("{} {}\n", one.info.name, one.info.build);
  if (!one.why_none.empty()) text += "  " + one.why_none + "\n";
  for (const StrategyLine& line : one.lines) {
    text += fmt::format("  {:<28} priority {:<3} {}\n", line.family + "/" + line.implementation, line.priority,
                        shortened(line));
    text += fmt::format("    {:<9} {}\n", "applies", line.condition);
    if (!line.choices.empty()) text += fmt::format("    {:<9} {}\n", "tunes", line.choices);
    if (!line.source.empty()) text += fmt::format("    {:<9} {}\n", "from", line.source);
    const auto record = one.records.find(line.implementation);
    text += fmt::format("    {:<9} {}\n", "measured",
                        record != one.records.end() ? fared(record->second) : "never timed here");
  }
  return text;
}

ordered_json json_of(const StrategyRecord& record) {
  return {{"regions", record.regions},          {"refused", record.refused}, {"compared", record.compared},
          {"fastest", record.fastest},          {"ratio", record.ratio},     {"best_ratio", record.best_ratio},
          {"best_variant", record.best_variant}};
}

ordered_json json_of(const Listed& one) {
  ordered_json lines = ordered_json::array();
  for (const StrategyLine& line : one.lines) {
    const auto record = one.records.find(line.implementation);
    lines.push_back({{"family", line.family},
                     {"implementation", line.implementation},
                     {"operators", operators_of(line)},
                     {"condition", line.condition},
                     {"priority", line.priority},
                     {"choices", line.choices},
                     {"source", line.source},
                     {"measured", record != one.records.end() ? json_of(record->second) : json_of(StrategyRecord{})}});
  }
  return {{"name", one.info.name}, {"build", one.info.build}, {"reason", one.why_none}, {"strategies", lines}};
}

int run_strategies(const StrategiesCommand& options) {
  Console console(options.common);
  Registry registry(module_places(options.common.backend_libraries));
  std::vector<Listed> all;
  for (const std::string& name : options.common.backends) all.push_back(list(registry, name));
  const auto shown = [&]() -> Result<void> {
    // A backend that the user names must be usable; a default one may be missing.
    if (is_given(*options.command, "--backends"))
      for (const std::string& name : options.common.backends) COLLAGE_TRY_VOID(registry.inspect(name));
    COLLAGE_TRY_VOID(add_records(options, all));
    if (!options.operator_name.empty()) COLLAGE_TRY_VOID(keep_for(options.operator_name, all));
    std::string text;
    ordered_json backends = ordered_json::array();
    for (const Listed& one : all) {
      text += text_of(one);
      backends.push_back(json_of(one));
    }
    const ordered_json object = {{"schema", "collage.strategies/1"}, {"backends", backends}};
    return console.result(text, object.dump(2, ' ', false, ordered_json::error_handler_t::replace));
  }();
  return shown ? static_cast<int>(ExitCode::kGood) : console.failure(shown.error());
}

}  // namespace

void add_strategies(CLI::App& app, Program& program) {
  auto options = std::make_shared<StrategiesCommand>();
  CLI::App* command =
      add_command(app, program, "strategies", "the ways that backends have to compute operators, and how they fared",
                  options, run_strategies);
  options->command = command;
  command->add_option("operator", options->operator_name, "only those for this operator, such as Conv");
  add_backend_list(*command, options->common);
  add_store(*command, options->common);
  add_backend_library(*command, options->common);
  command->footer(examples({"collage strategies Conv --backends native"}));
}

}  // namespace collage::cli
