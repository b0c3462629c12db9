#include "tune/stages.h"

#include <future>
#include <thread>

#include <fmt/format.h>

#include "backend/roles.h"
#include "base/file.h"
#include "numbers/compare.h"
#include "numbers/graph_file.h"
#include "numbers/inputs.h"
#include "numbers/record.h"
#include "numbers/recorded_extents.h"
#include "plan/control.h"
#include "region/weight_bytes.h"
#include "sandbox/import_model.h"
#include "store/keys.h"
#include "tune/jobs.h"
#include "tune/tune.h"
#include "tune/vendor_operators.h"

namespace collage {
namespace {

constexpr const char* kOriginalOutputs = "original-outputs";
constexpr std::uint64_t kMoreInputs = 3;
/// For models so small that a run of the reference takes no time to speak of. Their outputs are few numbers, whose
/// errors differ most from input to input.
constexpr std::uint64_t kMoreInputsOfSmall = 15;
constexpr std::size_t kSmallBytes = std::size_t{1} << 23;
/// Between the seeds of the sets: far from the small seeds that people try plans with.
constexpr std::uint64_t kSeedStep = 0x9e3779b9;

/// The bytes of all values, weights among them; those of unknown shape do not count.
std::size_t bytes_of_values(const Graph& graph) {
  std::size_t bytes = 0;
  for (const Value& value : graph.values)
    if (value.type.is_static()) bytes += byte_count(value.type.element, value.type.extents());
  return bytes;
}

void say(const PrepareOptions& options, const std::string& phase) {
  if (options.progress) options.progress({.phase = phase, .note = {}});
}

class Recording {
 public:
  Recording(const PrepareOptions& options, ImportedModel model, const WorkFolder& folder, WorkerProcess& worker)
      : options_(options), folder_(folder), worker_(worker), prepared_{std::move(model)} {}

  Result<Prepared> run() {
    say(options_, "record");
    prepared_.inputs = folder_.file("inputs");
    COLLAGE_TRY_VOID(make_input_record(options_.seed, prepared_.inputs));
    std::future<Result<void>> original = run_original();
    COLLAGE_TRY_VOID(record_imported());
    if (options_.accuracy == Accuracy::kFast) add_more_inputs();
    say(options_, "simplify");
    COLLAGE_TRY_VOID(simplify_and_record());
    if (!prepared_.original_file.empty()) COLLAGE_TRY_VOID(check_import(original.get()));
    return std::move(prepared_);
  }

 private:
  Result<void> make_input_record(std::uint64_t seed, const std::string& file) {
    const Graph& graph = prepared_.imported.graph;
    COLLAGE_TRY(const std::vector<Tensor> inputs, make_inputs(graph, {.seed = seed, .ranges = options_.input_ranges}));
    COLLAGE_TRY(RecordWriter writer, RecordWriter::create(file));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      COLLAGE_TRY_VOID(writer.add(graph.value(graph.inputs[i]).name, inputs[i]));
    return writer.finish();
  }

  /// Errors of arithmetic with few bits differ from input to input.
  void add_more_inputs() {
    const bool is_small = bytes_of_values(prepared_.imported.graph) <= kSmallBytes;
    for (std::uint64_t set = 1; set <= (is_small ? kMoreInputsOfSmall : kMoreInputs); ++set)
      if (const auto added = add_inputs(set); !added)
        prepared_.notes.push_back("plans are judged on fewer inputs: " + to_string(added.error()));
  }

  Result<void> add_inputs(std::uint64_t set) {
    const CheckedInputs more{.inputs = folder_.file(fmt::format("inputs-{}", set)),
                             .expected = folder_.file(fmt::format("outputs-{}", set))};
    COLLAGE_TRY_VOID(make_input_record(options_.seed + kSeedStep * set, more.inputs));
    COLLAGE_TRY_VOID(collage::record(worker_, {.graph_file = prepared_.imported_file,
                                               .inputs_file = more.inputs,
                                               .record_file = more.expected,
                                               .backend = kReferenceEngine,
                                               .all_values = false,
                                               .model_file = std::nullopt,
                                               .slacks = true}));
    prepared_.more_inputs.push_back(more);
    return {};
  }

  /// Of the user's own bytes in the reference: beside the other runs where there is a second processor and the model is
  /// not so large that both take too much memory, else when its result is asked for.
  std::future<Result<void>> run_original() {
    RecordJob job{.graph_file = prepared_.imported_file,
                  .inputs_file = prepared_.inputs,
                  .record_file = folder_.file(kOriginalOutputs),
                  .backend = kReferenceEngine,
                  .all_values = false,
                  .model_file = prepared_.original_file};
    const bool is_apart = !prepared_.original_file.empty() && !options_.worker_command.empty() &&
                          std::thread::hardware_concurrency() > 1 &&
                          weight_bytes(prepared_.imported.graph) <= kMostBytesAtOnce;
    if (!is_apart)
      return std::async(std::launch::deferred, [this, job = std::move(job)] { return collage::record(worker_, job); });
    return std::async(std::launch::async, [command = options_.worker_command, job = std::move(job)] {
      WorkerProcess worker(command);
      return collage::record(worker, job);
    });
  }

  Result<void> record_imported() {
    prepared_.outputs = folder_.file("outputs");
    return collage::record(worker_, {.graph_file = prepared_.imported_file,
                                     .inputs_file = prepared_.inputs,
                                     .record_file = prepared_.outputs,
                                     .backend = kReferenceEngine,
                                     .all_values = false,
                                     .model_file = std::nullopt,
                                     .slacks = true});
  }

  /// The outputs of the user's own bytes and of the imported graph must be the same.
  Result<void> check_import(const Result<void>& original) {
    if (!original) {
      prepared_.notes.push_back(
          "ONNX Runtime, the reference, rejects this file; numbers were checked on Collage's import instead: " +
          original.error().saw);
      return {};
    }
    COLLAGE_TRY(const std::string different, difference(folder_.file(kOriginalOutputs), prepared_.outputs));
    if (different.empty()) return {};
    return fail(ExitCode::kBug, "import/mismatch", options_.model, different,
                "the imported graph to give what the file gives");
  }

  /// "" when the outputs in record `seen` are those in record `expected`.
  Result<std::string> difference(const std::string& seen, const std::string& expected) const {
    COLLAGE_TRY(const Record a, Record::open(seen));
    COLLAGE_TRY(const Record b, Record::open(expected));
    const Graph& graph = prepared_.imported.graph;
    for (ValueId id : graph.outputs) {
      const std::string& name = graph.value(id).name;
      COLLAGE_TRY(const Tensor left, a.tensor(name));
      COLLAGE_TRY(const Tensor right, b.tensor(name));
      const Comparison comparison = compare(left, right, options_.accuracy, is_16bit_float(right.type), b.slack(name));
      if (!comparison.ok) return fmt::format("output {}: {}", name, to_string(comparison));
    }
    return std::string();
  }

  /// Folds constants in the reference.
  Result<std::vector<Tensor>> fold(const Graph& graph) {
    const std::string file = folder_.file("fold.onnx");
    COLLAGE_TRY_VOID(write_graph_file(file, graph, prepared_.constants));
    const RecordJob job{.graph_file = file,
                        .inputs_file = prepared_.inputs,
                        .record_file = folder_.file("folded"),
                        .backend = kReferenceEngine,
                        .all_values = false,
                        .model_file = std::nullopt};
    COLLAGE_TRY_VOID(collage::record(worker_, job));
    COLLAGE_TRY(const Record record, Record::open(job.record_file));
    std::vector<Tensor> tensors;
    for (ValueId id : graph.outputs) {
      COLLAGE_TRY(Tensor tensor, record.tensor(graph.value(id).name));
      tensor.data = Buffer::copy_of(tensor.data.bytes());
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  Result<void> simplify_and_record() {
    COLLAGE_TRY(SimplifiedGraph simplified,
                simplify(prepared_.imported.graph, {.accuracy = options_.accuracy, .off = options_.passes_off},
                         [this](const Graph& graph) { return fold(graph); }));
    prepared_.passes = std::move(simplified.passes);
    const Result<std::string> problem = record(simplified.graph);
    if (problem && problem->empty()) return {};
    prepared_.notes.push_back("simplified graph not used: " + (problem ? *problem : to_string(problem.error())));
    prepared_.passes.clear();
    COLLAGE_TRY(const std::string without, record(prepared_.imported.graph));
    if (!without.empty()) return fail(ExitCode::kBug, "tune/record-mismatch", options_.model, without);
    return {};
  }

  /// Records every value of `graph`; "" when its outputs are those of the imported graph.
  Result<std::string> record(const Graph& graph) {
    prepared_.graph = with_proven_results(graph);
    prepared_.graph_file = folder_.file("graph.onnx");
    prepared_.record = folder_.file("record");
    COLLAGE_TRY_VOID(write_graph_file(prepared_.graph_file, prepared_.graph, prepared_.constants));
    COLLAGE_TRY_VOID(collage::record(worker_, {.graph_file = prepared_.graph_file,
                                               .inputs_file = prepared_.inputs,
                                               .record_file = prepared_.record,
                                               .backend = kReferenceEngine,
                                               .all_values = true,
                                               .model_file = std::nullopt}));
    COLLAGE_TRY(const Record values, Record::open(prepared_.record));
    COLLAGE_TRY_VOID(note_recorded_extents(values, prepared_.graph));
    if (const auto empty = values_without_elements(prepared_.graph); !empty.empty())
      prepared_.notes.push_back(
          fmt::format("made-up inputs leave nothing of '{}': what comes behind it was measured without data; "
                      "--input-range may help",
                      empty.front()));
    return difference(prepared_.record, prepared_.outputs);
  }

  const PrepareOptions& options_;
  const WorkFolder& folder_;
  WorkerProcess& worker_;
  Prepared prepared_;
};

}  // namespace

PrepareOptions prepare_options(const TuneOptions& options, std::vector<std::string> backends, Progress progress) {
  return {.model = options.model,
          .shapes = options.shapes,
          .backends = std::move(backends),
          .accuracy = options.accuracy,
          .passes_off = options.passes_off,
          .reader = options.reader,
          .seed = options.seed,
          .input_ranges = options.input_ranges,
          .worker_command = options.worker_command,
          .progress = std::move(progress)};
}

Result<ImportedModel> import_model(const PrepareOptions& options, const WorkFolder& folder, Registry& registry,
                                   WorkerProcess& worker) {
  say(options, "import");
  ImportOptions import_options;
  import_options.shapes = options.shapes;
  ask_vendors(import_options, registry, options.backends);
  ask_types_in(import_options, worker, folder);
  ImportedModel model;
  COLLAGE_TRY(model.imported, import_apart(options.model, import_options, options.reader));
  model.notes = model.imported.notes;
  const Graph& graph = model.imported.graph;
  model.weights = weights_hash(graph, whole_region(graph, uses_of(graph)));
  model.imported_file = folder.file("imported.onnx");
  COLLAGE_TRY(model.constants, write_graph_file(model.imported_file, graph));
  if (model.imported.bound_model.empty()) return model;
  model.original_file = folder.file("original.onnx");
  COLLAGE_TRY_VOID(write_file(model.original_file, model.imported.bound_model));
  return model;
}

Result<Prepared> record_model(const PrepareOptions& options, ImportedModel model, const WorkFolder& folder,
                              WorkerProcess& worker) {
  return Recording(options, std::move(model), folder, worker).run();
}

Result<Prepared> prepare(const PrepareOptions& options, const WorkFolder& folder, Registry& registry,
                         WorkerProcess& worker) {
  COLLAGE_TRY(ImportedModel model, import_model(options, folder, registry, worker));
  return record_model(options, std::move(model), folder, worker);
}

}  // namespace collage
