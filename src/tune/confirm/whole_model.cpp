#include "tune/confirm/whole_model.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/pages.h"
#include "ir/check_value.h"

namespace collage {
namespace {

std::shared_ptr<std::byte> aligned_bytes(std::size_t size) {
  Pages pages = allocate_pages(size);
  if (pages == nullptr) throw std::bad_alloc();
  touch_pages(pages.get(), size);
  return pages;
}

}  // namespace

Region model_region(const Graph& graph) {
  Region region = whole_region(graph, uses_of(graph));
  region.inputs = graph.inputs;
  region.outputs.clear();
  for (ValueId output : graph.outputs)
    if (std::find(region.outputs.begin(), region.outputs.end(), output) == region.outputs.end())
      region.outputs.push_back(output);
  return region;
}

Variant model_variant(const Region& region) {
  return {.name = "default",
          .input_formats = std::vector<Format>(region.inputs.size()),
          .output_formats = std::vector<Format>(region.outputs.size())};
}

Cover whole_cover(const Graph& graph, const std::string& engine) {
  CoverKernel kernel{.region = model_region(graph)};
  kernel.variant = model_variant(kernel.region);
  return {.steps = {{.backend = engine, .work = std::move(kernel)}}, .cost_ns = 0};
}

Result<WholeModel> WholeModel::create(Backend& engine, const Graph& graph, std::optional<std::string_view> model_bytes,
                                      const CompileOptions& options) {
  const std::string where = engine.info().name + " on the whole of " + graph.name;
  CompileRequest request;
  request.graph = &graph;
  request.region = model_region(graph);
  request.model_bytes = model_bytes;
  if (model_bytes) request.region.constants.clear();
  request.variant = model_variant(request.region);
  if (const auto held = refuse_held_ports(engine, graph, request.region))
    return fail(ExitCode::kUnsupported, "engine/refused", where, held->detail, "a model it takes");
  auto compiled = engine.compile({&request, 1}, options);
  if (!compiled.front())
    return fail(ExitCode::kUnsupported, "engine/refused", where, compiled.front().error().detail, "a model it takes");

  WholeModel model;
  model.artifact_ = std::move(*compiled.front());
  LoadRequest load;
  load.artifact = model.artifact_;
  load.threads = options.threads;
  for (ValueId id : model.artifact_.constants) load.constants.push_back(*graph.value(id).constant);
  const auto slot = [&](ValueId id, std::vector<Slot>& slots, std::vector<Port>& ports) {
    const Value& value = graph.value(id);
    Slot made{.type = value.type, .bytes = nullptr, .size = 0, .held = nullptr};
    if (value.type.is_static()) {
      made.size = byte_count(value.type.element, value.type.extents());
      made.bytes = aligned_bytes(made.size);
    }
    ports.push_back({.name = value.name, .type = value.type});
    slots.push_back(std::move(made));
  };
  for (ValueId id : request.region.inputs) slot(id, model.inputs_, load.inputs);
  for (ValueId id : request.region.outputs) slot(id, model.outputs_, load.outputs);
  model.has_held_inputs_ = std::ranges::any_of(model.inputs_, [](const Slot& in) { return in.type.is_held(); });
  for (ValueId id : graph.outputs) {
    const auto port = std::find(request.region.outputs.begin(), request.region.outputs.end(), id);
    model.output_port_.push_back(static_cast<std::size_t>(port - request.region.outputs.begin()));
  }
  const auto begin = std::chrono::steady_clock::now();
  COLLAGE_TRY(model.kernel_, engine.load(load));
  if (!model.has_held_inputs_) COLLAGE_TRY_VOID(model.bind());
  model.load_time_ = std::chrono::steady_clock::now() - begin;
  return model;
}

Result<void> WholeModel::bind() {
  Buffers buffers;
  for (const Slot& slot : inputs_)
    buffers.inputs.push_back(slot.held ? static_cast<const void*>(slot.held.get()) : slot.bytes.get());
  for (const Slot& slot : outputs_) buffers.outputs.push_back(slot.bytes.get());
  COLLAGE_TRY(call_, kernel_->bind(buffers));
  return {};
}

Result<void> WholeModel::set_inputs(std::span<const Tensor> inputs) {
  COLLAGE_CHECK(inputs.size() == inputs_.size(), "one tensor per input");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs_[i].type.is_held()) {
      COLLAGE_TRY_VOID(check_value("input " + std::to_string(i), inputs_[i].type, inputs[i]));
      inputs_[i].held = std::make_shared<const PlainValue>(inputs[i]);
      continue;
    }
    if (inputs[i].data.size() != inputs_[i].size)
      return fail(ExitCode::kBadInput, "input/wrong-shape", "input " + std::to_string(i),
                  to_string(inputs[i].value_type()), to_string(inputs_[i].type));
    std::memcpy(inputs_[i].bytes.get(), inputs[i].data.data(), inputs_[i].size);
  }
  return has_held_inputs_ ? bind() : Result<void>();
}

Result<std::vector<Tensor>> WholeModel::outputs() {
  std::vector<Tensor> result;
  for (std::size_t port : output_port_) {
    const Slot& slot = outputs_[port];
    if (slot.bytes) {
      result.push_back({.type = slot.type.element,
                        .extents = slot.type.extents(),
                        .data = Buffer::copy_of({slot.bytes.get(), slot.size}),
                        .strings = {}});
      continue;
    }
    COLLAGE_TRY(const DynamicOutput made, call_->dynamic_output(port));
    COLLAGE_TRY(result.emplace_back(), copy_of(made));
  }
  return result;
}

}  // namespace collage
