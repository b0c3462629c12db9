// The first stage of a tune: imports the model, checks the import against the user's own bytes, simplifies and records.
// In:  a model file. Out: a Prepared: the simplified graph, and files for workers. Third-party code runs in the worker
//       only.
// Cost: two runs of the reference, one import.
#pragma once

#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/progress.h"
#include "base/work_folder.h"
#include "onnx/import.h"
#include "passes/simplify.h"
#include "sandbox/model_reader.h"
#include "tune/confirm/confirm.h"
#include "worker/worker_process.h"

namespace collage {

/// A model made ready for pricing.
struct Prepared {
  Imported imported;
  Graph graph;  ///< simplified
  std::vector<PassReport> passes;
  std::string imported_file;               ///< graph file of imported.graph
  std::string original_file;               ///< the user's bytes, bound and repaired; empty: more than a message holds
  std::string graph_file;                  ///< graph file of `graph`
  std::string inputs;                      ///< record of the model's inputs
  std::string outputs;                     ///< record of the reference's outputs
  std::string record;                      ///< record of every value of `graph`
  std::vector<CheckedInputs> more_inputs;  ///< in class fast: other inputs, for checks of whole plans
  std::vector<std::string> notes;
};

struct TuneOptions;

struct PrepareOptions {
  std::string model;
  ShapeBindings shapes;
  std::vector<std::string> backends;  ///< whose vendor operators are known
  Accuracy accuracy = Accuracy::kStandard;
  std::set<std::string> passes_off;
  ModelReader reader;
  std::uint64_t seed = 1;
  std::map<std::string, std::pair<double, double>> input_ranges;
  Progress progress;
};

/// Those of a tune, for these backends.
[[nodiscard]] PrepareOptions prepare_options(const TuneOptions& options, std::vector<std::string> backends,
                                             Progress progress);

/// Errors import/*, import/mismatch when the imported graph's numbers are not those of the user's bytes.
[[nodiscard]] Result<Prepared> prepare(const PrepareOptions& options, const WorkFolder& folder, Registry& registry,
                                       WorkerProcess& worker);

}  // namespace collage
