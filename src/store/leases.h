// Leases: the right to measure a cost, so that tuners that share a store measure nothing twice. Internal to the store.
// In:  keys of costs. Out: for each, whether this tuner may measure it.
// How: a lease is a row that names the tuner and an expiry time. A tuner is alive while it holds a lock on its byte of
//       the lock file. The operating system releases the lock however the process ends, so the leases of a dead tuner
//       are free immediately. A lease of a tuner that is alive but stopped ends at its expiry time. That time is on the
//       clock since boot, which all processes share, which advances while the machine sleeps, and which cannot be set.
//       One transaction takes leases and checks whether the costs have arrived meanwhile. A tuner never waits while it
//       holds a lease, so there is no deadlock.
// Cost: one commit for the leases of a job. It is not synced: after a power loss no lease is valid anyway.
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
