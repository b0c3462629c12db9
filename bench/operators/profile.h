// What each configuration takes in ONNX Runtime, and so its part of the time of the models it stands in.
// In: cases. Out: microseconds, kept in a file so that a choice can be repeated.
// Cost: some tens of milliseconds for a case that the file does not know.
// Source: ours.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "bench/operators/operator_case.h"

namespace collage::bench {

class Profile {
 public:
  /// `file` may be empty or not yet there.
  explicit Profile(std::string file);

  /// Nothing when the engine refuses the case. Inputs that give results which are not finite get a range of positive
  /// numbers.
  [[nodiscard]] std::optional<double> time_us(OperatorCase& which, Backend& engine);

  /// Error io/*.
  [[nodiscard]] Result<void> save() const;

 private:
  struct Entry {
    double us = 0;  ///< 0: refused
    bool is_positive = false;
  };
  [[nodiscard]] static Entry measure(OperatorCase& which, Backend& engine);

  std::string file_;
  std::map<std::string, Entry> entries_;  ///< by hash of the case's key
};

}  // namespace collage::bench
