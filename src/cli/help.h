// Formats --help: options of the command first, those shared by several commands in a group of their own, examples
// last.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/error.h"

namespace collage::cli {

/// The form of all help texts. Before the first command is declared.
void set_up_help(CLI::App& app);

/// The command that the words name, below `app`. Error cli/usage with the most similar name.
[[nodiscard]] Result<const CLI::App*> command_named(const CLI::App& app, const std::vector<std::string>& words);

/// Writes text that is not wrapped, such as a script, to stdout. The exit code.
[[nodiscard]] int print_unchanged(const std::string& text);

/// "Examples:" with a line each, below the options.
[[nodiscard]] std::string examples(const std::vector<std::string>& lines);

}  // namespace collage::cli
