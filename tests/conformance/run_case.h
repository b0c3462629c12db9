// Runs one case on one backend: the whole graph as one region, in every variant the backend offers.
#pragma once

#include <string>
#include <vector>

#include "backend/registry.h"
#include "numbers/format_converter.h"
#include "tests/conformance/case.h"
#include "timing/displacer.h"

namespace collage::conformance {

/// Instances that compile, and others that only ever see artifacts, as in the process that runs a plan.
class Laboratory {
 public:
  explicit Laboratory(const std::string& module_folder)
      : compiling_({module_folder}), loading_({module_folder}), converter_(compiling_) {}

  /// Errors of Registry::get.
  [[nodiscard]] Result<Backend*> compiler(const std::string& instance) { return compiling_.get(instance); }
  [[nodiscard]] Result<Backend*> loader(const std::string& instance) { return loading_.get(instance); }
  [[nodiscard]] bool has(const std::string& kind) const;
  [[nodiscard]] FormatConverter& converter() { return converter_; }
  /// One that flushes what kernels say they read, as in a model that leaves nothing in the caches.
  [[nodiscard]] Displacer& displacer() { return displacer_; }

 private:
  static constexpr std::int64_t kDisplaced = std::int64_t{1} << 18;

  Registry compiling_;
  Registry loading_;
  FormatConverter converter_;
  Displacer displacer_{kDisplaced, {.private_bytes = kDisplaced / 2, .last_bytes = kDisplaced / 2}};
};

/// The case's outputs as a backend computes them in plain formats. Error conformance/refused when it refuses.
[[nodiscard]] Result<std::vector<Tensor>> compute(Laboratory& laboratory, const std::string& instance,
                                                  const Case& which);

inline constexpr std::size_t kAllVariants = 1000;

/// Compiles, loads and checks so many variants, spread over those offered, or all when these are refused, twice: values
/// against `which.expected`, inputs unchanged, nothing written outside the buffers; and in place where the artifact
/// says that works. Refused when every variant was.
[[nodiscard]] Outcome run_case(Laboratory& laboratory, const std::string& instance, const Case& which,
                               std::size_t variants = kAllVariants);

/// The same for what the backend offers in class fast beyond class standard: variants in 16 bits, judged by the bound
/// of class fast. Refused where it offers none.
[[nodiscard]] Outcome run_narrow(Laboratory& laboratory, const std::string& instance, const Case& which);

}  // namespace collage::conformance
