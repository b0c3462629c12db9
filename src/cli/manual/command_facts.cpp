#include "cli/manual/command_facts.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace collage::cli {
namespace {

/// Arguments that are files have these names, and values of options these words.
constexpr std::array<std::string_view, 8> kFileArguments = {"model", "plan", "plans",  "subject",
                                                            "a",     "b",    "folder", "file"};
constexpr std::array<std::string_view, 4> kFileValues = {"FILE", "PLAN", "FOLDER", "STORE"};

std::string value_of(const CLI::Option& option) {
  if (option.get_positional() || option.get_type_size() == 0) return {};
  return option.get_option_text().empty() ? option.get_type_name() : option.get_option_text();
}

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts{.names = {}, .value = value_of(option), .description = option.get_description()};
  facts.may_repeat = option.get_items_expected_max() > 1;
  if (option.get_positional()) {
    facts.names = {option.get_name()};
    facts.takes_file = std::ranges::find(kFileArguments, facts.names.front()) != kFileArguments.end();
    facts.takes_command = facts.names.front() == "command";
    return facts;
  }
  for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
  if (!option.get_default_str().empty()) facts.description += "; by default " + option.get_default_str();
  facts.takes_file = std::ranges::any_of(
      kFileValues, [&](std::string_view word) { return facts.value.find(word) != std::string::npos; });
  return facts;
}

void add_all(const CommandFacts& command, std::vector<const CommandFacts*>& all) {
  all.push_back(&command);
  for (const CommandFacts& one : command.commands) add_all(one, all);
}

}  // namespace

bool CommandFacts::takes_files() const { return std::ranges::any_of(arguments, &OptionFacts::takes_file); }

bool CommandFacts::takes_commands() const { return std::ranges::any_of(arguments, &OptionFacts::takes_command); }

std::string CommandFacts::whole_name() const {
  std::string name = "collage";
  for (const std::string& word : path) name += " " + word;
  return name;
}

CommandFacts facts_of(const CLI::App& app, const std::vector<std::string>& path) {
  CommandFacts facts{.path = path, .description = app.get_description(), .footer = app.get_footer()};
  for (const CLI::Option* const option : app.get_options())
    (option->get_positional() ? facts.arguments : facts.options).push_back(facts_of(*option));
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    std::vector<std::string> below = path;
    below.push_back(command->get_name());
    facts.commands.push_back(facts_of(*command, below));
  }
  return facts;
}

std::vector<const CommandFacts*> all_commands(const CommandFacts& command) {
  std::vector<const CommandFacts*> all;
  add_all(command, all);
  return all;
}

}  // namespace collage::cli
