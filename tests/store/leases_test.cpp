#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "base/json.h"
#include "store/store.h"
#include "tests/measure/measure_fixture.h"

namespace collage {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

const Cost kCost = Measured{.median_ns = 1200, .low_ns = 1100, .high_ns = 1300, .samples = 9};

/// Two tuners that share a file.
class Leases : public ::testing::Test {
 protected:
  static std::vector<Lease> take(Store& store, const std::vector<std::string>& keys) {
    return store.take_leases(keys, 60s);
  }
  Store another() const { return std::move(*Store::open(path)); }
  void change(const std::string& statement) const { SQLite::Database(path, SQLite::OPEN_READWRITE).exec(statement); }

  test::ScratchFolder folder;
  std::string path = folder.file("costs.sqlite");
  Store here = another();
  std::optional<Store> there = another();
};

TEST_F(Leases, OneTunerHasAKeyAndTheOtherIsTold) {
  EXPECT_THAT(take(here, {"a", "b"}), ElementsAre(Lease::kOurs, Lease::kOurs));
  EXPECT_THAT(take(*there, {"b", "c"}), ElementsAre(Lease::kTheirs, Lease::kOurs));
  EXPECT_THAT(take(here, {"a", "c"}), ElementsAre(Lease::kOurs, Lease::kTheirs));
  EXPECT_EQ(here.lease_count(), 3U);
}

TEST_F(Leases, OfManyWhoAskAtOnceOneHasTheKey) {
  constexpr int kKeys = 300;
  std::vector<std::atomic<int>> owners(kKeys);
  std::vector<Store> tuners;
  for (int t = 0; t < 4; ++t) tuners.push_back(another());
  {
    std::vector<std::jthread> asking;
    for (Store& tuner : tuners)
      asking.emplace_back([&] {
        for (int key = 0; key < kKeys; ++key) owners[key] += take(tuner, {std::to_string(key)})[0] == Lease::kOurs;
      });
  }
  for (int key = 0; key < kKeys; ++key) EXPECT_EQ(owners[key], 1) << key;
}

TEST_F(Leases, ACostThatIsPutEndsItsLease) {
  (void)take(here, {"a", "b"});
  here.put_cost("a", kCost);
  EXPECT_THAT(take(*there, {"a", "b"}), ElementsAre(Lease::kKnown, Lease::kTheirs));
  EXPECT_EQ(there->cost("a"), kCost);
  EXPECT_EQ(there->lease_count(), 1U);
}

TEST_F(Leases, WhatIsGivenBackIsForOthers) {
  (void)take(here, {"a", "b"});
  here.release_leases();
  EXPECT_THAT(take(*there, {"a", "b"}), ElementsAre(Lease::kOurs, Lease::kOurs));
}

TEST_F(Leases, EndWithTheirTuner) {
  (void)take(*there, {"a"});
  EXPECT_THAT(take(here, {"a"}), ElementsAre(Lease::kTheirs));
  there.reset();
  EXPECT_EQ(here.lease_count(), 0U);
  EXPECT_THAT(take(here, {"a"}), ElementsAre(Lease::kOurs));
}

TEST_F(Leases, EndWithAKilledProcess) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto store = Store::open(path);
    (void)store->take_leases(std::vector<std::string>{"a"}, 60s);
    (void)!::write(ready[1], "!", 1);
    for (;;) ::pause();
  }
  char sign = 0;
  ASSERT_EQ(::read(ready[0], &sign, 1), 1);
  EXPECT_THAT(take(here, {"a"}), ElementsAre(Lease::kTheirs));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(take(here, {"a"}), ElementsAre(Lease::kOurs));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(Leases, OfATunerThatDoesNotGoOnEndWithTheirTime) {
  (void)take(*there, {"a"});
  change("UPDATE leases SET until_ns=since_ns+1");
  EXPECT_THAT(take(here, {"a"}), ElementsAre(Lease::kOurs));
  there->put_cost("a", kCost);
  EXPECT_THAT(take(here, {"a"}), ElementsAre(Lease::kKnown)) << "a late answer is an answer";
}

TEST_F(Leases, TakenOnAnotherClockDoNotCount) {
  (void)take(*there, {"a"});
  change("UPDATE leases SET since_ns=since_ns+3600000000000, until_ns=until_ns+3600000000000");
  EXPECT_THAT(take(here, {"a"}), ElementsAre(Lease::kOurs));
}

TEST_F(Leases, LastAsLongAsTheWorkNeeds) {
  (void)take(*there, {"a"});
  const auto until = [&] {
    SQLite::Database file(path, SQLite::OPEN_READONLY);
    return file.execAndGet("SELECT until_ns FROM leases").getInt64();
  };
  const std::int64_t first = until();
  there->extend_leases(60s);
  EXPECT_EQ(until(), first) << "written without need";
  there->extend_leases(600s);
  EXPECT_GT(until(), first + std::chrono::nanoseconds(500s).count());
}

TEST_F(Leases, OfDeadTunersAreSweptAway) {
  (void)take(*there, {"a", "b"});
  there.reset();
  (void)take(here, {"c"});
  SQLite::Database file(path, SQLite::OPEN_READONLY);
  EXPECT_EQ(file.execAndGet("SELECT count(*) FROM leases").getInt(), 1);
}

TEST_F(Leases, ADamagedCostIsToBeMeasured) {
  here.put_cost("a", kCost);
  change("UPDATE costs SET checksum='wrong'");
  EXPECT_THAT(take(here, {"a"}), ElementsAre(Lease::kOurs));
}

TEST_F(Leases, OfAStoreInMemoryAreAllOurs) {
  Store memory = std::move(*Store::open("memory:"));
  memory.put_cost("a", kCost);
  EXPECT_THAT(take(memory, {"a", "b"}), ElementsAre(Lease::kKnown, Lease::kOurs));
  EXPECT_EQ(memory.lease_count(), 0U);
  EXPECT_TRUE(memory.warnings().empty());
}

TEST_F(Leases, WithoutALockFileAreAllOurs) {
  std::filesystem::create_directory(path + "-tuners");
  EXPECT_THAT(take(here, {"a"}), ElementsAre(Lease::kOurs));
  EXPECT_THAT(take(*there, {"a"}), ElementsAre(Lease::kOurs));
  here.put_cost("a", kCost);
  EXPECT_EQ(there->cost("a"), kCost);
}

}  // namespace
}  // namespace collage
