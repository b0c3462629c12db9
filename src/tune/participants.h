// The participants of a tune: the instances that may run nodes, those that propose candidates, and the rules that apply
// to them. Every instance is tried in a worker first; one that fails there is never made in this process.
// In:  options, the prepared graph. Out: names, locations, rules, and why an instance is absent.
// Cost: one job in the worker for probing; another for proposing a graph that a build of a backend has not seen before.
// Not here: candidates and their costs (tune/pool.h, tune/price/).
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "region/refusal.h"
#include "tune/locations.h"
#include "tune/measure_env.h"
#include "tune/stages.h"
#include "tune/tune.h"

namespace collage {

struct Participants {
  std::vector<std::string> backends;          ///< may take nodes
  std::vector<std::string> rivals;            ///< those that may run the model as a whole, where they are engines
  std::vector<std::string> proposing;         ///< those, the host, the filler
  Locations locations;                        ///< of `backends`
  std::vector<NodeRule> rules;                ///< pins and bans
  std::map<std::string, std::string> absent;  ///< asked for but not usable here, and why
  std::vector<std::string> notes;
  /// Pairs that cannot run in one process.
  std::vector<std::pair<std::string, std::string>> conflicts;
  std::set<std::string> probed;  ///< tried in the worker
  /// By instance, the file with what it proposed in the worker (rehearsal.h); not of all: see rehearsed().
  std::map<std::string, std::string> proposals;
};

/// Instances asked for that work here. An unusable one is a note, unless nothing is left.
[[nodiscard]] Result<Participants> choose_participants(const TuneOptions& options, const MeasureEnv& env);

/// Every backend proposes the graph in the worker, once for a graph and a build; one that crashes or misbehaves there
/// is left out. What the others proposed is in files; nothing of the host, of who was rehearsed in an earlier tune, and
/// after a stop. Then the rules: pins and bans of the user; without pins of the user's, those of the model.
[[nodiscard]] Result<Participants> rehearsed(Participants who, const Prepared& prepared, const TuneOptions& options,
                                             const MeasureEnv& env);

}  // namespace collage
