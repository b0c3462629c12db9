#include "measure/work_ahead.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <variant>

#include "worker/limits.h"

namespace collage {
namespace {

/// More workers than this hardly make a batch faster. Each holds a compiler and the input sets of regions in memory.
constexpr std::size_t kMostWorkers = 8;
constexpr std::int64_t kBytesPerWorker = std::int64_t{2} << 30;

/// Of new ones; one at least.
std::size_t workers_that_fit() {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, available_memory() / kBytesPerWorker));
}

bool is_hang(const Death& death) {
  return !death.stopped && death.candidate && death.refusal.reason == RefusalReason::kTimeout;
}

WorkedAhead answer_to(const PriceJob& job, WorkerProcess& worker, const Allowance& allowance,
                      const std::stop_token& stop) {
  const auto outcome = worker.call(to_json(job), allowance, stop);
  if (!outcome) return is_hang(outcome.error()) ? WorkedAhead{.hang = outcome.error()} : WorkedAhead{};
  if (!*outcome) return {};
  auto answer = price_answer_from(**outcome);
  if (!answer || answer->harmed || worker.is_bloated()) worker.stop();
  if (!answer || answer->harmed || answer->candidates.size() != 1) return {};
  CandidateAnswer& only = answer->candidates.front();
  const auto* const refused = std::get_if<Infeasible>(&only.cost);
  if (refused != nullptr && refused->refusal.reason != RefusalReason::kWrongResult) return {};
  return {.answer = std::move(only)};
}

}  // namespace

std::size_t WorkersAhead::width(int threads) const {
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t at_once = std::max<std::size_t>(1, processors / static_cast<std::size_t>(std::max(1, threads)));
  return std::min({kMostWorkers, at_once, workers_.size() + workers_that_fit()});
}

std::vector<WorkedAhead> WorkersAhead::run(std::span<const PriceJob> jobs, std::size_t width,
                                           const Allowance& allowance, Clock::time_point until,
                                           const std::stop_token& stop) {
  const std::size_t count = std::min(width, jobs.size());
  while (workers_.size() < count) workers_.push_back(std::make_unique<WorkerProcess>(command_));
  std::vector<WorkedAhead> answers(jobs.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (std::size_t w = 0; w < count; ++w)
    threads.emplace_back([&, worker = workers_[w].get()] {
      for (std::size_t i = next++; i < jobs.size() && !stop.stop_requested() && Clock::now() < until; i = next++)
        answers[i] = answer_to(jobs[i], *worker, allowance, stop);
    });
  threads.clear();
  return answers;
}

}  // namespace collage
