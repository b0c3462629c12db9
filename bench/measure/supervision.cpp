// What it costs that candidates are measured in a worker: the same price jobs done without supervision and by a
// worker, in turns, and the round trip of a message.
// Usage: supervision COLLAGE MODEL BACKENDS [JOBS], with the program whose `worker` command is used. Prints two lines;
// nothing else may run meanwhile.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/work_folder.h"
#include "measure/jobs.h"
#include "measure/pricer.h"
#include "region/region.h"
#include "timing/sampling.h"
#include "tune/proposers.h"
#include "tune/stages.h"
#include "worker/frame.h"
#include "worker/worker_process.h"

namespace collage {
namespace {

template <class T>
T value_of(Result<T> result) {
  if constexpr (std::is_void_v<T>) {
    if (result) return;
  } else {
    if (result) return std::move(*result);
  }
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
    PriceJob job{.target = {.graph_file = prepared.graph_file, .record_file = prepared.record},
                 .candidates = {},
                 .options = {},
                 .artifact_folder = artifacts};
    for (const std::size_t node : pool.regions[r].nodes.members())
      job.target.nodes.push_back(static_cast<std::uint32_t>(node));
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

/// A process that does jobs as this program would: nobody watches it and nothing limits it. On its own, because a job
/// ends whatever processes its candidates left, and the worker would be one of them.
class Unwatched {
 public:
  explicit Unwatched(const std::string& modules) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::exit(1);
    socket_ = ends[0];
    if (::fork() != 0) {
      ::close(ends[1]);
      return;
    }
    ::close(ends[0]);
    serve(ends[1], modules);
    std::_Exit(0);
  }
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;
  ~Unwatched() {
    ::close(socket_);
    ::wait(nullptr);
  }

  void run(const Json& job) const {
    value_of(write_frame(socket_, {.type = FrameType::kJob, .payload = to_line(job)}));
    if (!value_of(read_frame(socket_, std::nullopt))) std::exit(1);
  }

 private:
  static void serve(int socket, const std::string& modules) {
    Registry registry({modules});
    const std::vector<Handler> handlers = measure_handlers();
    const auto price = std::ranges::find(handlers, "price", &Handler::type);
    JobContext nobody(-1, -1, registry);
    while (const auto frame = value_of(read_frame(socket, std::nullopt))) {
      static_cast<void>(price->run(value_of(parse_json(frame->payload, "job")), nobody));
      value_of(write_frame(socket, {.type = FrameType::kResult, .payload = "{}"}));
    }
  }

  int socket_ = -1;
};

void compare_jobs(const std::vector<Json>& jobs, WorkerProcess& worker, const Unwatched& unwatched) {
  const auto here = [&](const Json& job) { unwatched.run(job); };
  const auto there = [&](const Json& job) {
    const auto outcome = worker.call(job, kPatience);
    if (!outcome) fmt::print("the worker died: {}\n", outcome.error().refusal.detail);
  };
  // What is loaded and read once in a tune is not what is compared.
  here(jobs.front());
  there(jobs.front());
  double here_s = 0;
  double there_s = 0;
  std::vector<double> ratios;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    double one_s[2] = {0, 0};
    for (const std::size_t turn : {j % 2, 1 - j % 2})
      one_s[turn] = turn == 0 ? seconds([&] { here(jobs[j]); }) : seconds([&] { there(jobs[j]); });
    here_s += one_s[0];
    there_s += one_s[1];
    ratios.push_back(one_s[1] / one_s[0]);
  }
  std::ranges::sort(ratios);
  fmt::print("{} jobs: {:.2f} s without supervision, {:.2f} s in a worker, overhead of a job {:.1f} % in the median\n",
             jobs.size(), here_s, there_s, 100 * (ratios[ratios.size() / 2] - 1));
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
  const std::string modules = (program.parent_path().parent_path() / "lib" / "collage").string();
  const Unwatched unwatched(modules);  // first: it forks
  Registry registry({modules});
  const WorkFolder folder = value_of(WorkFolder::create());
  WorkerProcess worker({modules + "/collage-worker"});
  const Prepared prepared =
      value_of(prepare({.model = argv[2], .shapes = {}, .backends = backends, .input_ranges = {}, .progress = {}},
                       folder, registry, worker));
  const std::size_t most = argc > 4 ? static_cast<std::size_t>(std::atoll(argv[4])) : 1'000'000;
  const std::vector<Json> jobs = jobs_of(prepared, registry, backends, folder.path(), most);
  compare_jobs(jobs, worker, unwatched);
  time_messages(worker);
  return 0;
}

}  // namespace
}  // namespace collage

int main(int argc, char** argv) { return collage::run(argc, argv); }
