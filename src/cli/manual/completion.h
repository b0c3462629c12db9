// Scripts with which shells complete commands, options and files.
// In:  the commands. Out: the text of a script.
// Source: the manuals of bash (Programmable Completion), zsh (zshcompsys) and fish (complete).
#pragma once

#include <string>

#include "cli/manual/command_facts.h"

namespace collage::cli {

[[nodiscard]] std::string bash_completion(const CommandFacts& program);
[[nodiscard]] std::string zsh_completion(const CommandFacts& program);
[[nodiscard]] std::string fish_completion(const CommandFacts& program);

}  // namespace collage::cli
