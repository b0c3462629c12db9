#include "measure/record_job.h"

#include <algorithm>

#include "backend/held_value.h"
#include "backend/open_kernel.h"
#include "ir/check_value.h"
#include "ir/fits_shape.h"
#include "numbers/guarded_bytes.h"
#include "numbers/quantisers.h"
#include "numbers/rounding_slack.h"

namespace collage {
namespace {

std::unexpected<Error> refused(const RecordJob& job, std::string saw) {
  return fail(ExitCode::kUnsupported, "record/refused", job.backend, std::move(saw), "a graph it runs as a whole");
}

bool can_be_written(const ValueType& type) {
  return type.is_held() || (type.kind == ValueKind::kTensor && bits_of(type.element) > 0);
}

/// The graph with every computed value that can be written down as an output, the graph's own first.
Graph with_all_outputs(const Graph& graph, const Uses& uses, bool ask_unknown) {
  Graph all = graph;
  std::vector<bool> listed(graph.values.size(), false);
  for (const ValueId id : graph.outputs) listed[id.index] = true;
  for (std::uint32_t i = 0; i < graph.values.size(); ++i) {
    const ValueType& type = graph.values[i].type;
    const bool unknown = type.kind == ValueKind::kUnknown ||
                         (type.kind == ValueKind::kTensor && type.element == ElementType::kUndefined);
    if (listed[i] || !uses.producer[i].valid()) continue;
    if (can_be_written(type) || (unknown && ask_unknown)) all.outputs.push_back(ValueId{i});
  }
  return all;
}

/// The whole graph as a region whose ports are the graph's own: unread inputs included, computed outputs once each.
Region ports_of(const Graph& graph, const Uses& uses) {
  Region region = whole_region(graph, uses);
  region.inputs = graph.inputs;
  region.outputs.clear();
  for (const ValueId id : graph.outputs)
    if (uses.producer[id.index].valid() && std::ranges::find(region.outputs, id) == region.outputs.end())
      region.outputs.push_back(id);
  return region;
}

/// The run with its buffers; an output of unknown shape has none.
struct Run {
  std::vector<GuardedBytes> inputs;
  std::vector<Tensor> recorded;                  ///< by input
  std::vector<std::unique_ptr<HeldValue>> held;  ///< by input; null for tensors of numbers
  std::vector<GuardedBytes> outputs;
  GuardedBytes workspace;
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Call> call;
};

Result<Artifact> compile(const RecordJob& job, const Graph& graph, const Region& region, Backend& backend) {
  CompileRequest request{.graph = &graph, .region = region};
  request.variant = {.name = "default",
                     .input_formats = std::vector<Format>(region.inputs.size()),
                     .output_formats = std::vector<Format>(region.outputs.size())};
  Buffer model;
  if (job.model_file) {
    COLLAGE_TRY(model, Buffer::map_file(*job.model_file));
    request.model_bytes = model.text();
  }
  auto compiled = backend.compile({&request, 1}, {.threads = job.threads, .accuracy = Accuracy::kStrict});
  if (compiled.size() != 1) return refused(job, "another number of artifacts than asked for");
  if (!compiled[0])
    return refused(job, std::string(name_of(compiled[0].error().reason)) + ": " + compiled[0].error().detail);
  return std::move(*compiled[0]);
}

Result<const void*> fill_input(Run& run, const Value& value, const Record& inputs) {
  COLLAGE_TRY(Tensor tensor, inputs.tensor(value.name));
  if (value.type.is_held())
    COLLAGE_TRY_VOID(check_value(value.name, value.type, tensor));
  else if (tensor.type != value.type.element || !fits_shape(value.type, tensor.extents))
    return fail(ExitCode::kBadInput, "record/wrong-input", value.name, to_string(tensor.value_type()),
                to_string(value.type));
  run.recorded.push_back(tensor);
  run.inputs.emplace_back(tensor.data.size());
  std::ranges::copy(tensor.data.bytes(), run.inputs.back().data());
  run.held.push_back(value.type.is_held() ? std::make_unique<PlainValue>(std::move(tensor)) : nullptr);
  return run.held.back() ? static_cast<const void*>(run.held.back().get()) : run.inputs.back().data();
}

/// Inputs of open shape get the extents that they have in this run.
Result<std::unique_ptr<Call>> bind(const Run& run, const Graph& graph, const Region& region, const Buffers& buffers) {
  const auto is_open = [&](ValueId id) { return graph.value(id).type.is_open(); };
  if (std::ranges::none_of(region.inputs, is_open)) return run.kernel->bind(buffers);
  const OpenKernel* const kernel = run.kernel->as_open();
  if (kernel == nullptr)
    return fail(ExitCode::kUnsupported, "backend/fixed-shapes", "record", "a kernel of fixed shapes",
                "one that takes inputs of open shape");
  std::vector<Extents> extents;
  for (const Tensor& input : run.recorded) extents.push_back(input.extents);
  return kernel->bind_at(buffers, extents);
}

Result<Run> load(const RecordJob& job, const Graph& graph, const Region& region, const Record& inputs,
                 Backend& backend) {
  COLLAGE_TRY(const Artifact artifact, compile(job, graph, region, backend));
  Run run;
  LoadRequest request{.artifact = artifact, .threads = job.threads};
  Buffers buffers;
  for (const ValueId id : artifact.constants) request.constants.push_back(*graph.value(id).constant);
  for (const ValueId id : region.inputs) {
    const Value& value = graph.value(id);
    COLLAGE_TRY(buffers.inputs.emplace_back(), fill_input(run, value, inputs));
    request.inputs.push_back({.name = value.name, .type = value.type});
  }
  for (const ValueId id : region.outputs) {
    const Value& value = graph.value(id);
    run.outputs.emplace_back();
    if (value.type.is_static()) run.outputs.back() = GuardedBytes(byte_count(value.type.element, value.type.extents()));
    request.outputs.push_back({.name = value.name, .type = value.type});
    buffers.outputs.push_back(run.outputs.back().data());
  }
  run.workspace = GuardedBytes(artifact.workspace_bytes);
  buffers.workspace = run.workspace.data();
  COLLAGE_TRY(run.kernel, backend.load(request));
  COLLAGE_TRY(run.call, bind(run, graph, region, buffers));
  return run;
}

Result<void> write_output(const Value& value, const Run& run, std::size_t port, RecordWriter& writer) {
  if (value.type.is_static())
    return writer.add(value.name, tensor_over(value.type.element, value.type.extents(), run.outputs[port].data()));
  const auto made = run.call->dynamic_output(port);
  const auto tensor = made ? view_of(*made) : std::unexpected(made.error());
  if (tensor) return writer.add(value.name, *tensor);
  if (value.type.is_held()) return std::unexpected(tensor.error());
  return {};  // of a kind that the graph does not know
}

/// By output of the region, from a run of the nudged twin; none where there is no twin or the backend fails on it.
std::vector<double> slacks(const RecordJob& job, const Graph& graph, const Region& region, const Run& run,
                           const Record& inputs, Backend& backend) {
  const auto twin = nudged_twin(graph);
  if (!twin) return {};
  const auto nudged = guard([&]() -> Result<Run> {
    COLLAGE_TRY(Run loaded, load(job, *twin, ports_of(*twin, uses_of(*twin)), inputs, backend));
    COLLAGE_TRY_VOID(loaded.call->run());
    return loaded;
  });
  if (!nudged || !*nudged) return {};
  const Uses uses = uses_of(graph);
  std::vector<double> all;
  for (std::size_t i = 0; i < region.outputs.size(); ++i) {
    const Value& value = graph.value(region.outputs[i]);
    all.push_back(0);
    if (!value.type.is_static()) continue;
    const auto tensor_of = [&](const Run& one) {
      return tensor_over(value.type.element, value.type.extents(), one.outputs[i].data());
    };
    all.back() =
        rounding_slack(tensor_of(run), tensor_of(**nudged), is_after_quantiser(graph, uses, region.outputs[i]));
  }
  return all;
}

Result<void> write_record(const RecordJob& job, const Graph& graph, const Region& region, const Run& run,
                          const std::vector<double>& slacks) {
  COLLAGE_TRY(RecordWriter writer, RecordWriter::create(job.record_file));
  for (std::size_t i = 0; i < region.inputs.size(); ++i) {
    const Value& value = graph.value(region.inputs[i]);
    // As they lie in memory after the run.
    const Tensor& given = run.recorded[i];
    COLLAGE_TRY_VOID(writer.add(
        value.name, value.type.is_held() ? given : tensor_over(given.type, given.extents, run.inputs[i].data())));
  }
  for (std::size_t i = 0; i < region.outputs.size(); ++i)
    COLLAGE_TRY_VOID(write_output(graph.value(region.outputs[i]), run, i, writer));
  for (std::size_t i = 0; i < slacks.size(); ++i)
    if (slacks[i] != 0) writer.set_slack(graph.value(region.outputs[i]).name, slacks[i]);
  std::vector<ValueId> constants;
  for (const ValueId id : graph.outputs)
    if (graph.value(id).constant && std::ranges::find(constants, id) == constants.end()) constants.push_back(id);
  for (const ValueId id : constants) COLLAGE_TRY_VOID(writer.add(graph.value(id).name, *graph.value(id).constant));
  return writer.finish();
}

/// Compiles, runs and writes; library exceptions become errors.
Result<void> record(const RecordJob& job, const Graph& graph, const Record& inputs, Backend& backend,
                    JobContext& context) {
  const Region region = ports_of(graph, uses_of(graph));
  context.begin("compile", 0);
  auto run = guard([&] { return load(job, graph, region, inputs, backend); });
  if (!run) return refused(job, "threw: " + run.error());
  if (!*run) return std::unexpected(run->error());
  context.begin("run", 0);
  const auto ran = guard([&] { return (*run)->call->run(); });
  if (!ran) return refused(job, "threw: " + ran.error());
  if (!*ran) return std::unexpected(ran->error());
  return write_record(job, graph, region, **run,
                      job.slacks ? slacks(job, graph, region, **run, inputs, backend) : std::vector<double>());
}

}  // namespace

Result<void> run_record_job(const RecordJob& job, Workbench& bench, JobContext& context) {
  COLLAGE_TRY(const Workbench::LoadedGraph* loaded, bench.graph(job.graph_file));
  COLLAGE_TRY(const Record inputs, Record::open(job.inputs_file));
  COLLAGE_TRY(Backend * backend, bench.registry().get(job.backend));
  if (!job.all_values || job.model_file) return record(job, loaded->graph, inputs, *backend, context);
  const Graph wanted = with_all_outputs(loaded->graph, loaded->uses, true);
  const Graph known = with_all_outputs(loaded->graph, loaded->uses, false);
  auto first = record(job, wanted, inputs, *backend, context);
  if (first || known.outputs.size() == wanted.outputs.size()) return first;
  return record(job, known, inputs, *backend, context);
}

}  // namespace collage
