// Validators of option values, used while the command line is parsed. Messages say what was seen and what is allowed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace collage::cli {

/// A whole number between these, both included.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t low,
                                          std::uint64_t high = std::numeric_limits<std::uint64_t>::max());
/// A finite number above 0; `may_be_zero`: or 0.
[[nodiscard]] CLI::Validator positive_number(bool may_be_zero = false);
/// Bytes above 0, with a unit if need be: "64MB" becomes a count of bytes.
[[nodiscard]] CLI::Validator memory_size();
/// One of these words.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);
/// A class of accuracy or a bound on outputs (numbers/output_bound.h).
[[nodiscard]] CLI::Validator accuracy_text();

/// "a, b or c".
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

}  // namespace collage::cli
