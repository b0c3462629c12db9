#include "cli/manual/man_page.h"

#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collage::cli {
namespace {

constexpr std::string_view kExitCodes =
    "0 good, 1 a check found a difference, 2 usage, 3 bad model, plan or input, 4 unsupported, 5 a limit or budget "
    "exceeded, 6 input or output, 70 a bug, 130 interrupted.";

/// As roff prints it unchanged.
std::string escaped(char c) {
  switch (c) {
    case '\\':
      return "\\e";
    case '-':
      return "\\-";
    case '\'':
      return "\\(aq";
    case '`':
      return "\\(ga";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    case '\n':
      return " ";
    default:
      return std::string(1, c);
  }
}

/// One line of text, in which nothing is a command of roff.
std::string plain_text(std::string_view text) {
  std::string out = text.starts_with('.') ? "\\&" : "";
  for (const char c : text) out += escaped(c);
  return out;
}

std::string section(std::string_view title, const std::string& text) {
  return text.empty() ? text : fmt::format(".SH {}\n{}", title, text);
}

std::string entry(const std::string& head, const std::string& description) {
  return fmt::format(".TP\n{}\n{}\n", head, plain_text(description));
}

std::string bold(const std::string& text) { return "\\fB" + plain_text(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + plain_text(text) + "\\fR"; }

std::string option_entry(const OptionFacts& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(bold(name));
  const std::string value = option.value.empty() ? "" : " " + italic(option.value);
  return entry(fmt::format("{}{}", fmt::join(names, ", "), value), option.description);
}

std::string synopsis(const CommandFacts& command) {
  std::string text = bold(command.whole_name()) + " [options]";
  if (!command.commands.empty()) text += " " + italic("command");
  for (const OptionFacts& argument : command.arguments) text += " " + italic(argument.names.front());
  return text + "\n";
}

/// As it stands, line by line.
std::string footer_text(const std::string& footer) {
  if (footer.empty()) return {};
  std::string text = ".nf\n";
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) text += plain_text(line) + "\n";
  return text + ".fi\n";
}

std::string see_also(const CommandFacts& command) {
  std::vector<std::string> pages;
  for (const CommandFacts& one : command.commands) pages.push_back(bold(page_name(one)) + "(1)");
  if (!command.path.empty()) pages.push_back(bold("collage") + "(1)");
  return fmt::format("{}\n", fmt::join(pages, ", "));
}

}  // namespace

std::string page_name(const CommandFacts& command) {
  std::string name = "collage";
  for (const std::string& word : command.path) name += "-" + word;
  return name;
}

std::string man_page(const CommandFacts& command, const std::string& version) {
  const std::string name = page_name(command);
  std::string arguments;
  for (const OptionFacts& argument : command.arguments)
    arguments += entry(italic(argument.names.front()), argument.description);
  std::string commands;
  for (const CommandFacts& one : command.commands) commands += entry(bold(one.path.back()), one.description);
  std::string options;
  for (const OptionFacts& option : command.options) options += option_entry(option);
  return fmt::format(".TH \"{}\" 1 \"\" \"Collage {}\" \"Collage\"\n", plain_text(name), plain_text(version)) +
         section("NAME", fmt::format("{} \\- {}\n", plain_text(name), plain_text(command.description))) +
         section("SYNOPSIS", synopsis(command)) + section("COMMANDS", commands) + section("ARGUMENTS", arguments) +
         section("OPTIONS", options) + section("EXIT STATUS", plain_text(kExitCodes) + "\n") +
         section("NOTES", footer_text(command.footer)) + section("SEE ALSO", see_also(command));
}

}  // namespace collage::cli
