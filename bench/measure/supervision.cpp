// What it costs that candidates are measured in a worker: the same price jobs done in this process and by a worker, in
// turns, and the round trip of a message.
// Usage: supervision COLLAGE MODEL BACKENDS [JOBS], with the program whose `worker` command is used. Prints two lines;
// nothing else may run meanwhile.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "measure/jobs.h"
#include "measure/pricer.h"
#include "measure/sampling.h"
#include "measure/work_folder.h"
#include "measure/worker_process.h"
#include "region/region.h"
#include "tune/proposers.h"
#include "tune/stages.h"

namespace collage {
namespace {

template <class T>
T value_of(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", to_string(result.error()));
  std::exit(1);
}

const Allowance kPatience = [](const std::optional<JobProgress>&) { return std::chrono::minutes(5); };

/// One job for each structure of the model's candidates, as a tune asks them.
std::vector<Json> jobs_of(const Prepared& prepared, Registry& registry, const std::vector<std::string>& backends,
                          const std::string& artifacts, std::size_t most) {
  const Graph& graph = prepared.graph;
  const auto proposers = value_of(make_proposers(registry, backends, graph, {}));
  const CandidatePool pool = propose(graph, uses_of(graph), proposers);
  std::set<std::string> seen;
  std::vector<Json> jobs;
  for (std::size_t r = 0; r < pool.regions.size() && jobs.size() < most; ++r) {
    if (!seen.insert(structure_key(graph, pool.regions[r])).second) continue;
    PriceJob job{.graph_file = prepared.graph_file, .record_file = prepared.record, .artifact_folder = artifacts};
    for (const std::size_t node : pool.regions[r].nodes.members())
      job.nodes.push_back(static_cast<std::uint32_t>(node));
    for (const Candidate& candidate : pool.candidates)
      if (candidate.region == r) job.candidates.push_back({.backend = candidate.backend, .variant = candidate.variant});
    if (!job.candidates.empty()) jobs.push_back(to_json(job));
  }
  return jobs;
}

double seconds(auto&& work) {
  const std::int64_t begin = monotonic_ns();
  work();
  return static_cast<double>(monotonic_ns() - begin) * 1e-9;
}

void compare_jobs(const std::vector<Json>& jobs, WorkerProcess& worker, Registry& registry) {
  const std::vector<Handler> handlers = measure_handlers();
  const auto price = std::ranges::find(handlers, "price", &Handler::type);
  JobContext nobody(-1, -1, registry);
  const auto here = [&](const Json& job) { static_cast<void>(price->run(job, nobody)); };
  const auto there = [&](const Json& job) { static_cast<void>(worker.call(job, kPatience)); };
  // What is loaded and read once in a tune is not what is compared.
  here(jobs.front());
  there(jobs.front());
  double here_s = 0;
  double there_s = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j)
    for (int turn = 0; turn < 2; ++turn) {
      if ((static_cast<int>(j) + turn) % 2 == 0)
        here_s += seconds([&] { here(jobs[j]); });
      else
        there_s += seconds([&] { there(jobs[j]); });
    }
  fmt::print("{} jobs: {:.2f} s in this process, {:.2f} s in a worker, overhead {:.1f} %\n", jobs.size(), here_s,
             there_s, 100 * (there_s / here_s - 1));
}

/// A job of a type that nobody handles is answered at once.
void time_messages(WorkerProcess& worker) {
  constexpr int kMessages = 20'000;
  std::vector<std::int64_t> samples;
  for (int i = 0; i < kMessages; ++i) {
    const std::int64_t begin = monotonic_ns();
    static_cast<void>(worker.call({{"type", "nothing"}}, kPatience));
    samples.push_back(monotonic_ns() - begin);
  }
  std::ranges::sort(samples);
  fmt::print("message to a live worker and its answer: {:.1f} us in the median, {:.1f} us in the 99th percentile\n",
             static_cast<double>(samples[kMessages / 2]) / 1000,
             static_cast<double>(samples[kMessages / 100 * 99]) / 1000);
}

int run(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: supervision COLLAGE MODEL BACKENDS [JOBS]\n");
    return 2;
  }
  std::vector<std::string> backends;
  for (std::string rest = argv[3]; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    backends.push_back(rest.substr(0, comma));
    rest.erase(0, comma + 1);
  }
  const std::filesystem::path program = argv[1];
  Registry registry({(program.parent_path().parent_path() / "lib" / "collage").string()});
  const WorkFolder folder = value_of(WorkFolder::create());
  WorkerProcess worker({argv[1], "worker"});
  const Prepared prepared =
      value_of(prepare({.model = argv[2], .shapes = {}, .backends = backends, .input_ranges = {}, .progress = {}},
                       folder, registry, worker));
  const std::size_t most = argc > 4 ? static_cast<std::size_t>(std::atoll(argv[4])) : 1'000'000;
  const std::vector<Json> jobs = jobs_of(prepared, registry, backends, folder.path(), most);
  compare_jobs(jobs, worker, registry);
  time_messages(worker);
  return 0;
}

}  // namespace
}  // namespace collage

int main(int argc, char** argv) { return collage::run(argc, argv); }
