// What is known about the time of a candidate: measured, estimated, unknown or infeasible. Each is a type of its own;
// no special number stands for any of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "region/refusal.h"

namespace collage {

/// Times in integer nanoseconds; the interval is the middle half of the samples.
struct Measured {
  std::int64_t median_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  std::int32_t samples = 0;
  bool operator==(const Measured&) const = default;
};
struct Estimated {
  std::int64_t ns = 0;
  bool is_sampled = false;  ///< by a few runs here, of which this was the fastest; else by a model, or by the user
  bool operator==(const Estimated&) const = default;
};
struct Unknown {
  bool operator==(const Unknown&) const = default;
};
struct Infeasible {
  Refusal refusal;
  bool operator==(const Infeasible&) const = default;
};

using Cost = std::variant<Unknown, Measured, Estimated, Infeasible>;

/// The samples behind a measured cost.
struct Samples {
  std::vector<std::int64_t> ns;  ///< of one call each, in the order of measuring
  std::int64_t warm_ns = 0;      ///< time of a call whose data is in the caches; 0 = the samples are such calls
  bool operator==(const Samples&) const = default;
};

/// Whether it is an estimate from a few runs.
[[nodiscard]] bool is_sampled(const Cost& cost);
/// Nanoseconds of a measured or estimated cost.
[[nodiscard]] std::optional<std::int64_t> nanoseconds_of(const Cost& cost);

}  // namespace collage
