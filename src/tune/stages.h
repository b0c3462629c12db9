// The first stages of a tune: one imports the model; the other checks the import against the user's own bytes,
// simplifies and records.
// In:  a model file. Out: an ImportedModel, then a Prepared: the simplified graph, and files for workers. Third-party
//       code runs in the worker only.
// Cost: one import; three runs of the reference, of which one is beside the others.
#pragma once

#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/progress.h"
#include "base/work_folder.h"
#include "numbers/graph_file.h"
#include "onnx/import.h"
#include "passes/simplify.h"
#include "sandbox/model_reader.h"
#include "tune/confirm/confirm.h"
#include "worker/worker_process.h"

namespace collage {

/// A model as the user wrote it.
struct ImportedModel {
  Imported imported;
  std::string weights;        ///< hash of all constants
  std::string imported_file;  ///< graph file of imported.graph
  ConstantPlaces constants;   ///< in that file
  std::string original_file;  ///< the user's bytes, bound and repaired; empty: more than a message holds
  std::vector<std::string> notes;
};

/// A model made ready for pricing.
struct Prepared : ImportedModel {
  Graph graph;  ///< simplified
  std::vector<PassReport> passes;
  std::string graph_file;                  ///< graph file of `graph`
  std::string inputs;                      ///< record of the model's inputs
  std::string outputs;                     ///< record of the reference's outputs
  std::string record;                      ///< record of every value of `graph`
  std::vector<CheckedInputs> more_inputs;  ///< in class fast: other inputs, for checks of whole plans
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
  std::vector<std::string> worker_command;  ///< of one worker more, for runs beside others; empty: none
  Progress progress;
};

/// Those of a tune, for these backends.
[[nodiscard]] PrepareOptions prepare_options(const TuneOptions& options, std::vector<std::string> backends,
                                             Progress progress);

/// Errors import/*.
[[nodiscard]] Result<ImportedModel> import_model(const PrepareOptions& options, const WorkFolder& folder,
                                                 Registry& registry, WorkerProcess& worker);

/// Error import/mismatch when the imported graph's numbers are not those of the user's bytes.
[[nodiscard]] Result<Prepared> record_model(const PrepareOptions& options, ImportedModel model,
                                            const WorkFolder& folder, WorkerProcess& worker);

/// Both.
[[nodiscard]] Result<Prepared> prepare(const PrepareOptions& options, const WorkFolder& folder, Registry& registry,
                                       WorkerProcess& worker);

}  // namespace collage
