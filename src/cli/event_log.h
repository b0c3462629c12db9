// Writes the file of --events: one JSON object a line; the last one says how the command ended (docs/EVENTS.md).
#pragma once

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/progress.h"

namespace collage::cli {

/// How a command ended.
enum class Outcome : std::uint8_t { kDone, kInterrupted, kFailed };

/// One thread at a time. Every line is written completely before the call returns, so that a killed program leaves
/// complete lines.
class EventLog {
 public:
  /// Nothing is written for an empty path, nor for a file that cannot be opened, which check_outputs() reports before.
  explicit EventLog(const std::string& path);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  /// Writes the last line if it was not written yet.
  ~EventLog();

  void write(const ProgressEvent& event);
  /// The last line; later calls do nothing. `error` is the error, if there was one.
  void finish(Outcome outcome, int exit_code, const std::optional<Error>& error = std::nullopt);

 private:
  [[nodiscard]] double seconds() const;

  std::FILE* file_ = nullptr;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double best_us_ = 0;
};

}  // namespace collage::cli
