// The report of `run`: outputs with their numbers, the sources of the inputs, the time of the run, the files written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/tensor.h"

namespace collage::cli {

/// An input or output of the run.
struct RunArray {
  std::string name;
  Tensor tensor;
  std::string given;    ///< of an input: the file it was read from; empty = made up
  std::string written;  ///< the file it was written to; empty = none
};

struct RunReport {
  std::vector<RunArray> inputs;
  std::vector<RunArray> outputs;
  std::uint64_t seed = 1;
  int threads = 1;
  std::int64_t run_ns = 0;         ///< of the one run
  std::vector<std::string> files;  ///< all that were written
};

/// Numbers of a tensor; without finite ones the first three say nothing.
struct TensorSummary {
  std::optional<double> min;
  std::optional<double> mean;
  std::optional<double> max;
  std::size_t not_finite = 0;
  std::vector<std::string> first;  ///< as text
};

/// Integers beyond 2^53 are rounded in the figures.
[[nodiscard]] TensorSummary summary_of(const Tensor& tensor);

/// For people, and the JSON object of `run --json` (schema collage.run/1).
[[nodiscard]] std::string to_text(const RunReport& report);
[[nodiscard]] std::string to_json(const RunReport& report);

}  // namespace collage::cli
