// Options shared by several commands, parsed once and passed on as values. A command declares only the options that
// have an effect in it, so that none is accepted and ignored.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/roles.h"
#include "onnx/import.h"

namespace collage::cli {

struct CommonOptions {
  int threads = 1;
  std::vector<std::string> backends = {kUsualBackends.begin(), kUsualBackends.end()};
  std::vector<std::string> backend_libraries;  ///< module files in addition to those found automatically
  std::string only;
  std::string store;
  std::string json;
  std::string events;
  bool quiet = false;
  std::uint64_t seed = 1;
  std::string accuracy = "standard";
  std::string passes;
  std::vector<std::string> shapes;
  std::vector<std::string> input_ranges;
};

/// --json, --events and --quiet: every command.
void add_output(CLI::App& command, CommonOptions& options);
// The others, each for the commands in which it has an effect.
void add_threads(CLI::App& command, CommonOptions& options);
void add_backend_list(CLI::App& command, CommonOptions& options);
void add_only(CLI::App& command, CommonOptions& options);
void add_store(CLI::App& command, CommonOptions& options);
void add_seed(CLI::App& command, CommonOptions& options);
void add_accuracy(CLI::App& command, CommonOptions& options);
void add_passes(CLI::App& command, CommonOptions& options);
/// `help` describes the allowed values.
void add_shape(CLI::App& command, CommonOptions& options, const std::string& help);
void add_input_range(CLI::App& command, CommonOptions& options);
/// --backend-library, as commands and the worker take it.
void add_backend_library(CLI::App& command, std::vector<std::string>& files);
/// The help text of --shape for a command that uses one shape of a model or plan.
inline constexpr const char* kOneShape = "DIM=8 for a dimension, NAME=1x3x224x224 for an input; repeatable";

/// Whether the command has the option and the user gave it.
[[nodiscard]] bool is_given(const CLI::App& command, const std::string& option);
/// Error cli/bad-option for the first of the options that was given: it has no effect because of `why`.
[[nodiscard]] Result<void> refuse_given(const CLI::App& command, std::initializer_list<const char*> options,
                                        const std::string& why);

/// Checks before any work whether --json and --events can be written. Error io/cannot-write.
[[nodiscard]] Result<void> check_outputs(const CommonOptions& options);
/// Once parsed: module files become absolute, and their backends take part unless --backends is given.
/// Error cli/bad-option for what cannot be a module.
[[nodiscard]] Result<void> take_libraries(CommonOptions& options, const CLI::App& command);
/// The kinds of the module files named.
[[nodiscard]] std::vector<std::string> library_kinds(const CommonOptions& options);
/// Where backends are searched for; files that the user named come first.
[[nodiscard]] std::vector<std::string> module_places(const std::vector<std::string>& backend_libraries);
/// The command that starts a worker which sees the same backends.
[[nodiscard]] std::vector<std::string> worker_command(std::vector<std::string> command, const CommonOptions& options);

[[nodiscard]] Result<Accuracy> accuracy_from(const CommonOptions& options);
/// The passes that are switched off. Error cli/bad-option.
[[nodiscard]] Result<std::set<std::string>> passes_from(const CommonOptions& options);
[[nodiscard]] Result<std::map<std::string, std::pair<double, double>>> input_ranges_from(const CommonOptions& options);
/// The path of the cost store: --store, else $XDG_CACHE_HOME/collage/costs.sqlite.
[[nodiscard]] std::string store_from(const CommonOptions& options);
/// Where reproduction bundles of a tune go: beside the store, for one in memory to $XDG_CACHE_HOME/collage/repros.
/// Absolute, for messages; empty when there is no such place.
[[nodiscard]] std::string repros_from(const CommonOptions& options);
/// "90s", "5m", "1h", or plain seconds; 0 where that means something.
[[nodiscard]] Result<double> seconds_from(const std::string& text, const std::string& option, bool may_be_zero = false);

}  // namespace collage::cli
