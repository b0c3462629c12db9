#include "store/leases.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <utility>

namespace collage {
namespace {

/// Given beyond the time asked for: a job that ends in time writes its costs, a job of many stages is extended rarely.
constexpr std::chrono::nanoseconds kLeeway = std::chrono::seconds(10);
constexpr std::chrono::nanoseconds kSpare = std::chrono::seconds(30);

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// One of 2^62 bytes: tuners never meet.
std::int64_t random_tuner() {
  std::random_device device;
  const std::uint64_t bits = (static_cast<std::uint64_t>(device()) << 32) | device();
  return static_cast<std::int64_t>(bits >> 2);
}

struct flock byte_of(std::int64_t tuner) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = tuner;
  lock.l_len = 1;
  return lock;
}

/// Does the work with commits that are not synced. After an exception the database is as good as closed (store.cpp), so
/// no record is ever written that way.
template <class Work>
void without_sync(SQLite::Database& database, Work work) {
  database.exec("PRAGMA synchronous=NORMAL");
  work();
  database.exec("PRAGMA synchronous=FULL");
}

}  // namespace

std::optional<TunerLock> TunerLock::take(const std::string& path) {
  TunerLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock.descriptor_ < 0) return std::nullopt;
  lock.tuner_ = random_tuner();
  struct flock byte = byte_of(lock.tuner_);
  if (::fcntl(lock.descriptor_, F_OFD_SETLK, &byte) != 0) return std::nullopt;
  return lock;
}

std::optional<TunerLock> TunerLock::look(const std::string& path) {
  TunerLock lock(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (lock.descriptor_ < 0) return std::nullopt;
  return lock;
}

TunerLock::TunerLock(TunerLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), tuner_(other.tuner_) {}

TunerLock& TunerLock::operator=(TunerLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(tuner_, other.tuner_);
  return *this;
}

TunerLock::~TunerLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool TunerLock::is_alive(std::int64_t tuner) const {
  if (tuner == tuner_) return true;
  struct flock byte = byte_of(tuner);
  // Who cannot ask takes others for living: their leases end with their time.
  return ::fcntl(descriptor_, F_OFD_GETLK, &byte) != 0 || byte.l_type != F_UNLCK;
}

bool Leases::holds(const TunerLock& lock, SQLite::Statement& row) {
  // Read now, after the row was written: an earlier reading would make a new lease look as if from another clock.
  const std::int64_t now = now_ns();
  const std::int64_t since = row.getColumn("since_ns").getInt64();
  const std::int64_t until = row.getColumn("until_ns").getInt64();
  return since <= now && now < until && lock.is_alive(row.getColumn("tuner").getInt64());
}

void Leases::remove_dead(SQLite::Database& database) const {
  std::vector<std::int64_t> dead;
  SQLite::Statement tuners(database, "SELECT DISTINCT tuner FROM leases");
  while (tuners.executeStep())
    if (const std::int64_t tuner = tuners.getColumn(0).getInt64(); !lock_->is_alive(tuner)) dead.push_back(tuner);
  tuners.reset();
  SQLite::Statement remove(database, "DELETE FROM leases WHERE tuner=?");
  for (const std::int64_t tuner : dead) {
    remove.bind(1, tuner);
    remove.exec();
    remove.reset();
  }
}

std::vector<Lease> Leases::take(SQLite::Database& database, std::span<const std::string> keys,
                                std::chrono::nanoseconds time,
                                const std::function<bool(const std::string&)>& is_known) {
  const bool is_first = !std::exchange(is_tried_, true);
  if (is_first)
    if (auto lock = TunerLock::take(lock_file_)) lock_.emplace(std::move(*lock));
  if (!lock_) return std::vector<Lease>(keys.size(), Lease::kOurs);
  std::int64_t until = 0;
  std::vector<Lease> answers;
  without_sync(database, [&] {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    // Not before the transaction began: the other tuners' clock must not be ahead of ours.
    const std::int64_t now = now_ns();
    until = now + (time + kLeeway + kSpare).count();
    if (is_first) remove_dead(database);
    SQLite::Statement find(database, "SELECT tuner, since_ns, until_ns FROM leases WHERE key=? AND tuner<>?");
    SQLite::Statement add(database, "INSERT OR REPLACE INTO leases(key, tuner, since_ns, until_ns) VALUES(?,?,?,?)");
    find.bind(2, lock_->tuner());
    add.bind(2, lock_->tuner());
    add.bind(3, now);
    add.bind(4, until);
    for (const std::string& key : keys) {
      answers.push_back(is_known(key) ? Lease::kKnown : Lease::kOurs);
      if (answers.back() == Lease::kKnown) continue;
      find.bind(1, key);
      if (find.executeStep() && holds(*lock_, find)) answers.back() = Lease::kTheirs;
      find.reset();
      if (answers.back() == Lease::kTheirs) continue;
      add.bind(1, key);
      add.exec();
      add.reset();
    }
    transaction.commit();
  });
  until_ns_ = held_.empty() ? until : std::min(until, until_ns_);
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (answers[i] == Lease::kOurs) held_.insert(keys[i]);
  return answers;
}

void Leases::extend(SQLite::Database& database, std::chrono::nanoseconds time) {
  const std::int64_t now = now_ns();
  if (held_.empty() || until_ns_ >= now + (time + kLeeway).count()) return;
  const std::int64_t until = now + (time + kLeeway + kSpare).count();
  without_sync(database, [&] {
    SQLite::Statement update(database, "UPDATE leases SET until_ns=? WHERE tuner=?");
    update.bind(1, until);
    update.bind(2, lock_->tuner());
    update.exec();
  });
  until_ns_ = until;
}

void Leases::release(SQLite::Database& database) {
  if (held_.empty()) return;
  held_.clear();
  without_sync(database, [&] {
    SQLite::Statement remove(database, "DELETE FROM leases WHERE tuner=?");
    remove.bind(1, lock_->tuner());
    remove.exec();
  });
}

std::size_t Leases::count(SQLite::Database& database) const {
  const auto looked = lock_ ? std::nullopt : TunerLock::look(lock_file_);
  const TunerLock* lock = lock_ ? &*lock_ : looked ? &*looked : nullptr;
  if (lock == nullptr) return 0;
  std::size_t live = 0;
  SQLite::Statement rows(database, "SELECT tuner, since_ns, until_ns FROM leases");
  while (rows.executeStep()) live += holds(*lock, rows);
  return live;
}

}  // namespace collage
