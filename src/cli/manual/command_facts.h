// The commands and options of the command line as values: what completions and manual pages are made of.
// In:  the declared commands. Out: names, values, descriptions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace collage::cli {

struct OptionFacts {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument its one name
  std::string value;               ///< "PLAN", "FILE|-"; empty for a flag and for an argument
  std::string description;
  bool takes_file = false;     ///< or a folder
  bool takes_command = false;  ///< the names of the program's commands
  bool may_repeat = false;
};

struct CommandFacts {
  std::vector<std::string> path;  ///< "db", "list"; empty for the program itself
  std::string description;
  std::string footer;  ///< examples
  std::vector<OptionFacts> arguments = {};
  std::vector<OptionFacts> options = {};
  std::vector<CommandFacts> commands = {};

  [[nodiscard]] bool takes_files() const;     ///< as arguments
  [[nodiscard]] bool takes_commands() const;  ///< as arguments
  /// "collage db list"
  [[nodiscard]] std::string whole_name() const;
};

/// Of `app`, which these words name, and the commands below it.
[[nodiscard]] CommandFacts facts_of(const CLI::App& app, const std::vector<std::string>& path = {});

/// `command` and all below it, each before those that it has.
[[nodiscard]] std::vector<const CommandFacts*> all_commands(const CommandFacts& command);

}  // namespace collage::cli
