// Who takes part in a tune: the instances that may take nodes, those that propose candidates, and the rules that bind
// them. Whatever is made an instance of is tried in the worker first; what fails there is never made here.
// In: options, the prepared graph. Out: names, places, rules, and why who is absent.
// Cost: a job in the worker for probing, another for proposing a graph that is new to a build of a backend.
// Not here: candidates and their costs (pricing.h).
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/registry.h"
#include "region/refusal.h"
#include "store/store.h"
#include "tune/locations.h"
#include "tune/stages.h"
#include "tune/tune.h"
#include "worker/worker_process.h"

namespace collage {

/// One thread. What it is given outlives it.
class Participants {
 public:
  Participants(const TuneOptions& options, Registry& registry, WorkerProcess& worker, Store& store)
      : options_(options), registry_(registry), worker_(worker), store_(store) {}

  /// Instances asked for that work here. An unusable one is a note, unless nothing is left.
  [[nodiscard]] Result<void> choose();
  /// Every backend proposes the graph in the worker, once for a graph and a build; who does not live through that
  /// takes no part.
  [[nodiscard]] Result<void> rehearse(const Prepared& prepared);
  /// Pins and bans of the user; without pins of the user's, those of the model.
  [[nodiscard]] Result<void> gather_rules(const Prepared& prepared);

  [[nodiscard]] const std::vector<std::string>& backends() const { return backends_; }    ///< may take nodes
  [[nodiscard]] const std::vector<std::string>& proposing() const { return proposing_; }  ///< those, host, the filler
  [[nodiscard]] const Locations& locations() const { return locations_; }
  [[nodiscard]] const std::vector<NodeRule>& rules() const { return rules_; }
  /// Asked for but not usable here, and why.
  [[nodiscard]] const std::map<std::string, std::string>& absent() const { return absent_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Pairs that cannot run in one process.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> conflicts() const;

 private:
  [[nodiscard]] Result<void> probe_all();
  [[nodiscard]] Result<void> probe(std::vector<std::string> names);
  [[nodiscard]] Result<void> take_pin(const NodeRule& pin, const Graph& graph);
  [[nodiscard]] CompileOptions compile_options() const;
  void gather_proposing();
  void leave_out(const std::string& name, const Refusal& refusal);

  const TuneOptions& options_;
  Registry& registry_;
  WorkerProcess& worker_;
  Store& store_;
  std::set<std::string> probed_;  ///< tried in the worker
  std::vector<std::string> backends_;
  std::vector<std::string> proposing_;
  Locations locations_;
  std::vector<NodeRule> rules_;
  std::map<std::string, std::string> absent_;
  std::vector<std::string> notes_;
};

}  // namespace collage
