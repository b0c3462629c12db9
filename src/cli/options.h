// The options that every command shares, read once at the edge and passed on as values.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/roles.h"
#include "onnx/import.h"

namespace collage::cli {

struct CommonOptions {
  int threads = 1;
  std::vector<std::string> backends = {kUsualBackends.begin(), kUsualBackends.end()};
  std::vector<std::string> backend_libraries;  ///< module files beside those that are found by themselves
  std::string only;
  std::string store;
  std::string json;
  std::string events;
  bool quiet = false;
  std::uint64_t seed = 1;
  std::string accuracy = "standard";
  std::vector<std::string> shapes;
  std::vector<std::string> input_ranges;
};

/// Declares the shared options on one command.
void add_common(CLI::App& command, CommonOptions& options);

/// Says before any work whether --json and --events can be written. Error io/cannot-write.
[[nodiscard]] Result<void> check_outputs(const CommonOptions& options);
/// Once parsed: module files become absolute, and their backends take part unless --backends says who does.
/// Error cli/bad-option for what cannot be a module.
[[nodiscard]] Result<void> take_libraries(CommonOptions& options, const CLI::App& command);
/// The kinds of the module files named.
[[nodiscard]] std::vector<std::string> library_kinds(const CommonOptions& options);
/// Where backends are looked for, files that were named first.
[[nodiscard]] std::vector<std::string> module_places(const std::vector<std::string>& backend_libraries);
/// The command that starts a worker which sees the same backends.
[[nodiscard]] std::vector<std::string> worker_command(std::vector<std::string> command, const CommonOptions& options);
/// --backend-library, as every command and the worker take it.
void add_backend_library(CLI::App& command, std::vector<std::string>& files);

[[nodiscard]] Result<Accuracy> accuracy_from(const CommonOptions& options);
[[nodiscard]] Result<std::map<std::string, std::pair<double, double>>> input_ranges_from(const CommonOptions& options);
/// The path of the cost store: --store, else $XDG_CACHE_HOME/collage/costs.sqlite.
[[nodiscard]] std::string store_from(const CommonOptions& options);
/// Where reproduction bundles of a tune go: beside the store, for one in memory to $XDG_CACHE_HOME/collage/repros.
/// Absolute, for messages; empty when there is no such place.
[[nodiscard]] std::string repros_from(const CommonOptions& options);
/// "90s", "5m", "1h", or plain seconds; 0 where that means something.
[[nodiscard]] Result<double> seconds_from(const std::string& text, const std::string& option, bool may_be_zero = false);

}  // namespace collage::cli
