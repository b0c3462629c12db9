// Plans under load: many threads, many cycles, sessions that end in any order. Lengths are those of a quick test;
// ./dev soak has the full ones.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <random>
#include <thread>

#include "tests/api/c/plan_files.h"
#include "tests/support/long_run.h"

namespace collage::test {
namespace {

constexpr int kThreads = 8;
constexpr std::uint64_t kSeeds = 4;

/// What this process holds of things that run out.
struct Holdings {
  std::size_t resident_bytes = 0;
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::size_t mappings = 0;
};

std::size_t entries_of(const char* folder) {
  std::size_t count = 0;
  DIR* const open = ::opendir(folder);
  while (::readdir(open) != nullptr) ++count;
  ::closedir(open);
  return count;
}

Holdings holdings() {
  Holdings held;
  std::size_t all = 0;
  std::ifstream("/proc/self/statm") >> all >> held.resident_bytes;
  held.resident_bytes *= static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  held.descriptors = entries_of("/proc/self/fd");
  held.threads = entries_of("/proc/self/task");
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++held.mappings;
  return held;
}

/// Memory of this process that maps a file: how often, and how many bytes of it are in memory.
std::pair<std::size_t, std::size_t> resident_of(const std::string& path) {
  std::ifstream smaps("/proc/self/smaps");
  std::pair<std::size_t, std::size_t> seen;
  bool is_ours = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find('-') < line.find(' ')) is_ours = line.ends_with(path);
    if (line.starts_with("Rss:") && is_ours) {
      ++seen.first;
      seen.second += std::stoul(line.substr(4)) << 10;
    }
  }
  return seen;
}

/// Sanitisers keep what is freed.
constexpr bool keeps_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

/// The thread sanitiser does not see how OpenMP's threads wait for each other.
constexpr bool checks_races() {
#if defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

std::int32_t threads_of(const PlanHandle& plan) {
  std::int32_t threads = 0;
  EXPECT_TRUE(is_good(c_api().plan_threads(plan.get(), &threads)));
  return threads;
}

/// All outputs a session may give: by open extent, then by seed.
class Expected {
 public:
  explicit Expected(const collage_plan* plan, const collage_session_options* options = nullptr)
      : extents_(open_extents_of(plan)) {
    Runner runner(plan, options);
    for (const std::int64_t extent : extents_)
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) outputs_.push_back(runner.outputs(extent, seed));
  }
  /// Whether run number `i` of a session gives what it must.
  [[nodiscard]] bool is_right(Runner& runner, std::size_t i) const {
    const std::size_t extent = i / kSeeds % extents_.size();
    const std::uint64_t seed = i % kSeeds;
    const std::string& expected = outputs_[extent * kSeeds + seed];
    return !expected.empty() && runner.outputs(extents_[extent], seed) == expected;
  }

 private:
  std::vector<std::int64_t> extents_;
  std::vector<std::string> outputs_;
};

class Stress : public CApi {
 protected:
  static void report(const std::string& what, std::size_t count) {
    std::printf("%s: %zu\n", what.c_str(), count);
    std::fflush(stdout);
  }
};

TEST_F(Stress, EightThreadsGetTheSameNumbersFromOnePlan) {
  const auto runs = by_length<std::size_t>(30, 10000);
  for (const PlanFile& file : plan_files()) {
    const PlanHandle plan = loaded(file.path);
    if (checks_races() && threads_of(plan) > 1) continue;
    const Expected expected(plan.get());
    std::atomic<std::size_t> wrong = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        Runner runner(plan.get());
        for (std::size_t i = 0; i < runs; ++i)
          wrong += expected.is_right(runner, i + static_cast<std::size_t>(thread)) ? 0 : 1;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0U) << file.name;
    report("runs of " + file.name, runs * kThreads);
  }
}

TEST_F(Stress, EightThreadsGetTheSameNumbersOnAPool) {
  const auto runs = by_length<std::size_t>(10, 1000);
  const auto options = pool_options(on_new_threads, nullptr);
  for (const PlanFile& file : plan_files()) {
    const PlanHandle plan = loaded(file.path);
    collage_session* made = nullptr;
    const bool is_taken = code_of(api_.session_create(plan.get(), &options, &made)).empty();
    const SessionHandle owner(made);
    if (!is_taken || threads_of(plan) < 2) continue;
    const Expected expected(plan.get(), &options);
    std::atomic<std::size_t> wrong = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&] {
        Runner runner(plan.get(), &options);
        for (std::size_t i = 0; i < runs; ++i) wrong += expected.is_right(runner, i) ? 0 : 1;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0U) << file.name;
    report("runs on a pool of " + file.name, runs * kThreads);
  }
}

TEST_F(Stress, CyclesOfLoadRunFreeKeepNothing) {
  const auto cycles = by_length<std::size_t>(100, 10000);
  const auto warm_up = by_length<std::size_t>(30, 300);
  for (const PlanFile& file : plan_files()) {
    if (checks_races() && threads_of(loaded(file.path)) > 1) continue;
    const std::string expected =
        Runner(loaded(file.path).get()).outputs(open_extents_of(loaded(file.path).get())[0], 1);
    const auto cycle = [&] {
      const PlanHandle plan = loaded(file.path);
      return Runner(plan.get()).outputs(open_extents_of(plan.get())[0], 1) == expected;
    };
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < warm_up; ++i) wrong += cycle() ? 0 : 1;
    Holdings before;
    Holdings after;
    // On a busy machine the allocator's arenas grow once; what is kept grows every time.
    for (int round = 0; round < 3; ++round) {
      before = holdings();
      for (std::size_t i = 0; i < cycles; ++i) wrong += cycle() ? 0 : 1;
      after = holdings();
      if (after.resident_bytes < before.resident_bytes + (std::size_t{1} << 20)) break;
    }
    EXPECT_EQ(wrong, 0U) << file.name;
    EXPECT_EQ(after.descriptors, before.descriptors) << file.name;
    EXPECT_EQ(after.threads, before.threads) << file.name;
    if (keeps_memory()) continue;
    EXPECT_LE(after.mappings, before.mappings + 8) << file.name;
    EXPECT_LT(after.resident_bytes, before.resident_bytes + (std::size_t{1} << 20)) << file.name;
    report("cycles of " + file.name, cycles);
  }
}

/// y = the column of w that x names: reads a bit of every page of w, whose bytes are 16 MiB.
RealisedPlan column_plan() {
  Graph graph;
  graph.opsets = {{"", 26}};
  const ValueId x = add_value(graph, "x", ValueType::tensor(ElementType::kInt64, {1}));
  graph.inputs = {x};
  const ValueId w = add_floats(graph, {4096, 1024}, 3);
  graph.outputs = {add_op(graph, "Gather", {w, x}, {4096, 1}, {{"axis", std::int64_t{1}}})};
  return all_plain(graph);
}

TEST_F(Stress, WeightsAreInMemoryOnceHoweverManySessionsReadThem) {
  constexpr std::size_t kWeights = std::size_t{16} << 20;
  const std::string file = saved(single_case(column_plan()), "column.collage");
  const PlanHandle plan = loaded(file);
  const std::string expected = Runner(plan.get()).outputs(0, 1);
  const std::size_t before = holdings().resident_bytes;
  std::vector<std::unique_ptr<Runner>> runners;
  for (int i = 0; i < kThreads; ++i) {
    runners.push_back(std::make_unique<Runner>(plan.get()));
    ASSERT_EQ(runners.back()->outputs(0, 1), expected);
  }
  const auto [mappings, resident] = resident_of(file);
  EXPECT_EQ(mappings, 1U);
  EXPECT_GE(resident, kWeights);
  EXPECT_LT(resident, kWeights + (std::size_t{1} << 20));
  if (keeps_memory()) return;
  EXPECT_LT(holdings().resident_bytes, before + (std::size_t{2} << 20));
}

TEST_F(Stress, SessionsEndInAnyOrderWhileOthersRun) {
  const auto rounds = by_length<std::size_t>(4, 2000);
  for (const PlanFile& file : plan_files()) {
    if (checks_races() && threads_of(loaded(file.path)) > 1) continue;
    std::mt19937 dice(7);
    std::size_t wrong = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      PlanHandle plan = loaded(file.path);
      const Expected expected(plan.get());
      std::vector<std::unique_ptr<Runner>> runners;
      for (int i = 0; i < kThreads; ++i) runners.push_back(std::make_unique<Runner>(plan.get()));
      std::ranges::shuffle(runners, dice);
      plan.reset();
      std::atomic<std::size_t> missed = 0;
      std::vector<std::thread> threads;
      for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&, i, mine = std::move(runners[static_cast<std::size_t>(i)])]() mutable {
          for (int run = 0; run < i; ++run) missed += expected.is_right(*mine, static_cast<std::size_t>(run)) ? 0 : 1;
          mine.reset();
        });
      for (std::thread& thread : threads) thread.join();
      wrong += missed;
    }
    EXPECT_EQ(wrong, 0U) << file.name;
    report("rounds of " + file.name, rounds);
  }
}

TEST_F(Stress, PlansAreLoadedByManyThreadsAtOnce) {
  const auto rounds = by_length<std::size_t>(5, 500);
  const std::vector<PlanFile>& files = plan_files();
  std::atomic<std::size_t> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (std::size_t round = 0; round < rounds; ++round) {
        const PlanFile& file = files[(round + static_cast<std::size_t>(thread)) % files.size()];
        const PlanHandle plan = loaded(file.path);
        if (checks_races() && threads_of(plan) > 1) continue;
        wrong += Runner(plan.get()).outputs(open_extents_of(plan.get())[0], 1).empty() ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace collage::test
