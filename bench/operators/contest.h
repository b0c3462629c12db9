// One case, run by every backend in every variant, checked and timed in turns in the calling process.
// In: a case, backends, how long to time. Out: what each took, or why it did not run; ratios by round.
// A backend is asked for the whole case as one region; each variant is timed in the formats it takes and gives, so no
// conversion is in the times. Only what gives the reference's numbers is timed. A short round of all variants leaves
// the best of each contender, then these run against each other.
// Cost: compiling every variant, then some milliseconds for each contender and round.
// Not here: keeping a crash from the rest (operators.cpp).
// Source: docs/MEASURING.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/operators/operator_case.h"
#include "region/value_json.h"

namespace collage::bench {

struct ContestOptions {
  std::vector<std::string> backends;
  std::size_t rounds = 25;
  double most_seconds = 12;    ///< for the rounds of a case
  bool plain_engines = false;  ///< engines only in plain formats, as whole models run in them
  bool few_bits =
      false;  ///< class fast in place of standard: variants in 16 bits take part, as contenders of their own
};

/// Of one backend, or a part of its variants that is looked at by itself.
struct Contender {
  std::string name;     ///< "native", "native 16 bits", "onednn direct", "onednn winograd"
  std::string variant;  ///< the best one, with its formats
  double median_us = 0;
  std::vector<std::int64_t> samples_ns = {};  ///< by round
};

/// Behind the name of a backend whose variants in 16 bits are looked at by themselves.
inline constexpr std::string_view kFewBits = " 16 bits";
/// Behind the name of one whose products in fixed point, or of split floats, are looked at by themselves.
inline constexpr std::string_view kFixedPoint = " fixed point";
inline constexpr std::string_view kSplit = " split floats";

/// The backend of a contender.
[[nodiscard]] inline std::string_view backend_of(std::string_view contender) {
  return contender.substr(0, contender.find(' '));
}

struct Outcome {
  std::string case_name;
  std::string error;                            ///< nothing was timed
  std::vector<Contender> contenders;            ///< those that ran
  std::map<std::string, std::string> refusals;  ///< by contender: why it did not run
  std::map<std::string, std::string> failures;  ///< by contender: variants that were wrong or failed, with the reason
  std::map<std::string, std::vector<double>> compile_s;  ///< by contender: what each of its kernels took to compile
};

[[nodiscard]] Outcome run_contest(const OperatorCase& which, const ContestOptions& options);

[[nodiscard]] Json to_json(const Outcome& outcome);
/// Throws Json::exception on malformed input.
[[nodiscard]] Outcome outcome_from(const Json& json);

}  // namespace collage::bench
