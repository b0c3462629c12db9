// Engines that compile the whole model while this process does something else, each in a worker of its own.
// In:  jobs. Out: names of artifacts, when somebody asks for them.
// Threading: one thread asks. Nothing may be timed while an engine compiles.
#pragma once

#include <cstddef>
#include <future>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/progress.h"
#include "tune/jobs.h"

namespace collage {

/// Those whose result nobody took are stopped at the end.
class EngineCompiler {
 public:
  EngineCompiler() = default;
  EngineCompiler(EngineCompiler&&) = default;
  EngineCompiler& operator=(EngineCompiler&&) = delete;
  ~EngineCompiler() { stop_.request_stop(); }

  /// An engine that was started before goes on as it is.
  void start(const std::vector<std::string>& command, CompileModelJob job);
  [[nodiscard]] bool has_started(const std::string& engine) const { return at_work_.contains(engine); }
  /// How many have not ended yet.
  [[nodiscard]] std::size_t running() const;
  /// False for an engine that is not ready by then. It goes on.
  [[nodiscard]] bool is_ready_by(Clock::time_point deadline, const std::string& engine) const;
  /// Waits for the engine's result; nothing for one that was not started.
  [[nodiscard]] std::optional<Result<std::string>> take(const std::string& engine);

 private:
  std::stop_source stop_;
  std::map<std::string, std::future<Result<std::string>>> at_work_;  ///< by engine
};

}  // namespace collage
