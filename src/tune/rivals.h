// Rivals of a tune: engines on the whole model, compiled in a worker or found in the store.
// In: an engine, a graph or the user's own bytes. Out: artifacts; what a reproduction bundle says when one crashes.
// Cost: one compilation, unless the store has its artifact.
// Source: ours.
#pragma once

#include <optional>
#include <string>

#include "backend/registry.h"
#include "measure/repro_keeper.h"
#include "measure/store.h"
#include "measure/worker_process.h"
#include "tune/node_rules.h"

namespace collage {

/// A model as an engine gets it; what it refers to outlives the call.
struct RivalModel {
  const std::string& engine;
  const Region& region;  ///< all of the graph
  const Graph& graph;
  const std::string& graph_file;
  const std::string& model_file;  ///< the user's bytes; empty: the graph's
  const std::string& model_hash;  ///< of these bytes
  std::string shapes;             ///< as they are bound
  int threads = 1;
};
[[nodiscard]] Result<Artifact> rival_artifact(const RivalModel& model, Registry& registry, Store& store,
                                              WorkerProcess& worker);

/// An engine that brought its worker down while it compiled the graph.
struct CrashedRival {
  const Graph& graph;
  std::string record;
  std::string engine;
  const std::vector<NodeRule>& rules;
  CompileOptions compile;
  std::uint64_t seed = 1;
  std::chrono::nanoseconds compile_limit;
  std::chrono::nanoseconds run_limit;
};
/// Nothing when the engine does not take the graph. `graph` outlives the result.
[[nodiscard]] std::optional<FailedCandidate> failed_rival(const CrashedRival& rival, const std::string& how,
                                                          Registry& registry);

}  // namespace collage
