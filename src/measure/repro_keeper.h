// Decides which failures of backends become reproduction bundles, and limits the size of their folder.
// In:  failed candidates. Out: folders named `<backend>-<reason>-<hash>`, and a line for the user.
// Crashes, hangs, wrong results, exceptions and failed compilations are kept; other refusals are not. There is at most
// one bundle for each backend build, structure and reason, a limited number for each tune and in total, and none is
// larger than `most_bytes`.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "measure/repro_bundle.h"

namespace collage {

struct ReproLimits {
  std::size_t most_per_tune = 20;
  std::size_t most_bytes = std::size_t{64} << 20;  ///< arrays and weights of one bundle
  std::size_t most_kept = 200;                     ///< folders, those of earlier tunes included
  std::chrono::hours most_age = std::chrono::hours(24 * 30);
};

/// What one failure came to.
struct KeptRepro {
  std::string backend;
  Refusal refusal;
  std::string stage;
  std::string folder;  ///< of the bundle; "" when there is none
  std::string note;    ///< why there is none
};

/// A candidate that failed, where it stands in a tune.
struct FailedCandidate {
  const Graph* graph = nullptr;  ///< null for a conversion
  std::string record_file;       ///< of a record job on that graph
  std::vector<std::uint32_t> nodes;
  std::vector<std::uint32_t> repeated;
  ReproBundle bundle;  ///< all of it but graph and arrays
};

/// A failure of the library rather than its answer.
[[nodiscard]] bool is_failure(RefusalReason reason);

/// Where bundles lie for a store at this path: "PATH.repros".
[[nodiscard]] std::string repro_folder_of(const std::string& store_path);

/// Removes bundles that are older than the limits say or more than they allow, the oldest first, and what a killed
/// process left half written. How many went.
std::size_t prune_repros(const std::string& folder, const ReproLimits& limits);

/// One thread at a time.
class ReproKeeper {
 public:
  /// The folder is made at the first failure. Empty: nothing is written, failures are told all the same.
  explicit ReproKeeper(std::string folder, ReproLimits limits = {}) : folder_(std::move(folder)), limits_(limits) {}

  /// Writes the bundle unless there is one. Never fails: trouble is a note.
  void keep(FailedCandidate failed);

  /// In the order they came; each kind of failure once.
  [[nodiscard]] const std::vector<KeptRepro>& kept() const { return kept_; }

 private:
  [[nodiscard]] Result<void> write(const std::string& name, FailedCandidate& failed);

  std::string folder_;
  ReproLimits limits_;
  std::set<std::string> seen_;
  std::size_t written_ = 0;
  std::vector<KeptRepro> kept_;
};

}  // namespace collage
