#include "cli/usage_error.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"

namespace collage::cli {
namespace {

Error wrong(std::string where, std::string saw, std::string allowed) {
  return {.code = "cli/usage",
          .where = std::move(where),
          .saw = std::move(saw),
          .allowed = std::move(allowed),
          .exit = ExitCode::kUsage};
}

/// A command with its name as it is typed: "collage db list".
struct Named {
  const CLI::App* app = nullptr;
  std::string name;
};

/// The program, the command that was named, and the one inside it.
std::vector<Named> path_of(const CLI::App& app) {
  std::vector<Named> path = {{&app, "collage"}};
  while (!path.back().app->get_subcommands().empty()) {
    const CLI::App* const next = path.back().app->get_subcommands().front();
    path.push_back({next, path.back().name + " " + next->get_name()});
  }
  return path;
}

/// Those that are for users.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* one : commands) names.push_back(one->get_name());
  return names;
}

/// "-o", "--output" of all options.
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string help_hint(const std::string& command) { return "what " + command + " --help lists"; }

/// The commands that have an option, or nothing.
std::string owners_of(const CLI::App& app, const std::string& option) {
  std::vector<std::string> owners;
  for (const CLI::App* command : commands_of(app))
    if (command->get_option_no_throw(option) != nullptr) owners.push_back(command->get_name());
  return owners.empty() ? "" : fmt::format(", which is one of {}", fmt::join(owners, ", "));
}

Error unknown_option(const CLI::App& app, const Named& command, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  const std::string owners = owners_of(app, option);
  if (command.app == &app && !owners.empty())
    return wrong(command.name, option + " before the command", "options behind the command");
  return wrong(
      command.name,
      fmt::format("no option {}{}", option, owners.empty() ? did_you_mean(option, option_names(*command.app)) : owners),
      help_hint(command.name));
}

/// A word that nothing takes: an option, a command or an argument.
Error left_over(const CLI::App& app, const Named& command, const std::string& word) {
  if (word.size() > 1 && word.front() == '-') return unknown_option(app, command, word);
  if (!commands_of(*command.app).empty()) return unknown_command(*command.app, command.name, word);
  return wrong(command.name, fmt::format("'{}', an argument too many", word), help_hint(command.name));
}

/// What nothing takes, options first: a mistyped one makes its value look like an argument.
std::optional<Error> first_left_over(const CLI::App& app, const std::vector<Named>& path) {
  std::optional<Error> found;
  for (const Named& command : path)
    for (const std::string& word : command.app->remaining()) {
      const bool is_option = word.size() > 1 && word.front() == '-';
      if (is_option || !found) found = left_over(app, command, word);
      if (is_option) return found;
    }
  return found;
}

/// "A excludes B" or "A requires B" of CLI11 as its two names.
std::pair<std::string, std::string> both_sides(const std::string& text, const std::string& verb) {
  const std::size_t at = text.find(verb);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + verb.size())};
}

Error missing(const Named& command, const std::string& text) {
  if (const auto commands = commands_of(*command.app); !commands.empty())
    return wrong(command.name, "no command", fmt::format("{}", fmt::join(names_of(commands), ", ")));
  const std::string name = both_sides(text, " is required").first;
  return wrong(command.name, "no " + name, fmt::format("a command line with it; see {} --help", command.name));
}

/// "--NAME: saw X; allowed Y" of our own checks, "--NAME: ..." of CLI11.
Error bad_value(const CLI::ParseError& error) {
  const std::string text = error.what();
  const auto [where, rest] = both_sides(text, ": ");
  if (rest.starts_with("saw ")) {
    const auto [saw, allowed] = both_sides(rest.substr(4), "; allowed ");
    return wrong(where, saw, allowed);
  }
  if (rest.starts_with("At Most")) return wrong(where, "it more than once", "it once");
  if (rest.find("required") != std::string::npos) return wrong(where, "no value", "a value behind it");
  return wrong("command line", text, help_hint("collage"));
}

}  // namespace

Error unknown_command(const CLI::App& command, const std::string& name, const std::string& word) {
  const std::vector<std::string> known = names_of(commands_of(command));
  return wrong(name, fmt::format("no command '{}'{}", word, did_you_mean(word, known)),
               known.empty() ? "nothing behind it" : fmt::format("{}", fmt::join(known, ", ")));
}

std::string json_target(const CLI::App& app) {
  const CLI::Option* const json = path_of(app).back().app->get_option_no_throw("--json");
  return json == nullptr || json->results().empty() ? "" : json->results().back();
}

Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<Named> path = path_of(app);
  const bool is_about_a_value = dynamic_cast<const CLI::ValidationError*>(&error) != nullptr ||
                                dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr ||
                                dynamic_cast<const CLI::ConversionError*>(&error) != nullptr;
  if (is_about_a_value) return bad_value(error);
  if (auto found = first_left_over(app, path)) return *std::move(found);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return missing(path.back(), error.what());
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    const auto [one, other] = both_sides(error.what(), " excludes ");
    return wrong(path.back().name, one + " with " + other, "one of them");
  }
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    const auto [one, other] = both_sides(error.what(), " requires ");
    return wrong(path.back().name, one + " without " + other, "both of them");
  }
  return wrong(path.back().name, error.what(), help_hint(path.back().name));
}

}  // namespace collage::cli
