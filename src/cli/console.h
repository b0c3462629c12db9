// Everything the program shows: results on stdout, progress and errors on stderr, JSON where asked.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/progress.h"
#include "cli/options.h"

namespace collage::cli {

class Console {
 public:
  explicit Console(const CommonOptions& options);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// A callback that draws a bar on a terminal, prints lines elsewhere, and feeds --events.
  [[nodiscard]] Progress progress();
  /// Ends the bar, if one is shown.
  void end_progress();
  /// The result: `text` on stdout and `json` where --json says.
  Result<void> result(const std::string& text, const std::string& json);
  /// Says the error and returns the process's exit code.
  int failure(const Error& error);

 private:
  void draw(const ProgressEvent& event);
  void write_event(const ProgressEvent& event);

  const CommonOptions& options_;
  std::FILE* events_ = nullptr;
  bool terminal_ = false;
  bool bar_shown_ = false;
  std::string phase_;
  std::chrono::steady_clock::time_point phase_start_;
  std::chrono::steady_clock::time_point last_draw_;
};

}  // namespace collage::cli
