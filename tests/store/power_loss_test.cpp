// The store after a power loss: at whatever moment and whatever of the unsynced writes arrived, what was acknowledged
// is there and the file is sound.
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "store/store.h"
#include "tests/measure/measure_fixture.h"
#include "tests/store/store_script.h"
#include "tests/support/crash_disk.h"
#include "tests/support/long_run.h"

namespace collage {
namespace {

namespace fs = std::filesystem;
using test::StoreContent;
using test::StoreStep;

/// A session that was recorded, and what the store should know at each moment of it.
class PowerLoss : public ::testing::Test {
 protected:
  /// A step had been acknowledged when so many events had happened.
  struct Acknowledged {
    std::size_t events = 0;
    StoreContent content;
  };

  void record(const std::vector<StoreStep>& steps) {
    const test::SqliteShim shim(recorder_);
    const std::string path = recorded_.file("costs.sqlite");
    std::optional<Store> store(std::move(*Store::open(path)));
    // Another process would keep the log from being taken away; the store itself must be able to do so, too.
    std::optional<Store> other;
    StoreContent content;
    acknowledged_.push_back({0, content});
    for (const StoreStep& step : steps) {
      if (step.act == StoreStep::Act::kReopen) {
        store.reset();
        store.emplace(std::move(*Store::open(path)));
        if (other)
          other.reset();
        else
          other.emplace(std::move(*Store::open(path)));
        continue;
      }
      apply(step, *store);
      apply(step, content);
      acknowledged_.push_back({recorder_.events().size(), content});
    }
    EXPECT_TRUE(store->warnings().empty());
  }

  /// Writes the files as they lay after the loss into a folder of their own.
  static std::string laid_out(const test::ScratchFolder& folder, const std::map<std::string, std::string>& files) {
    for (const auto& [path, content] : files)
      std::ofstream(folder.file(fs::path(path).filename()), std::ios::binary) << content;
    return folder.file("costs.sqlite");
  }

  static StoreContent content_of(Store& store) {
    StoreContent content;
    for (auto& [key, cost] : store.costs_like("")) content.costs[key] = cost;
    for (auto& [key, hash] : store.artifacts_like("")) content.artifacts[key] = hash;
    return content;
  }

  /// `first` was acknowledged, `second` perhaps on its way.
  static void expect_sound(const std::string& path, const StoreContent& first, const StoreContent& second) {
    {
      Store store = std::move(*Store::open(path));
      ASSERT_TRUE(store.warnings().empty()) << store.warnings().front();
      ASSERT_EQ(store.damaged_count(), 0U);
      StoreContent found = content_of(store);
      for (const StoreContent* expected : {&first, &second})
        for (const auto& [key, json] : expected->verdicts)
          if (const auto verdict = store.verdict(key)) found.verdicts[key] = *verdict;
      ASSERT_TRUE(found == first || found == second)
          << found.costs.size() << " costs, acknowledged " << first.costs.size() << ", then " << second.costs.size();
      ASSERT_EQ(store.take_leases(std::vector<std::string>{"new"}, std::chrono::seconds(1))[0], Lease::kOurs);
      store.put_cost("new", Estimated{.ns = 1});
      ASSERT_TRUE(store.warnings().empty()) << store.warnings().front();
    }
    SQLite::Database file(path, SQLite::OPEN_READWRITE);
    ASSERT_EQ(file.execAndGet("PRAGMA integrity_check").getString(), "ok");
  }

  test::ScratchFolder recorded_;
  test::DiskRecorder recorder_;
  std::vector<Acknowledged> acknowledged_;
};

TEST_F(PowerLoss, AtAnyMomentLeavesASoundStoreWithAllThatWasAcknowledged) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  // Long enough that the log is carried over into the file while it is in use.
  record(test::scripted_tune(220));
  const auto& events = recorder_.events();
  const std::size_t states = test::by_length<std::size_t>(120, 12'000);
  std::vector<std::size_t> cuts;
  for (std::size_t i = 0; i < states; ++i) cuts.push_back(dice.below(events.size() + 1));
  std::ranges::sort(cuts);
  test::CrashDisk disk;
  std::size_t applied = 0;
  std::size_t known = 0;
  for (const std::size_t cut : cuts) {
    for (; applied < cut; ++applied) disk.apply(events[applied]);
    while (known + 1 < acknowledged_.size() && acknowledged_[known + 1].events <= cut) ++known;
    const test::ScratchFolder folder;
    const std::string path = laid_out(folder, disk.after_power_loss(dice));
    expect_sound(path, acknowledged_[known].content,
                 acknowledged_[std::min(known + 1, acknowledged_.size() - 1)].content);
    ASSERT_FALSE(HasFatalFailure()) << "after " << cut << " of " << events.size() << " events";
  }
  std::printf("%zu states of %zu events\n", states, events.size());
}

}  // namespace
}  // namespace collage
