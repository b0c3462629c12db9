// Formats --help: options of the command first, those shared by several commands in a group of their own, examples
// last.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace collage::cli {

/// The form of all help texts. Before the first command is declared.
void set_up_help(CLI::App& app);

/// "Examples:" with a line each, below the options.
[[nodiscard]] std::string examples(const std::vector<std::string>& lines);

}  // namespace collage::cli
