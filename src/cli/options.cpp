#include "cli/options.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/module_file.h"
#include "base/number_text.h"
#include "cli/checks.h"
#include "measure/repro_keeper.h"
#include "passes/simplify.h"

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

constexpr const char* kStoreInMemory = "memory:";
/// Where --help lists them.
constexpr const char* kShared = "Common options";

/// $XDG_CACHE_HOME/collage; empty where the user has no such place.
std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache && *cache) return std::string(cache) + "/collage";
  if (home && *home) return std::string(home) + "/.cache/collage";
  return {};
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
      ->check(whole_number(1, 1024))
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
  command.add_option("--accuracy", options.accuracy, "how near the reference results must be: strict, standard, fast")
      ->check(one_of({"strict", "standard", "fast"}))
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

void add_backend_library(CLI::App& command, std::vector<std::string>& files) {
  command
      .add_option("--backend-library", files, "also take the backend in this module file, libcollage_backend_KIND.so")
      ->allow_extra_args(false)
      ->option_text("FILE")
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

std::vector<std::string> library_kinds(const CommonOptions& options) {
  std::vector<std::string> kinds;
  for (const std::string& file : options.backend_libraries)
    kinds.push_back(kind_of_file(std::filesystem::path(file).filename().string()));
  return kinds;
}

Result<void> take_libraries(CommonOptions& options, const CLI::App& command) {
  for (std::string& file : options.backend_libraries) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(file, error);
    if (!std::filesystem::is_regular_file(path, error))
      return fail(ExitCode::kUsage, "cli/bad-option", "--backend-library", file, "a module file that is there");
    if (kind_of_file(path.filename().string()).empty())
      return fail(ExitCode::kUsage, "cli/bad-option", "--backend-library", file,
                  "a file called " + file_of_kind("KIND"));
    file = path.string();
  }
  if (!is_given(command, "--backends"))
    for (std::string& kind : library_kinds(options))
      if (std::ranges::find(options.backends, kind) == options.backends.end())
        options.backends.push_back(std::move(kind));
  return {};
}

std::vector<std::string> module_places(const std::vector<std::string>& backend_libraries) {
  std::vector<std::string> places = backend_libraries;
  for (std::string& folder : default_module_folders()) places.push_back(std::move(folder));
  return places;
}

std::vector<std::string> worker_command(std::vector<std::string> command, const CommonOptions& options) {
  for (const std::string& file : options.backend_libraries) {
    command.emplace_back("--backend-library");
    command.push_back(file);
  }
  return command;
}

Result<Accuracy> accuracy_from(const CommonOptions& options) {
  if (const auto accuracy = accuracy_of(options.accuracy)) return *accuracy;
  return fail(ExitCode::kUsage, "cli/bad-option", "--accuracy", options.accuracy, "strict, standard or fast");
}

Result<std::set<std::string>> passes_from(const CommonOptions& options) {
  if (options.passes.empty()) return std::set<std::string>();
  auto off = passes_switched_off(options.passes);
  if (!off) return fail(ExitCode::kUsage, "cli/bad-option", "--passes", off.error().saw, off.error().allowed);
  return off;
}

Result<std::map<std::string, std::pair<double, double>>> input_ranges_from(const CommonOptions& options) {
  std::map<std::string, std::pair<double, double>> ranges;
  for (const std::string& entry : options.input_ranges) {
    const std::size_t equals = entry.rfind('=');
    const std::size_t dots = entry.find("..", equals == std::string::npos ? 0 : equals);
    if (equals != std::string::npos && dots != std::string::npos) {
      const auto low = number_in<double>(std::string_view(entry).substr(equals + 1, dots - equals - 1));
      const auto high = number_in<double>(std::string_view(entry).substr(dots + 2));
      if (low && high && *low <= *high) {
        if (!ranges.emplace(entry.substr(0, equals), std::pair(*low, *high)).second)
          return fail(ExitCode::kUsage, "cli/bad-option", "--input-range", entry, "one range for each input");
        continue;
      }
    }
    return fail(ExitCode::kUsage, "cli/bad-option", "--input-range", entry, "NAME=LO..HI with LO <= HI");
  }
  return ranges;
}

std::string store_from(const CommonOptions& options) {
  if (options.store.starts_with("sqlite:")) return options.store.substr(7);
  if (!options.store.empty()) return options.store;
  const std::string cache = cache_folder();
  return cache.empty() ? kStoreInMemory : cache + "/costs.sqlite";
}

std::string repros_from(const CommonOptions& options) {
  const std::string store = store_from(options);
  const std::string cache = cache_folder();
  if (store == kStoreInMemory) return cache.empty() ? "" : cache + "/repros";
  std::error_code ignored;
  return repro_folder_of(std::filesystem::absolute(store, ignored).string());
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
