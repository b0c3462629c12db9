// Two made-up devices beside home: fast and slow ones, with memory of their own, transfers and a queue that runs while
// the caller goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "search/search.h"
#include "search_fixture.h"

namespace collage {
namespace {

using testing_support::Problem;

constexpr const char* kFast = "fast";
constexpr const char* kSlow = "slow";

BoundaryTable transfers(std::int64_t fast_ns, std::int64_t slow_ns) {
  return [=](ValueId, const Place& from, const Place& to) -> std::optional<BoundaryChoice> {
    if (from.location == to.location || (from.location != kHome && to.location != kHome)) return std::nullopt;
    const std::string& device = from.location == kHome ? to.location : from.location;
    const std::int64_t ns = device == kFast ? fast_ns : slow_ns;
    return BoundaryChoice{device, Measured{ns, ns, ns, 1}};
  };
}

Problem chain(std::size_t nodes) {
  std::vector<testing_support::Edge> edges;
  for (std::size_t n = 1; n < nodes; ++n) edges.push_back({n - 1, n});
  Problem problem(nodes, edges);
  for (std::size_t n = 0; n < nodes; ++n) {
    problem.add("home", {n}, 100);
    problem.add("fast", {n}, 10, "plain", {}, kFast);
    problem.add("slow", {n}, 50, "plain", {}, kSlow);
  }
  return problem;
}

SearchResult solve(Problem& problem, std::int64_t fast_ns, std::int64_t slow_ns) {
  return choose_cover(problem.graph(), problem.uses(), problem.candidates(), transfers(fast_ns, slow_ns),
                      problem.options)
      .value();
}

std::map<std::string, int> kernels_by_location(const Cover& cover) {
  std::map<std::string, int> count;
  for (const CoverStep& step : cover.steps)
    if (is_kernel(step)) ++count[location_of(step)];
  return count;
}

/// What a run takes when the device's queue works while home goes on: home waits for a transfer back only.
std::int64_t makespan(const Cover& cover) {
  std::map<std::string, std::int64_t> busy_until;
  std::int64_t home = 0;
  for (const CoverStep& step : cover.steps) {
    const std::int64_t ns = *nanoseconds_of(step.cost);
    const auto move = move_of(step);
    const bool arrives_home = move && move->to.location == kHome;
    const std::string device = !move ? location_of(step) : arrives_home ? move->from.location : move->to.location;
    if (device == kHome) {
      home += ns;
      continue;
    }
    std::int64_t& busy = busy_until[device];
    busy = std::max(busy, home) + ns;
    if (arrives_home) home = busy;
  }
  return home;
}

TEST(Devices, AFasterDeviceIsUsedWhenTransfersArePaidBack) {
  Problem problem = chain(4);
  EXPECT_EQ(kernels_by_location(solve(problem, 60, 60).cover), (std::map<std::string, int>{{kFast, 4}}));
  EXPECT_EQ(solve(problem, 60, 60).cover.cost_ns, 60 + 4 * 10 + 60);
  EXPECT_EQ(kernels_by_location(solve(problem, 200, 90).cover), (std::map<std::string, int>{{kSlow, 4}}));
  EXPECT_EQ(kernels_by_location(solve(problem, 500, 500).cover), (std::map<std::string, int>{{kHome, 4}}));
}

TEST(Devices, EveryOutputComesHome) {
  Problem problem = chain(3);
  const Cover cover = solve(problem, 20, 20).cover;
  const auto* const last = std::get_if<CoverTransfer>(&cover.steps.back().work);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->to, kHome);
  EXPECT_EQ(cover.steps.back().backend, kFast);
}

TEST(Devices, AValueIsMovedOnceForAllItsReaders) {
  Problem problem(3, {{0, 1}, {0, 2}});
  problem.add("home", {0}, 10);
  for (const std::size_t n : {1, 2}) problem.add("fast", {n}, 10, "plain", {}, kFast);
  EXPECT_EQ(solve(problem, 7, 7).cover.cost_ns, 10 + 7 + 10 + 10 + 7 + 7);
}

TEST(Devices, LimitedMemoryForcesASlowerCover) {
  // Values of 64 bytes: a step of a chain holds two.
  Problem problem = chain(4);
  problem.options.capacity = {{kFast, 127}};
  const SearchResult result = solve(problem, 10, 10);
  EXPECT_EQ(kernels_by_location(result.cover), (std::map<std::string, int>{{kSlow, 4}}));
  EXPECT_FALSE(result.exact);
  EXPECT_LE(result.bound_ns, result.cover.cost_ns);
  problem.options.capacity = {{kFast, 128}};
  EXPECT_EQ(kernels_by_location(solve(problem, 10, 10).cover), (std::map<std::string, int>{{kFast, 4}}));
}

TEST(Devices, WorkspaceCountsAsMemory) {
  Problem problem = chain(2);
  for (SearchCandidate& candidate : problem.candidates())
    if (candidate.location == kFast) candidate.workspace_bytes = 1000;
  problem.options.capacity = {{kFast, 1000}};
  EXPECT_EQ(kernels_by_location(solve(problem, 10, 10).cover).count(kFast), 0U);
}

TEST(Devices, AnAsynchronousQueueOnlyShortensARun) {
  Problem problem(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  for (std::size_t n = 0; n < 4; ++n) problem.add("home", {n}, 40);
  problem.add("fast", {1}, 10, "plain", {}, kFast);
  const SearchResult result = solve(problem, 5, 5);
  EXPECT_EQ(kernels_by_location(result.cover), (std::map<std::string, int>{{kFast, 1}, {kHome, 3}}));
  EXPECT_LE(makespan(result.cover), result.cover.cost_ns);
}

TEST(Memory, ACapForcesASlowerCoverWithLessScratch) {
  Problem problem = chain(3);
  problem.add("greedy", {0, 1}, 5);
  problem.candidates().back().workspace_bytes = 4096;
  const auto best = [&problem] { return solve(problem, 1000, 1000); };
  EXPECT_EQ(best().cover.cost_ns, 105);
  problem.options.capacity = {{kHome, 2048}};
  EXPECT_EQ(best().cover.cost_ns, 300);
  EXPECT_LE(best().peak_bytes, 2048);
}

TEST(Memory, ACapThatNothingFitsIsALimitError) {
  Problem problem = chain(3);
  problem.options.capacity = {{kHome, 10}, {kFast, 10}, {kSlow, 10}};
  const auto result =
      choose_cover(problem.graph(), problem.uses(), problem.candidates(), transfers(1000, 1000), problem.options);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().exit, ExitCode::kLimit);
}

TEST(Memory, AWeightedSumTradesTimeForBytes) {
  Problem problem = chain(3);
  problem.add("greedy", {0, 1}, 5);
  problem.candidates().back().workspace_bytes = 4096;
  problem.options.ns_per_byte = 0.01;
  EXPECT_EQ(solve(problem, 1000, 1000).cover.cost_ns, 105);
  problem.options.ns_per_byte = 1;
  EXPECT_EQ(solve(problem, 1000, 1000).cover.cost_ns, 300);
}

}  // namespace
}  // namespace collage
