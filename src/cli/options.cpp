#include "cli/options.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/number_text.h"
#include "cli/checks.h"
#include "plan/plan.h"

namespace collage::cli {
namespace {

Result<void> check_output(const std::string& path) {
  if (path.empty() || path == "-") return {};
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const bool exists = std::filesystem::exists(path, ignored);
  const std::string asked = exists ? path : folder.empty() ? "." : folder.string();
  if (std::filesystem::is_directory(path, ignored))
    errno = EISDIR;
  else if (::access(asked.c_str(), W_OK) == 0)
    return {};
  return fail(ExitCode::kIo, "io/cannot-write", path, std::strerror(errno), "a writable file in an existing folder");
}

/// Where --help lists them.
constexpr const char* kShared = "Common options";

void add_limit(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--limit", options.limits, "how much a model may ask for, of what `collage limits` lists; repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE")
      ->group(kShared);
}

/// What --limit says. Error cli/bad-option.
Result<ImportLimits> limits_from(const CommonOptions& options) {
  ImportLimits limits;
  for (const std::string& text : options.limits) COLLAGE_TRY_VOID(set_limit(limits, text));
  return limits;
}

}  // namespace

Result<void> check_outputs(const CommonOptions& options) {
  COLLAGE_TRY_VOID(check_output(options.json));
  return check_output(options.events);
}

void add_output(CLI::App& command, CommonOptions& options) {
  command.add_option("--json", options.json, "write the result as JSON to this file; - replaces the text on stdout")
      ->type_name("FILE|-")
      ->group(kShared);
  command.add_option("--events", options.events, "write progress to this file as JSON Lines")
      ->type_name("FILE")
      ->group(kShared);
  command.add_flag("--quiet", options.quiet, "no progress and no notes on stderr")->group(kShared);
}

void add_threads(CLI::App& command, CommonOptions& options) {
  command.add_option("--threads", options.threads, "threads that may compute at once")
      ->check(whole_number(1, kMostThreads))
      ->type_name("N")
      ->capture_default_str()
      ->group(kShared);
}

void add_backend_list(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--backends", options.backends,
                  fmt::format("who may take nodes, comma separated; default {}", fmt::join(kUsualBackends, ",")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("LIST")
      ->group(kShared);
}

void add_only(CLI::App& command, CommonOptions& options) {
  command.add_option("--only", options.only, "give everything to this backend that it can take")
      ->type_name("NAME")
      ->group(kShared);
}

void add_store(CLI::App& command, CommonOptions& options) {
  command.add_option("--store", options.store, "cost store: sqlite:PATH, a bare path, or memory:")
      ->type_name("STORE")
      ->group(kShared);
}

void add_seed(CLI::App& command, CommonOptions& options) {
  command.add_option("--seed", options.seed, "seed of made-up numbers and of every random choice")
      ->check(whole_number(0))
      ->type_name("N")
      ->capture_default_str()
      ->group(kShared);
}

void add_accuracy(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--accuracy", options.accuracy,
                  "how near the reference results must be: strict, standard, fast, or max=1e-2,mean=1e-3,cosine>=0.999")
      ->check(accuracy_text())
      ->type_name("CLASS")
      ->capture_default_str()
      ->group(kShared);
}

void add_passes(CLI::App& command, CommonOptions& options) {
  command.add_option("--passes", options.passes, "passes over the graph to leave out, such as -fold_pad,-merge_bias")
      ->type_name("-NAME,...")
      ->group(kShared);
}

void add_shape(CLI::App& command, CommonOptions& options, const std::string& help) {
  command.add_option("--shape", options.shapes, help)
      ->allow_extra_args(false)
      ->option_text("NAME=SHAPE")
      ->group(kShared);
}

void add_input_range(CLI::App& command, CommonOptions& options) {
  command.add_option("--input-range", options.input_ranges, "numbers of a made-up input; repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME=LO..HI")
      ->group(kShared);
}

void add_reader(CLI::App& command, CommonOptions& options) {
  add_limit(command, options);
  command
      .add_flag("--trust", options.trust, "read the model in this process, not in one that a hostile file cannot leave")
      ->group(kShared);
}

void add_require_signature(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--require-signature", options.signer_files,
                  "take only a plan that this public key signed (collage sign); repeatable: one of these keys")
      ->allow_extra_args(false)
      ->option_text("KEY.pem")
      ->group(kShared);
}

void add_backend_library(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--backend-library", options.backend_libraries,
                  "also take the backend in this module file, libcollage_backend_KIND.so")
      ->allow_extra_args(false)
      ->option_text("FILE")
      ->group(kShared);
}

void add_custom_ops(CLI::App& command, CommonOptions& options) {
  command.add_option("--custom-ops", options.custom_ops, "library of custom operators for ONNX Runtime; repeatable")
      ->allow_extra_args(false)
      ->option_text("LIB.so")
      ->group(kShared);
}

bool is_given(const CLI::App& command, const std::string& option) {
  const CLI::Option* const found = command.get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

Result<void> refuse_given(const CLI::App& command, std::initializer_list<const char*> options, const std::string& why) {
  for (const std::string option : options)
    if (is_given(command, option))
      return fail(ExitCode::kUsage, "cli/bad-option", option, why, "a command line without " + option);
  return {};
}

Result<void> take_libraries(CommonOptions& options, const CLI::App& command) {
  if (is_given(command, "--backends")) options.named_backends = options.backends;
  std::error_code ignored;
  for (const std::string& file : options.backend_libraries)
    if (std::filesystem::is_directory(file, ignored))
      return bad_option(label("--backend-library"), file, "a module file that is there");
  COLLAGE_TRY(options.library_kinds, take_modules(options.backend_libraries, label("--backend-library")));
  options.backends = backends_from(options.named_backends, options.library_kinds);
  for (const std::string& library : options.custom_ops) {
    COLLAGE_TRY(std::string place, operator_place(library, label("--custom-ops")));
    options.backend_libraries.push_back(std::move(place));
  }
  return {};
}

OptionLabel label(const std::string& option) { return {.code = "cli/bad-option", .name = option}; }

Result<Signers> signers_from(const std::vector<std::string>& files) {
  Signers signers;
  for (const std::string& file : files) {
    COLLAGE_TRY(const Buffer text, read_file(file));
    COLLAGE_TRY(const Signers keys, public_keys_in(text.text(), file));
    signers.insert(signers.end(), keys.begin(), keys.end());
  }
  return signers;
}

Result<ModelReader> model_reader(const CommonOptions& options) {
  ModelReader reader;
  COLLAGE_TRY(reader.limits, limits_from(options));
  if (options.trust) return reader;
  COLLAGE_TRY(reader.worker, worker_command({}));  // backends have no part in it
  return reader;
}

Result<double> seconds_from(const std::string& text, const std::string& option, bool may_be_zero) {
  std::string_view digits = text;
  double unit = 1;
  if (digits.ends_with('s') || digits.ends_with('m') || digits.ends_with('h')) {
    unit = digits.back() == 'm' ? 60 : digits.back() == 'h' ? 3600 : 1;
    digits.remove_suffix(1);
  }
  const auto value = number_in<double>(digits);
  if (value && (*value > 0 || (may_be_zero && *value == 0))) return *value * unit;
  return fail(ExitCode::kUsage, "cli/bad-option", option, text, "a positive time such as 90s, 5m or 1h");
}

}  // namespace collage::cli
