// All output of the program: results on stdout, progress and errors on stderr, JSON where the user asks for it.
#pragma once

#include <chrono>
#include <string>

#include "base/error.h"
#include "base/progress.h"
#include "cli/event_log.h"
#include "cli/options.h"

namespace collage::cli {

class Console {
 public:
  explicit Console(const CommonOptions& options);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// A callback that draws a bar on a terminal, prints lines elsewhere, and feeds --events. Must not outlive this
  /// object.
  [[nodiscard]] Progress progress();
  /// Ends the bar, if one is shown.
  void end_progress();
  /// One line on stderr, unless --quiet.
  void note(const std::string& text);
  /// Writes the result: `text` on stdout and `json` to the target of --json. `outcome` and `exit_code` end --events.
  Result<void> result(const std::string& text, const std::string& json, ExitCode exit_code = ExitCode::kGood,
                      Outcome outcome = Outcome::kDone);
  /// Reports the error and returns the process's exit code.
  int failure(const Error& error);

 private:
  void show(const ProgressEvent& event);
  void draw_bar(const ProgressEvent& event);
  Result<void> write_result(const std::string& text, const std::string& json);

  const CommonOptions& options_;
  EventLog events_;
  bool terminal_ = false;
  bool bar_shown_ = false;
  std::string phase_;
  std::chrono::steady_clock::time_point last_shown_;
};

}  // namespace collage::cli
