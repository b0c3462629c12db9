// Leases: who measures what, so that several tuners that share a store measure nothing twice. Internal to the store.
// In: keys of costs. Out: for each, whether it is ours to measure.
// How: a row for each key that is being measured names its tuner and how long the measurement may take. A tuner lives
// as long as it holds its byte of the lock file: the kernel takes the lock back however the process ends, so the leases
// of a dead tuner are free at once, whatever became of its process number, container or machine. A lease of a tuner
// that lives and yet does not go on (a stopped process) ends with its time, on the clock since boot: all processes
// share it, it counts while the machine sleeps, and nobody sets it. Taking leases is one transaction that also looks
// whether the costs are there by now. Nobody waits while it holds a lease of another key, so no two tuners wait for
// each other. Cost: taking those of one job is one commit that is not synced: after a power loss no lease holds anyway.
// Every function throws SQLite::Exception when the database fails.
// Source: open file description locks, fcntl(2); CLOCK_BOOTTIME, clock_gettime(2).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "store/lease.h"

namespace collage {

/// A byte of a lock file that is ours alone as long as this object lives. Another object may ask whether a byte is
/// held.
class TunerLock {
 public:
  /// Nothing when the file cannot be made or locked.
  [[nodiscard]] static std::optional<TunerLock> take(const std::string& path);
  /// Only asks; holds nothing. Nothing when there is no such file.
  [[nodiscard]] static std::optional<TunerLock> look(const std::string& path);
  TunerLock(TunerLock&& other) noexcept;
  TunerLock& operator=(TunerLock&& other) noexcept;
  ~TunerLock();

  [[nodiscard]] std::int64_t tuner() const { return tuner_; }
  [[nodiscard]] bool is_alive(std::int64_t tuner) const;

 private:
  explicit TunerLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
  std::int64_t tuner_ = -1;
};

/// The leases of one tuner in one database. One thread at a time.
class Leases {
 public:
  /// Makes nothing yet. Where `lock_file` cannot be made, every key is ours.
  explicit Leases(std::string lock_file) : lock_file_(std::move(lock_file)) {}

  /// One answer per key. `is_known` tells, inside the transaction, whether a key's cost is there.
  [[nodiscard]] std::vector<Lease> take(SQLite::Database& database, std::span<const std::string> keys,
                                        std::chrono::nanoseconds time,
                                        const std::function<bool(const std::string&)>& is_known);
  /// Sees to it that what we hold is held for `time` from now on; writes only when it is not.
  void extend(SQLite::Database& database, std::chrono::nanoseconds time);
  /// Gives back whatever we still hold.
  void release(SQLite::Database& database);
  /// The lease of this key ended with its cost (store_file.h).
  void forget(const std::string& key) { held_.erase(key); }

  /// Leases of living tuners, whose time has not run out.
  [[nodiscard]] std::size_t count(SQLite::Database& database) const;

 private:
  [[nodiscard]] static bool holds(const TunerLock& lock, SQLite::Statement& row);
  void remove_dead(SQLite::Database& database) const;

  std::string lock_file_;
  std::optional<TunerLock> lock_;
  bool is_tried_ = false;
  std::set<std::string> held_;
  std::int64_t until_ns_ = 0;  ///< of what is held
};

}  // namespace collage
