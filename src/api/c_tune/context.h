// The part that all calls have in common: which backends and workers, where costs are kept, progress, the end.
// In: collage_context. Out: values for the functions of api/tune and tune.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "api/c_tune/collage_tune.h"
#include "backend/registry.h"
#include "base/error.h"
#include "base/progress.h"
#include "sandbox/model_reader.h"

namespace collage::c_api {

struct Context {
  std::string store;  ///< as given; "" = the default one
  std::vector<std::string> modules;
  std::vector<std::string> module_kinds;  ///< of the files among them
  std::vector<std::string> worker;        ///< as given; empty = the helper program
  bool trusts_models = false;
  ImportLimits limits;
  Progress progress;
  std::stop_token stop;

  [[nodiscard]] std::vector<std::string> places() const;
  /// Error worker/cannot-start when the helper program is missing.
  [[nodiscard]] Result<std::vector<std::string>> worker_argv() const;
  /// A worker, or this process where models are trusted. Errors of worker_argv().
  [[nodiscard]] Result<ModelReader> model_reader() const;
};

/// All defaults for null. Errors api/wrong-size, api/unknown-option, api/null-argument, api/wrong-option.
[[nodiscard]] Result<Context> context_of(const collage_context* given);

}  // namespace collage::c_api
