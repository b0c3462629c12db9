// What is known of a tune that goes on: its last progress, the best times so far, the last notes.
// In:  progress events. Out: JSON for the page that shows it (api/tune/page/live.js).
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.h"

namespace collage {

/// For any number of threads.
class LiveState {
 public:
  void add(const ProgressEvent& event);
  /// Time stands still from now on.
  void end();
  /// `plan_version`: of the plan on disk; "" when there is none.
  [[nodiscard]] std::string json(const std::string& plan_version) const;

 private:
  [[nodiscard]] double seconds() const;

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  ProgressEvent last_;
  std::vector<std::string> notes_;
  std::vector<std::pair<double, double>> curve_;  ///< seconds, best time in microseconds
  std::optional<double> ended_s_;
};

}  // namespace collage
