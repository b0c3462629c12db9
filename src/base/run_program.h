// Runs another program to its end: a linker, a compiler.
// In:  its words, a folder to run in, a file for what it prints. Out: nothing, or what went wrong.
#pragma once

#include <expected>
#include <string>
#include <vector>

namespace collage {

/// How a program did not do its work.
struct ProgramFailure {
  bool is_missing = false;  ///< it could not be started
  std::string words;        ///< the system's, or what it printed
};

/// words[0] is looked for in PATH. `folder`: empty = this process's. Thread-safe.
[[nodiscard]] std::expected<void, ProgramFailure> run_program(std::vector<std::string> words, const std::string& log,
                                                              const std::string& folder = {});

}  // namespace collage
