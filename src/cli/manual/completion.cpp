#include "cli/manual/completion.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collage::cli {
namespace {

/// Between single quotes, for bash and zsh; of fish see fish_text().
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// A backslash before each of these characters.
std::string with_backslashes(const std::string& text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::vector<std::string> names_of(const std::vector<CommandFacts>& commands) {
  std::vector<std::string> names;
  for (const CommandFacts& command : commands) names.push_back(command.path.back());
  return names;
}

// ---- bash -------------------------------------------------------------------------------------------------
/// Names of the options for which `wanted` holds.
template <class Wanted>
std::string option_names(const CommandFacts& command, const Wanted& wanted) {
  std::vector<std::string> names;
  for (const OptionFacts& option : command.options)
    if (wanted(option)) names.insert(names.end(), option.names.begin(), option.names.end());
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash_case(const CommandFacts& command, const CommandFacts& program) {
  const std::vector<CommandFacts>& commands = command.takes_commands() ? program.commands : command.commands;
  return fmt::format(
      "    {})\n"
      "      commands='{}'\n"
      "      options='{}'\n"
      "      with_file='{}'\n"
      "      with_value='{}' ;;\n",
      in_quotes(command.whole_name()), fmt::join(names_of(commands), " "),
      option_names(command, [](const OptionFacts&) { return true; }),
      option_names(command, [](const OptionFacts& option) { return option.takes_file; }),
      option_names(command, [](const OptionFacts& option) { return !option.takes_file && !option.value.empty(); }));
}

// ---- zsh --------------------------------------------------------------------------------------------------
/// Inside [] and before a colon, where these characters have a meaning.
std::string zsh_text(const std::string& text) { return with_backslashes(text, "[]:\\"); }

std::string zsh_option(const OptionFacts& option, const std::string& name) {
  std::string text = fmt::format("{}{}[{}]", option.may_repeat ? "*" : "", name, zsh_text(option.description));
  if (!option.value.empty()) text += fmt::format(":{}:{}", zsh_text(option.value), option.takes_file ? "_files" : " ");
  return in_quotes(text);
}

std::string zsh_function_name(const CommandFacts& command) {
  return fmt::format("_collage{}{}", command.path.empty() ? "" : "_", fmt::join(command.path, "_"));
}

/// What follows the options of a command without others below it.
std::string zsh_arguments(const CommandFacts& command, const CommandFacts& program) {
  if (command.takes_files()) return " \\\n    '*:file:_files'";
  if (!command.takes_commands()) return {};
  return fmt::format(" \\\n    '*:command:({})'", fmt::join(names_of(program.commands), " "));
}

/// What follows the options of a command with others below it.
std::string zsh_commands(const CommandFacts& command) {
  std::string text =
      " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n  case $state in\n    command)\n";
  text += "      commands=(";
  for (const CommandFacts& one : command.commands)
    text += "\n        " + in_quotes(one.path.back() + ":" + zsh_text(one.description));
  text += ")\n      _describe command commands ;;\n    argument)\n      case $line[1] in\n";
  for (const CommandFacts& one : command.commands)
    text += fmt::format("        {}) {} ;;\n", one.path.back(), zsh_function_name(one));
  return text + "      esac ;;\n  esac";
}

std::string zsh_function(const CommandFacts& command, const CommandFacts& program) {
  const bool has_commands = !command.commands.empty();
  std::string text = zsh_function_name(command) + "() {\n";
  if (has_commands) text += "  local curcontext=\"$curcontext\" line state\n  local -A opt_args\n  local -a commands\n";
  text += has_commands ? "  _arguments -C" : "  _arguments";
  for (const OptionFacts& option : command.options)
    for (const std::string& name : option.names) text += " \\\n    " + zsh_option(option, name);
  return text + (has_commands ? zsh_commands(command) : zsh_arguments(command, program)) + "\n}\n";
}

// ---- fish -------------------------------------------------------------------------------------------------
std::string fish_text(const std::string& text) { return "'" + with_backslashes(text, "\\'") + "'"; }

/// Holds where the words so far name the command, and none below it.
std::string fish_condition(const CommandFacts& command) {
  std::string text = fmt::format("__collage_at{}{}", command.path.empty() ? "" : " ", fmt::join(command.path, " "));
  if (!command.commands.empty())
    text += fmt::format("; and not __fish_seen_subcommand_from {}", fmt::join(names_of(command.commands), " "));
  return fish_text(text);
}

std::string fish_option(const OptionFacts& option) {
  std::string text;
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty()) text += option.takes_file ? " -r -F" : " -x";
  return text + " -d " + fish_text(option.description);
}

std::string fish_lines(const CommandFacts& command, const CommandFacts& program) {
  const std::string begin = "complete -c collage -n " + fish_condition(command);
  std::string text;
  for (const CommandFacts& one : command.takes_commands() ? program.commands : command.commands)
    text += fmt::format("{} -a {} -d {}\n", begin, one.path.back(), fish_text(one.description));
  for (const OptionFacts& option : command.options) text += begin + fish_option(option) + "\n";
  return text + (command.takes_files() ? begin + " -F\n" : "");
}

/// Whether the words behind the program begin with these.
constexpr std::string_view kFishFunction = R"(function __collage_at
  set -l words (commandline -opc)
  test (count $words) -gt (count $argv); or return 1
  for i in (seq (count $argv))
    test "$words[(math $i + 1)]" = "$argv[$i]"; or return 1
  end
end
)";

}  // namespace

std::string bash_completion(const CommandFacts& program) {
  std::vector<std::string> below;
  std::string cases;
  for (const CommandFacts* const command : all_commands(program)) {
    if (!command->path.empty()) below.push_back(in_quotes(command->whole_name()));
    cases += bash_case(*command, program);
  }
  return fmt::format(R"(# Completes the words of `collage` in bash; made by `collage completion bash`.
_collage() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} at=collage i
  local commands= options= with_file= with_value=
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$at ${{COMP_WORDS[i]}}" in
      {}) at="$at ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$at" in
{}  esac
  COMPREPLY=()
  if [[ " $with_file " == *" $before "* ]]; then
    return
  elif [[ " $with_value " == *" $before "* ]]; then
    compopt +o default 2>/dev/null
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$word"))
  fi
}}
complete -o default -F _collage collage
)",
                     fmt::join(below, "|"), cases);
}

std::string zsh_completion(const CommandFacts& program) {
  std::string text = "#compdef collage\n# Completes the words of `collage` in zsh; made by `collage completion zsh`.\n";
  for (const CommandFacts* const command : all_commands(program)) text += zsh_function(*command, program);
  return text + "_collage \"$@\"\n";
}

std::string fish_completion(const CommandFacts& program) {
  std::string text = "# Completes the words of `collage` in fish; made by `collage completion fish`.\n";
  text += kFishFunction;
  text += "complete -c collage -f\n";
  for (const CommandFacts* const command : all_commands(program)) text += fish_lines(*command, program);
  return text;
}

}  // namespace collage::cli
