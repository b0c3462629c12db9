// Converts an error of the command-line parser to the form of all other errors: what was seen, a similar known word,
// what is allowed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"

namespace collage::cli {

/// Of a parse that failed. Code cli/usage.
[[nodiscard]] Error usage_error(const CLI::App& app, const CLI::ParseError& error);

/// The target of --json on the command line; empty when it is not given.
[[nodiscard]] std::string json_target(const CLI::App& app);

/// Of a command, called `name`, that has none with this name. Code cli/usage.
[[nodiscard]] Error unknown_command(const CLI::App& command, const std::string& name, const std::string& word);

}  // namespace collage::cli
