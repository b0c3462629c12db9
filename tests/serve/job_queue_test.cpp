#include "serve/job_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace collage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

struct RowsJob : Job {
  explicit RowsJob(std::int64_t count) { rows = count; }
};

/// Joins jobs while they have at most eight rows together.
JoinPolicy up_to_eight(std::chrono::microseconds delay = {}) {
  const auto rows = [](const std::vector<Job*>& jobs) {
    std::int64_t sum = 0;
    for (const Job* job : jobs) sum += job->rows;
    return sum;
  };
  return {.joins = [rows](const std::vector<Job*>& taken,
                          const Job& next) { return next.rows > 0 && rows(taken) + next.rows <= 8; },
          .is_full = [rows](const std::vector<Job*>& taken) { return rows(taken) >= 8; },
          .delay = delay};
}

TEST(JobQueue, GivesJobsInTheOrderInWhichTheyCame) {
  JobQueue queue(4);
  Job first;
  Job second;
  ASSERT_TRUE(queue.submit(first));
  ASSERT_TRUE(queue.submit(second));
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_THAT(queue.take({}), ElementsAre(&first));
  EXPECT_THAT(queue.take({}), ElementsAre(&second));
  queue.finish(first);
  queue.wait(first);
}

TEST(JobQueue, RefusesMoreThanItsLimit) {
  JobQueue queue(1);
  Job first;
  Job second;
  ASSERT_TRUE(queue.submit(first));
  EXPECT_EQ(queue.submit(second).error().code, "serve/queue-full");
  EXPECT_THAT(queue.take({}), ElementsAre(&first));
  EXPECT_TRUE(queue.submit(second)) << "a job that runs does not wait";
  EXPECT_THAT(queue.take({}), ElementsAre(&second));
}

TEST(JobQueue, TakesOutAJobWhoseDeadlineHasPassed) {
  JobQueue queue(4);
  Job late;
  late.arrived = ServeClock::now();
  late.deadline = late.arrived;
  Job other;
  ASSERT_TRUE(queue.submit(late));
  ASSERT_TRUE(queue.submit(other));
  queue.wait(late);
  ASSERT_TRUE(late.error);
  EXPECT_EQ(late.error->code, "serve/deadline");
  EXPECT_THAT(queue.take({}), ElementsAre(&other));
}

TEST(JobQueue, FinishesAJobThatIsRunningAtItsDeadline) {
  JobQueue queue(4);
  Job job;
  job.deadline = ServeClock::now();
  ASSERT_TRUE(queue.submit(job));
  EXPECT_THAT(queue.take({}), ElementsAre(&job));
  std::thread worker([&] { queue.finish(job); });
  queue.wait(job);
  worker.join();
  EXPECT_FALSE(job.error);
}

TEST(JobQueue, JoinsThoseThatFitAndLeavesTheOthers) {
  JobQueue queue(8);
  RowsJob three(3);
  Job alone;
  RowsJob six(6);
  RowsJob five(5);
  for (Job* job : std::initializer_list<Job*>{&three, &alone, &six, &five}) ASSERT_TRUE(queue.submit(*job));
  EXPECT_THAT(queue.take(up_to_eight()), ElementsAre(static_cast<Job*>(&three), static_cast<Job*>(&five)));
  EXPECT_THAT(queue.take(up_to_eight()), ElementsAre(&alone));
  EXPECT_THAT(queue.take(up_to_eight()), ElementsAre(static_cast<Job*>(&six)));
}

TEST(JobQueue, WaitsForOthersUntilARunIsFull) {
  JobQueue queue(8);
  RowsJob four(4);
  RowsJob more(4);
  four.arrived = ServeClock::now();
  ASSERT_TRUE(queue.submit(four));
  std::thread client([&] { ASSERT_TRUE(queue.submit(more)); });
  // The delay is an hour: only a full run ends it.
  EXPECT_THAT(queue.take(up_to_eight(1h)), ElementsAre(static_cast<Job*>(&four), static_cast<Job*>(&more)));
  client.join();
}

TEST(JobQueue, GivesWhatItHasAfterItWasClosed) {
  JobQueue queue(8);
  Job first;
  Job second;
  ASSERT_TRUE(queue.submit(first));
  queue.close();
  EXPECT_EQ(queue.submit(second).error().code, "serve/closing");
  EXPECT_THAT(queue.take({}), ElementsAre(&first));
  EXPECT_THAT(queue.take({}), IsEmpty());
}

}  // namespace
}  // namespace collage
