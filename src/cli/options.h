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

#include "api/tune/option_texts.h"
#include "api/tune/worker_program.h"
#include "backend/backend.h"
#include "backend/roles.h"
#include "onnx/import.h"
#include "plan/signature/key.h"
#include "sandbox/model_reader.h"

namespace collage::cli {

struct CommonOptions {
  int threads = 1;
  std::vector<std::string> backends = {kUsualBackends.begin(), kUsualBackends.end()};
  std::optional<std::vector<std::string>> named_backends;  ///< those of --backends
  std::vector<std::string> backend_libraries;              ///< module files in addition to those found automatically
  std::vector<std::string> library_kinds;                  ///< theirs
  std::vector<std::string> custom_ops;                     ///< libraries of operators; places after take_libraries()
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
  std::vector<std::string> limits;
  bool trust = false;
  std::vector<std::string> signer_files;  ///< those of --require-signature
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
/// --limit and --trust.
void add_reader(CLI::App& command, CommonOptions& options);
void add_require_signature(CLI::App& command, CommonOptions& options);
void add_backend_library(CLI::App& command, CommonOptions& options);
void add_custom_ops(CLI::App& command, CommonOptions& options);
/// The help text of --shape for a command that uses one shape of a model or plan.
inline constexpr const char* kOneShape = "DIM=8 for a dimension, NAME=1x3x224x224 for an input; repeatable";

/// Whether the command has the option and the user gave it.
[[nodiscard]] bool is_given(const CLI::App& command, const std::string& option);
/// Error cli/bad-option for the first of the options that was given: it has no effect because of `why`.
[[nodiscard]] Result<void> refuse_given(const CLI::App& command, std::initializer_list<const char*> options,
                                        const std::string& why);

/// Checks before any work whether --json and --events can be written. Error io/cannot-write.
[[nodiscard]] Result<void> check_outputs(const CommonOptions& options);
/// Once parsed: module files become absolute, and their backends take part unless --backends is given. Libraries of
/// operators join them as places.
/// Error cli/bad-option for what cannot be a module.
[[nodiscard]] Result<void> take_libraries(CommonOptions& options, const CLI::App& command);
/// How errors call an option of the command line.
[[nodiscard]] OptionLabel label(const std::string& option);
/// The public keys in these files. Errors io/cannot-read, signature/bad-key.
[[nodiscard]] Result<Signers> signers_from(const std::vector<std::string>& files);
/// What --limit and --trust say. Error cli/bad-option, errors of worker_command().
[[nodiscard]] Result<ModelReader> model_reader(const CommonOptions& options);
/// "90s", "5m", "1h", or plain seconds; 0 where that means something.
[[nodiscard]] Result<double> seconds_from(const std::string& text, const std::string& option, bool may_be_zero = false);

}  // namespace collage::cli
