#include "serve/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace collage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

struct RowsRequest : PendingRequest {
  explicit RowsRequest(std::int64_t count) { rows = count; }
};

/// Joins requests while they have at most eight rows together.
JoinPolicy up_to_eight(std::chrono::microseconds delay = {}) {
  const auto rows = [](const std::vector<PendingRequest*>& batch) {
    std::int64_t sum = 0;
    for (const PendingRequest* pending : batch) sum += pending->rows;
    return sum;
  };
  return {.joins = [rows](const std::vector<PendingRequest*>& taken,
                          const PendingRequest& next) { return next.rows > 0 && rows(taken) + next.rows <= 8; },
          .is_full = [rows](const std::vector<PendingRequest*>& taken) { return rows(taken) >= 8; },
          .delay = delay};
}

TEST(RequestQueue, GivesRequestsInTheOrderInWhichTheyCame) {
  RequestQueue queue(4);
  PendingRequest first;
  PendingRequest second;
  ASSERT_TRUE(queue.submit(first));
  ASSERT_TRUE(queue.submit(second));
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_THAT(queue.take({}), ElementsAre(&first));
  EXPECT_THAT(queue.take({}), ElementsAre(&second));
  queue.finish(first);
  queue.wait(first);
}

TEST(RequestQueue, RefusesMoreThanItsLimit) {
  RequestQueue queue(1);
  PendingRequest first;
  PendingRequest second;
  ASSERT_TRUE(queue.submit(first));
  EXPECT_EQ(queue.submit(second).error().code, "serve/queue-full");
  EXPECT_THAT(queue.take({}), ElementsAre(&first));
  EXPECT_TRUE(queue.submit(second)) << "a request that runs does not wait";
  EXPECT_THAT(queue.take({}), ElementsAre(&second));
}

TEST(RequestQueue, TakesOutARequestWhoseDeadlineHasPassed) {
  RequestQueue queue(4);
  PendingRequest late;
  late.arrived = ServeClock::now();
  late.deadline = late.arrived;
  PendingRequest other;
  ASSERT_TRUE(queue.submit(late));
  ASSERT_TRUE(queue.submit(other));
  queue.wait(late);
  ASSERT_TRUE(late.error);
  EXPECT_EQ(late.error->code, "serve/deadline");
  EXPECT_THAT(queue.take({}), ElementsAre(&other));
}

TEST(RequestQueue, FinishesARequestThatIsRunningAtItsDeadline) {
  RequestQueue queue(4);
  PendingRequest pending;
  pending.deadline = ServeClock::now();
  ASSERT_TRUE(queue.submit(pending));
  EXPECT_THAT(queue.take({}), ElementsAre(&pending));
  std::thread worker([&] { queue.finish(pending); });
  queue.wait(pending);
  worker.join();
  EXPECT_FALSE(pending.error);
}

TEST(RequestQueue, JoinsThoseThatFitAndLeavesTheOthers) {
  RequestQueue queue(8);
  RowsRequest three(3);
  PendingRequest alone;
  RowsRequest six(6);
  RowsRequest five(5);
  for (PendingRequest* pending : std::initializer_list<PendingRequest*>{&three, &alone, &six, &five})
    ASSERT_TRUE(queue.submit(*pending));
  EXPECT_THAT(queue.take(up_to_eight()),
              ElementsAre(static_cast<PendingRequest*>(&three), static_cast<PendingRequest*>(&five)));
  EXPECT_THAT(queue.take(up_to_eight()), ElementsAre(&alone));
  EXPECT_THAT(queue.take(up_to_eight()), ElementsAre(static_cast<PendingRequest*>(&six)));
}

TEST(RequestQueue, WaitsForOthersUntilARunIsFull) {
  RequestQueue queue(8);
  RowsRequest four(4);
  RowsRequest more(4);
  four.arrived = ServeClock::now();
  ASSERT_TRUE(queue.submit(four));
  std::thread client([&] { ASSERT_TRUE(queue.submit(more)); });
  // The delay is an hour: only a full run ends it.
  EXPECT_THAT(queue.take(up_to_eight(1h)),
              ElementsAre(static_cast<PendingRequest*>(&four), static_cast<PendingRequest*>(&more)));
  client.join();
}

TEST(RequestQueue, LetsNoRequestWaitForOthersPastItsTimeout) {
  RequestQueue queue(8);
  RowsRequest patient(1);
  RowsRequest hasty(1);
  patient.arrived = hasty.arrived = ServeClock::now();
  hasty.deadline = hasty.arrived + 20ms;
  ASSERT_TRUE(queue.submit(patient));
  ASSERT_TRUE(queue.submit(hasty));
  // The delay is an hour: only the deadline of the second one ends it.
  EXPECT_THAT(queue.take(up_to_eight(1h)),
              ElementsAre(static_cast<PendingRequest*>(&patient), static_cast<PendingRequest*>(&hasty)));
}

TEST(RequestQueue, GivesWhatItHasAfterItWasClosed) {
  RequestQueue queue(8);
  PendingRequest first;
  PendingRequest second;
  ASSERT_TRUE(queue.submit(first));
  queue.close();
  EXPECT_EQ(queue.submit(second).error().code, "serve/closing");
  EXPECT_THAT(queue.take({}), ElementsAre(&first));
  EXPECT_THAT(queue.take({}), IsEmpty());
}

}  // namespace
}  // namespace collage
