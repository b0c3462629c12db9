// Options of the calls of collage_tune.hpp, which includes this file: values that a program fills in.
// In: nothing. Out: models, options, progress, a token that cancels.
#ifndef COLLAGE_TUNE_OPTIONS_HPP
#define COLLAGE_TUNE_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collage.hpp"
#include "collage_tune.h"

namespace collage {
inline namespace capi {
inline namespace COLLAGE_CPP_LEVEL {

namespace detail {

/// Null when the library has no such version.
inline const collage_tune_api* tune_api() noexcept {
  static const collage_tune_api* const table = collage_get_tune_api(COLLAGE_TUNE_API_VERSION);
  return table;
}

/// Whether the libraries have all that these headers ask for.
inline Expected<void> check_tuner() {
  if (Expected<void> fits = check_library(); !fits) return fits;
  if (tune_api() != nullptr && tune_api()->size >= sizeof(collage_tune_api)) return {};
  const std::string wanted = "an interface of version " + std::to_string(COLLAGE_TUNE_API_VERSION) + " with " +
                             std::to_string(sizeof(collage_tune_api)) + " bytes";
  return Unexpected(Error{"api/older-library", "error[api/older-library]: libcollage_tuner.so lacks " + wanted,
                          "libcollage_tuner.so", "an older interface", wanted, COLLAGE_UNSUPPORTED});
}

}  // namespace detail

/// How far a call is.
struct TuneProgress {
  std::string phase;
  std::size_t done = 0;
  std::size_t total = 0;  ///< 0 when it cannot be told
  std::size_t refused = 0;
  double best_us = 0;            ///< 0 when none
  std::optional<double> left_s;  ///< until all is done
  std::string note;              ///< one line, often empty
  std::string rival;             ///< the fastest engine on the whole model; empty when none has run yet
  double speedup = 0;            ///< how many times faster than it the best is; 0 when that is not known
};

/// What all calls take.
struct TuneContext {
  std::string store;                 ///< of costs: a path, "memory:", "sqlite:PATH"
  std::vector<std::string> modules;  ///< files or folders of more backends
  std::vector<std::string> worker;   ///< argv of another program that serves as worker
  std::function<void(const TuneProgress&)> progress;
  std::optional<CancelToken> cancel;
  bool trust_models = false;  ///< models are read in this process, not in a worker that a hostile file cannot leave
  std::vector<std::string> limits;  ///< "NAME=VALUE": how much a model may ask for, of what `collage limits` lists
};

/// A model as a path, or as bytes that live during the call, without external data.
struct Model {
  Model() = default;
  Model(std::string of) : path(std::move(of)) {}
  Model(const char* of) : path(of) {}
  Model(const void* data, std::size_t count) : bytes(data), byte_count(count) {}
  std::string path;
  const void* bytes = nullptr;
  std::size_t byte_count = 0;
};

/// As the options of `collage tune`.
struct TuneOptions {
  Model model;
  std::string plan;              ///< path to write
  double budget_s = 0;           ///< 0 = 60
  double schedule_budget_s = 0;  ///< on top of it, for schedules of kernels
  int threads = 1;
  std::string accuracy;               ///< "strict", "standard", "fast"
  std::vector<std::string> shapes;    ///< "x=1x3x224x224", "batch=8", "batch=1..8"
  std::vector<std::string> at;        ///< with ranges: "batch=4:2"
  std::size_t points = 0;             ///< with ranges; 0 = 16
  std::vector<std::string> backends;  ///< none = the usual ones
  std::string only;
  std::vector<std::string> bans;  ///< "GLOB=NAME"
  std::vector<std::string> pins;  ///< "GLOB=NAME"
  std::string rules;              ///< path of a file of rules
  std::string rules_text;         ///< or its text
  std::vector<std::string> passes_off;
  std::vector<std::string> input_ranges;  ///< "NAME=LO..HI"
  std::uint64_t seed = 1;
  std::int64_t memory_cap = 0;  ///< bytes; 0 = none
  bool measure_all = false;     ///< every candidate, not only those that a best plan may need
  bool for_library = false;     ///< only what `collage export` can link takes nodes; without ranges in shapes
  bool portable = false;        ///< kernels for processors with fewer instructions too, after the budget
  /// How many microseconds a candidate (JSON: docs/schemas/candidate.schema.json) takes; nothing when it cannot tell.
  std::function<std::optional<double>(const char* candidate)> estimate;
  bool estimates_only = false;  ///< candidates with an estimate are not measured; else estimates are forecasts
  TuneContext context;
};

struct ModelOptions {
  Model model;
  int threads = 1;
  std::vector<std::string> shapes;
  TuneContext context;
};

struct BenchOptions {
  std::string plan;                  ///< path of a plan, or of a model
  std::string model;                 ///< the model's present path; empty = the one in the plan
  std::vector<std::string> shapes;   ///< of a model, or of a plan of many shapes: which
  std::vector<std::string> against;  ///< engines or paths of plans; none = the usual rivals
  int threads = 0;                   ///< 0 = as the plan was tuned
  double seconds = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> input_ranges;
  TuneContext context;
};

/// For verify, recheck and explain.
struct CheckOptions {
  std::string plan;
  std::string model;                ///< the model's present path; empty = the one in the plan
  std::vector<std::string> shapes;  ///< verify, explain: of a plan of many shapes, which
  int seeds = 1;                    ///< verify: how many sets of inputs
  std::uint64_t seed = 1;
  bool always = false;                    ///< recheck: measures even if nothing differs
  std::vector<std::string> input_ranges;  ///< verify
  std::string node;                       ///< explain: a glob
  std::string why_not;                    ///< explain: "NODE=BACKEND"
  TuneContext context;
};

}  // namespace COLLAGE_CPP_LEVEL
}  // namespace capi
}  // namespace collage

#endif
