// The cost store: results of earlier measurements, so that nothing has to be measured twice.
// How: SQLite in WAL mode. Every record has a checksum and is committed and synced before put_* returns. A damaged
//       record counts as absent: it is moved to a table of its own, so it is neither used nor lost. Artifacts are files
//       named by their content in `PATH.files/`. Several processes may use one file at the same time; leases prevent
//       them from measuring the same (leases.h). After an error the file is reopened once, so that earlier writes are
//       read back and checked, and the operation is repeated: a failed sync must not simply be retried. A file that
//       still cannot be opened, read or written, or that a newer version created, never stops a tune: results are then
//       kept in memory. In both cases warnings() says so, once.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "region/cost.h"
#include "store/lease.h"

namespace collage {

/// One thread at a time.
class Store {
 public:
  /// `spec` is "sqlite:PATH", "memory:" or a bare path. Folders on the way are made.
  /// Error store/unknown-kind for another "kind:"; trouble with the file is a warning.
  [[nodiscard]] static Result<Store> open(const std::string& spec);
  /// For looking: makes nothing and keeps to the file. Errors store/missing; store/unreadable for a file that is no
  /// store, or cannot be read and written; that of open().
  [[nodiscard]] static Result<Store> open_existing(const std::string& spec);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// A record that cannot be read counts as absent.
  [[nodiscard]] std::optional<Cost> cost(const std::string& key);
  void put_cost(const std::string& key, const Cost& cost, const Samples& samples = {});
  /// The samples stored with the cost; nothing if there are none.
  [[nodiscard]] std::optional<Samples> samples(const std::string& key);
  /// Content hash of the artifact for a key of keys.h; the file may be gone.
  [[nodiscard]] std::optional<std::string> artifact(const std::string& key);
  void put_artifact(const std::string& key, const std::string& hash);
  /// Any other result, as JSON text, such as verdicts of the end-to-end guard.
  [[nodiscard]] std::optional<std::string> verdict(const std::string& key);
  void put_verdict(const std::string& key, const std::string& json);

  /// What a region of keys.h is, for people, as JSON text (region_facts.h).
  [[nodiscard]] std::optional<std::string> region(const std::string& key);
  /// Keys and texts, all or none.
  void put_regions(std::span<const std::pair<std::string, std::string>> records);
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> regions();

  /// For each cost, who is to measure it. Takes the leases of all costs that are unknown and that nobody is measuring,
  /// in one transaction, for at least `time`. Storing a cost ends its lease. Without a file, all unknown costs are for
  /// this tuner to measure.
  [[nodiscard]] std::vector<Lease> take_leases(std::span<const std::string> keys, std::chrono::nanoseconds time);
  /// What is held is held for at least `time` from now on; most calls find that it is and write nothing.
  void extend_leases(std::chrono::nanoseconds time);
  /// Gives back what is still held, for others to measure.
  void release_leases();
  /// Costs being measured at this moment, by all tuners.
  [[nodiscard]] std::size_t lease_count();

  /// Folder of the artifact files. Of a store in memory: a temporary one that goes away with it.
  [[nodiscard]] const std::string& artifact_folder() const;
  /// What went wrong: nothing or one sentence.
  [[nodiscard]] const std::vector<std::string>& warnings() const;

  /// Damaged records that this object came across and set aside.
  [[nodiscard]] std::size_t set_aside() const;

  struct Counts {
    std::size_t costs = 0;
    std::size_t artifacts = 0;
    std::size_t verdicts = 0;
  };
  [[nodiscard]] Counts counts();
  /// All costs whose key contains `part`, sorted by key.
  [[nodiscard]] std::vector<std::pair<std::string, Cost>> costs_like(const std::string& part);
  /// Likewise keys and content hashes of artifacts.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> artifacts_like(const std::string& part);
  /// Likewise keys and texts of verdicts.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> verdicts_like(const std::string& part);
  /// Removes the records whose key contains `part`, of all kinds; artifact files stay.
  void remove(const std::string& part);
  /// Removes exactly this cost.
  void remove_cost(const std::string& key);
  /// Looks at every record and sets damaged ones aside; how many are set aside, those found earlier included.
  [[nodiscard]] std::size_t damaged_count();

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace collage
