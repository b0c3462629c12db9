#include "tune/confirm/engine_compiler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "worker/worker_process.h"

namespace collage {

void EngineCompiler::start(const std::vector<std::string>& command, CompileModelJob job) {
  if (has_started(job.engine)) return;
  const std::string engine = job.engine;
  const auto compile = [command, job = std::move(job), stop = stop_.get_token()] {
    WorkerProcess worker(command);
    return compile_model(worker, job, stop);
  };
  at_work_.emplace(engine, std::async(std::launch::async, compile));
}

std::size_t EngineCompiler::running() const {
  return static_cast<std::size_t>(std::ranges::count_if(at_work_, [](const auto& one) {
    return one.second.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  }));
}

bool EngineCompiler::is_ready_by(Clock::time_point deadline, const std::string& engine) const {
  const auto found = at_work_.find(engine);
  return found == at_work_.end() || found->second.wait_until(deadline) == std::future_status::ready;
}

std::optional<Result<std::string>> EngineCompiler::take(const std::string& engine) {
  const auto found = at_work_.find(engine);
  if (found == at_work_.end()) return std::nullopt;
  Result<std::string> hash = found->second.get();
  at_work_.erase(found);
  return hash;
}

}  // namespace collage
