#include "numbers/reference_run.h"

#include <algorithm>
#include <cstring>

#include "backend/held_value.h"
#include "backend/open_kernel.h"
#include "base/clock.h"

namespace collage {
namespace {

std::unexpected<Error> failed(std::string saw) {
  return fail(ExitCode::kUnsupported, "measure/reference", "reference", std::move(saw), "a region that it runs");
}

/// The whole graph with its own ports, in its order.
Region ports_of(const Graph& graph) {
  Region region = whole_region(graph, uses_of(graph));
  region.inputs = graph.inputs;
  region.outputs = graph.outputs;
  return region;
}

Variant plain_variant(const Region& region) {
  return {.name = "default",
          .input_formats = std::vector<Format>(region.inputs.size()),
          .output_formats = std::vector<Format>(region.outputs.size())};
}

}  // namespace

Result<ReferenceRun> ReferenceRun::create(Backend& backend, const Graph& graph) {
  ReferenceRun made;
  const auto loaded = guard([&] { return made.load(backend, graph); });
  if (!loaded) return failed("threw: " + loaded.error());
  COLLAGE_TRY_VOID(*loaded);
  return made;
}

Result<void> ReferenceRun::load(Backend& backend, const Graph& graph) {
  CompileRequest request{.graph = &graph, .region = ports_of(graph)};
  request.variant = plain_variant(request.region);
  const Region& region = request.region;
  auto compiled = backend.compile({&request, 1}, {.threads = 1, .accuracy = Accuracy::kStrict});
  if (compiled.size() != 1) return failed("another number of artifacts than asked for");
  if (!compiled[0]) return failed(compiled[0].error().detail);
  const Artifact& artifact = *compiled[0];
  LoadRequest wanted{.artifact = artifact, .threads = 1};
  Buffers buffers;
  for (const ValueId id : artifact.constants) wanted.constants.push_back(*graph.value(id).constant);
  const auto place = [&](ValueId id, std::vector<GuardedBytes>& memory, std::vector<Port>& ports) -> Result<void> {
    const Value& value = graph.value(id);
    if (!value.type.is_static() && !value.type.is_open()) return failed(to_string(value.type));
    memory.emplace_back(value.type.is_static() ? byte_count(value.type.element, value.type.extents()) : 0);
    is_open_ |= value.type.is_open();
    ports.push_back({.name = value.name, .type = value.type});
    return {};
  };
  for (const ValueId id : region.inputs) {
    COLLAGE_TRY_VOID(place(id, inputs_, wanted.inputs));
    buffers.inputs.push_back(inputs_.back().data());
  }
  for (const ValueId id : region.outputs) {
    COLLAGE_TRY_VOID(place(id, outputs_, wanted.outputs));
    types_.push_back(graph.value(id).type);
    buffers.outputs.push_back(outputs_.back().data());
  }
  workspace_ = GuardedBytes(artifact.workspace_bytes);
  buffers.workspace = workspace_.data();
  COLLAGE_TRY(kernel_, backend.load(wanted));
  if (is_open_) return {};
  COLLAGE_TRY(call_, kernel_->bind(buffers));
  return {};
}

Result<void> ReferenceRun::bind_at(const std::vector<Tensor>& inputs) {
  const OpenKernel* const kernel = kernel_->as_open();
  if (kernel == nullptr || inputs.size() != inputs_.size()) return failed("inputs of open shape");
  Buffers buffers{.workspace = workspace_.data()};
  std::vector<Extents> extents;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs_[i] = GuardedBytes(inputs[i].data.size());
    buffers.inputs.push_back(inputs_[i].data());
    extents.push_back(inputs[i].extents);
  }
  for (std::size_t o = 0; o < outputs_.size(); ++o)
    buffers.outputs.push_back(types_[o].is_static() ? outputs_[o].data() : nullptr);
  const auto bound = guard([&]() -> Result<void> {
    COLLAGE_TRY(call_, kernel->bind_at(buffers, extents));
    return {};
  });
  return bound ? *bound : failed("threw: " + bound.error());
}

Result<Tensor> ReferenceRun::output(std::size_t o) {
  if (types_[o].is_static())
    return Tensor{.type = types_[o].element,
                  .extents = types_[o].extents(),
                  .data = Buffer::copy_of(outputs_[o].bytes()),
                  .strings = {}};
  COLLAGE_TRY(const DynamicOutput made, call_->dynamic_output(o));
  return copy_of(made);
}

Result<std::vector<Tensor>> ReferenceRun::run(const std::vector<Tensor>& inputs) {
  if (is_open_) COLLAGE_TRY_VOID(bind_at(inputs));
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (i >= inputs.size() || inputs[i].data.size() != inputs_[i].size()) return failed("inputs of another size");
    std::ranges::copy(inputs[i].data.bytes(), inputs_[i].data());
  }
  const std::int64_t begin = monotonic_ns();
  const auto ran = guard([&] { return call_->run(); });
  run_ns_ = monotonic_ns() - begin;
  if (!ran) return failed("threw: " + ran.error());
  COLLAGE_TRY_VOID(*ran);
  std::vector<Tensor> outputs;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    COLLAGE_TRY(Tensor made, output(o));
    outputs.push_back(std::move(made));
  }
  return outputs;
}

}  // namespace collage
