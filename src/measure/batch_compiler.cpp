#include "measure/batch_compiler.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace collage {
namespace {

/// More workers than this hardly make a batch faster, and each holds a compiler in memory.
constexpr std::size_t kMostWorkers = 8;

std::string artifact_of(const PriceJob& job, WorkerProcess& worker, const Allowance& allowance,
                        const std::stop_token& stop) {
  const auto outcome = worker.call(to_json(job), allowance, stop);
  if (!outcome || !*outcome) return {};
  const auto answer = price_answer_from(**outcome);
  if (!answer || answer->harmed || worker.is_bloated()) worker.stop();
  return answer && !answer->harmed && answer->candidates.size() == 1 ? answer->candidates[0].artifact : std::string();
}

}  // namespace

std::vector<std::string> BatchCompiler::compile(std::span<const PriceJob> jobs, const Allowance& allowance,
                                                const std::stop_token& stop) {
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t count = std::min({kMostWorkers, processors, jobs.size()});
  while (workers_.size() < count) workers_.push_back(std::make_unique<WorkerProcess>(command_));
  std::vector<std::string> hashes(jobs.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (std::size_t w = 0; w < count; ++w)
    threads.emplace_back([&, worker = workers_[w].get()] {
      for (std::size_t i = next++; i < jobs.size() && !stop.stop_requested(); i = next++)
        hashes[i] = artifact_of(jobs[i], *worker, allowance, stop);
    });
  threads.clear();
  return hashes;
}

}  // namespace collage
