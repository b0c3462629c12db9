// The store on a disk that fails: every single call of a session fails once, or from then on.
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <map>
#include <set>

#include "store/store.h"
#include "tests/measure/measure_fixture.h"
#include "tests/store/store_script.h"
#include "tests/support/long_run.h"
#include "tests/support/sqlite_shim.h"

namespace collage {
namespace {

using test::FileAct;
using test::StoreContent;
using test::StoreStep;

/// Fails the n-th call, or all from the n-th on.
class FailingDisk final : public test::FileObserver {
 public:
  FailingDisk(std::size_t nth, bool for_good, bool is_full) : nth_(nth), for_good_(for_good), is_full_(is_full) {}

  int before(const test::FileCall& call) override {
    ++calls_;
    if (!is_on_ || (for_good_ ? calls_ < nth_ : calls_ != nth_)) return SQLITE_OK;
    // A full disk can still be read.
    if (is_full_ && call.act != FileAct::kWrite && call.act != FileAct::kSync) return SQLITE_OK;
    has_failed_ = true;
    return code_of(call.act);
  }
  void recover() { is_on_ = false; }
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  [[nodiscard]] std::size_t calls() const { return calls_; }

 private:
  [[nodiscard]] int code_of(FileAct act) const {
    if (is_full_) return act == FileAct::kWrite ? SQLITE_FULL : SQLITE_IOERR_FSYNC;
    switch (act) {
      case FileAct::kOpen:
        return SQLITE_CANTOPEN;
      case FileAct::kDelete:
        return SQLITE_IOERR_DELETE;
      case FileAct::kAccess:
        return SQLITE_IOERR_ACCESS;
      case FileAct::kRead:
        return SQLITE_IOERR_READ;
      case FileAct::kWrite:
        return SQLITE_IOERR_WRITE;
      case FileAct::kTruncate:
        return SQLITE_IOERR_TRUNCATE;
      case FileAct::kSync:
        return SQLITE_IOERR_FSYNC;
      case FileAct::kLock:
        return SQLITE_IOERR_LOCK;
      case FileAct::kShare:
        return SQLITE_IOERR_SHMLOCK;
    }
    return SQLITE_IOERR;
  }

  std::size_t nth_;
  bool for_good_;
  bool is_full_;
  bool is_on_ = true;
  bool has_failed_ = false;
  std::size_t calls_ = 0;
};

class StoreFaults : public ::testing::Test {
 protected:
  /// Calls `check(expected, durable, attempted, key, answer)` for every key that was ever put; attempted are all values
  /// that were.
  template <class Check>
  void for_each_answer(Store& store, Check check) {
    for (const auto& [key, values] : attempted_costs)
      check(expected.costs, durable.costs, values, key, store.cost(key));
    for (const auto& [key, values] : attempted_artifacts)
      check(expected.artifacts, durable.artifacts, values, key, store.artifact(key));
    for (const auto& [key, values] : attempted_verdicts)
      check(expected.verdicts, durable.verdicts, values, key, store.verdict(key));
  }

  void attempt(const StoreStep& one) {
    StoreContent put;
    apply(one, put);
    for (const auto& [key, value] : put.costs) attempted_costs[key].push_back(value);
    for (const auto& [key, value] : put.artifacts) attempted_artifacts[key].push_back(value);
    for (const auto& [key, value] : put.verdicts) attempted_verdicts[key].push_back(value);
  }

  /// Within a session an answer is the right one; none only after a warning.
  void expect_right_answers(Store& store) {
    for_each_answer(
        store, [&](const auto& right, const auto&, const auto&, const std::string& key, const auto& answer) {
          if (not_removed.contains(key)) return;
          if (answer)
            EXPECT_TRUE(right.contains(key) && right.at(key) == *answer) << key;
          else
            EXPECT_TRUE(!right.contains(key) || !store.warnings().empty()) << key << " is not known, without a warning";
        });
    EXPECT_LE(store.warnings().size(), 1U);
  }

  /// In a new session what was said to be in the file is there, and of the rest perhaps something.
  void accept_what_is_there(Store& store) {
    for_each_answer(
        store, [&](auto& right, auto& in_file, const auto& values, const std::string& key, const auto& answer) {
          right.erase(key);
          if (!answer) {
            EXPECT_TRUE(!in_file.contains(key) || !store.warnings().empty()) << key << " was stored and is lost";
            return;
          }
          // A write that was reported as failed may have reached the file all the same.
          EXPECT_TRUE(std::ranges::find(values, *answer) != values.end()) << key;
          EXPECT_TRUE(!in_file.contains(key) || *answer == values.back() || *answer == in_file.at(key)) << key;
          right[key] = *answer;
          in_file[key] = *answer;
        });
  }

  void step(const StoreStep& one, std::optional<Store>& store) {
    if (one.act == StoreStep::Act::kReopen) {
      expect_right_answers(*store);
      store.reset();
      store.emplace(std::move(*Store::open(path)));
      accept_what_is_there(*store);
      return;
    }
    apply(one, *store);
    if (one.act == StoreStep::Act::kRemove && !test::writes_to_file(*store))
      for (const auto& [key, values] : attempted_costs)
        if (key.find(one.key) != std::string::npos) not_removed.insert(key);
    apply(one, expected);
    attempt(one);
    // A record that could not be removed may come back, and nothing more is said of it.
    if (test::writes_to_file(*store) || one.act == StoreStep::Act::kRemove) apply(one, durable);
    if (one.act == StoreStep::Act::kCost) {
      const auto answer = store->cost(one.key);
      EXPECT_TRUE(answer ? *answer == cost_of(one) : !store->warnings().empty());
    }
  }

  /// The session; false when the disk failed nowhere.
  bool run(test::ScratchFolder& folder, FailingDisk& disk) {
    path = folder.file("costs.sqlite");
    expected = durable = {};
    not_removed.clear();
    attempted_costs.clear();
    attempted_artifacts.clear();
    attempted_verdicts.clear();
    const test::SqliteShim shim(disk);
    {
      std::optional<Store> store(std::move(*Store::open(path)));
      for (const StoreStep& one : steps) step(one, store);
      (void)store->lease_count();
      (void)store->counts();
      EXPECT_EQ(store->damaged_count(), 0U);
      expect_right_answers(*store);
      EXPECT_TRUE(disk.has_failed() || store->warnings().empty());
    }
    disk.recover();
    expect_clean();
    return disk.has_failed();
  }

  /// With a disk that works again the file is sound and has everything that was said to be in it.
  void expect_clean() {
    {
      Store store = std::move(*Store::open(path));
      EXPECT_TRUE(store.warnings().empty()) << store.warnings().front();
      EXPECT_EQ(store.damaged_count(), 0U);
      accept_what_is_there(store);
    }
    SQLite::Database file(path, SQLite::OPEN_READWRITE);
    EXPECT_EQ(file.execAndGet("PRAGMA integrity_check").getString(), "ok");
  }

  void fail_every_call(bool for_good, bool is_full, std::size_t stride) {
    std::size_t sessions = 0;
    for (std::size_t nth = 1;; nth += stride, ++sessions) {
      SCOPED_TRACE("call " + std::to_string(nth));
      test::ScratchFolder folder;
      FailingDisk disk(nth, for_good, is_full);
      const bool has_failed = run(folder, disk);
      if (HasFailure()) return;
      // A full disk lets many calls through, so the end is where the calls end.
      if (!has_failed && nth > disk.calls()) break;
    }
    std::printf("%zu sessions\n", sessions);
    EXPECT_GT(sessions * stride, 200U) << "a session of that few calls is no tune";
  }

  std::vector<StoreStep> steps = test::scripted_tune(test::by_length(6, 13));
  std::string path;
  StoreContent expected;                                     ///< what the store should answer
  StoreContent durable;                                      ///< what it said is in the file
  std::set<std::string> not_removed;                         ///< because the disk failed then; may be there or not
  std::map<std::string, std::vector<Cost>> attempted_costs;  ///< what it was ever told
  std::map<std::string, std::vector<std::string>> attempted_artifacts;
  std::map<std::string, std::vector<std::string>> attempted_verdicts;
};

TEST_F(StoreFaults, OneErrorAnywhereLosesNothing) { fail_every_call(false, false, test::by_length(3, 1)); }
TEST_F(StoreFaults, ErrorsFromAnyCallOnLoseNothingThatWasStored) {
  fail_every_call(true, false, test::by_length(5, 1));
}
TEST_F(StoreFaults, OneFailedWriteOrSyncLosesNothing) { fail_every_call(false, true, test::by_length(7, 1)); }
TEST_F(StoreFaults, AFullDiskLosesNothingThatWasStored) { fail_every_call(true, true, test::by_length(7, 1)); }

}  // namespace
}  // namespace collage
