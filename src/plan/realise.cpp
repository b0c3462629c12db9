#include "plan/realise.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "backend/roles.h"
#include "base/hash.h"
#include "plan/blocks.h"
#include "plan/control.h"
#include "plan/memory.h"
#include "plan/slots.h"
#include "region/containment.h"
#include "region/operand_checks.h"

namespace collage {
namespace {

class Realiser {
 public:
  Realiser(const RealiseRequest& request, bool is_body)
      : request_(request), is_body_(is_body), graph_(*request.graph), conditions_(open_conditions(graph_)) {
    out_.plan = request.header;
    out_.plan.values.clear();
    out_.plan.inputs.clear();
    out_.plan.outputs.clear();
    out_.plan.steps.clear();
    out_.plan.artifacts.clear();
  }

  Result<RealisedPlan> run() {
    COLLAGE_TRY_VOID(add_inputs());
    COLLAGE_TRY_VOID(add_steps());
    for (const ValueId id : request_.kept_constants)
      if (graph_.value(id).constant->value_type().is_static()) (void)add_constant(id);
    COLLAGE_TRY_VOID(choose_outputs());
    assign_slots();
    COLLAGE_TRY_VOID(place_outputs());
    slots_.place();
    place_constant_views();
    if (is_body_) return std::move(out_);
    place_weights();
    COLLAGE_TRY_VOID(verify(out_.plan));
    return std::move(out_);
  }

 private:
  std::unexpected<Error> bad_cover(std::string where, std::string saw, std::string allowed) const {
    return fail(ExitCode::kBug, "plan/bad-cover", std::move(where), std::move(saw), std::move(allowed));
  }

  Result<std::size_t> bytes_of(const ValueType& type, const Format& format) const {
    if (!type.is_static()) return std::size_t{0};
    if (format.is_plain() || format.is_channels_last()) return byte_count(type.element, type.extents());
    if (!request_.format_bytes) return bad_cover(format.name, "a named format", "a way to ask for its bytes");
    return request_.format_bytes(type, format);
  }

  PlanIndex new_value(PlanValue value, std::size_t first) {
    lives_.push_back({.first = first, .last_read = first});
    const PlanIndex index = blocks_.add(value.bytes, value.storage != Storage::kArena);
    values().push_back(std::move(value));
    return index;
  }

  /// An engine that runs everything takes inputs of any extents; none of them is an output as it came.
  [[nodiscard]] bool may_be_open(ValueId input) const {
    const std::vector<CoverStep>& steps = request_.cover->steps;
    return steps.size() == 1 && steps.front().kind == StepKind::kKernel &&
           std::ranges::find(graph_.outputs, input) == graph_.outputs.end();
  }

  Result<void> add_inputs() {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      const Value& value = graph_.value(graph_.inputs[i]);
      if (!value.type.is_static() && !may_be_open(graph_.inputs[i]))
        return fail(ExitCode::kUnsupported, "plan/dynamic-value", value.name, to_string(value.type) + " as model input",
                    "a tensor whose every extent is bound, or one step that reads it");
      COLLAGE_TRY(const std::size_t bytes, bytes_of(value.type, plain()));
      const PlanIndex index = new_value({.name = value.name,
                                         .type = value.type,
                                         .format = plain(),
                                         .storage = Storage::kInput,
                                         .buffer = static_cast<std::uint32_t>(i),
                                         .offset = 0,
                                         .bytes = bytes},
                                        0);
      made_.emplace(std::pair{graph_.inputs[i], Place{}}, index);
      out_.plan.inputs.push_back(index);
    }
    return {};
  }

  PlanIndex add_constant(ValueId id) {
    const auto [found, is_new] = constants_.try_emplace(id, 0);
    if (!is_new) return found->second;
    const Value& value = graph_.value(id);
    COLLAGE_CHECK(value.constant.has_value(), "not a constant: " + value.name);
    found->second = new_value({.name = value.name,
                               .type = value.constant->value_type(),
                               .format = plain(),
                               .storage = Storage::kConstant,
                               .buffer = 0,
                               .offset = 0,
                               .bytes = value.constant->data.size()},
                              0);
    out_.constants.emplace(found->second, *value.constant);
    return found->second;
  }

  /// The plan value that holds `id` at `place` when step `reader` runs.
  Result<PlanIndex> read(ValueId id, const Place& place, std::size_t reader) {
    const Value& value = graph_.value(id);
    std::optional<PlanIndex> index;
    if (value.constant && place == Place{}) {
      index = add_constant(id);
    } else if (const auto found = made_.find({id, place}); found != made_.end()) {
      index = found->second;
    }
    if (!index)
      return bad_cover(value.name, fmt::format("a read in format {} at {}", place.format.name, place.location),
                       "an earlier step that makes it");
    if (!value.type.is_static() && values()[*index].storage != Storage::kInput)
      return fail(ExitCode::kUnsupported, "plan/dynamic-value", value.name, to_string(value.type) + " between steps",
                  "unknown shapes inside one step or as model outputs");
    lives_[*index].last_read = std::max(lives_[*index].last_read, reader);
    return *index;
  }

  /// A fresh plan value written by step `writer`. Of several writers of one value readers see the first.
  Result<PlanIndex> write(ValueId id, const Place& place, std::size_t writer) {
    const Value& value = graph_.value(id);
    const bool is_home = place.location == kHome;
    if (!is_home && !value.type.is_static())
      return fail(ExitCode::kUnsupported, "plan/dynamic-value", value.name, to_string(value.type) + " at a device",
                  "unknown shapes at home");
    COLLAGE_TRY(const std::size_t bytes, bytes_of(value.type, place.format));
    const Storage storage = !value.type.is_static() ? Storage::kDynamic : is_home ? Storage::kArena : Storage::kDevice;
    const PlanIndex index = new_value({.name = value.name,
                                       .type = value.type,
                                       .format = place.format,
                                       .storage = storage,
                                       .buffer = 0,
                                       .offset = 0,
                                       .bytes = bytes,
                                       .location = place.location},
                                      writer);
    made_.emplace(std::pair{id, place}, index);
    return index;
  }

  Result<void> add_steps() {
    const std::vector<CoverStep>& steps = request_.cover->steps;
    std::span<const Artifact* const> artifacts = request_.artifacts;
    if (artifacts.size() != step_count(*request_.cover))
      return bad_cover("cover", fmt::format("{} artifacts", artifacts.size()),
                       fmt::format("one for each of {} steps", step_count(*request_.cover)));
    for (const CoverStep& step : steps) {
      const Artifact* own = artifacts.front();
      artifacts = artifacts.subspan(1);
      if (step.kind == StepKind::kControl) {
        COLLAGE_TRY_VOID(add_control_step(step, artifacts));
      } else {
        COLLAGE_TRY_VOID(add_step(step, own));
      }
    }
    return {};
  }

  // ---- control-flow operators -----------------------------------------------------------------------------
  /// Takes the artifacts of the bodies' steps from the front of `artifacts`.
  Result<void> add_control_step(const CoverStep& from, std::span<const Artifact* const>& artifacts) {
    const std::size_t index = out_.plan.steps.size();
    const std::size_t number = from.region.nodes.next();
    if (from.region.nodes.count() != 1 || number >= graph_.nodes.size())
      return bad_cover(fmt::format("step {}", index), "a control step of several nodes", "one node");
    const Node& node = graph_.nodes[number];
    if (const auto refusal = refuse_bodies(graph_, node))
      return bad_cover(node.name, refusal->detail, "a placeable body");
    PlanStep step;
    step.kind = StepKind::kControl;
    step.backend = from.backend;
    step.variant = from.variant.name;
    step.nodes = {node.name};
    step.runner_up = from.runner_up;
    set_cost(step, from.cost);
    step.control = control_form(graph_, node);
    COLLAGE_TRY_VOID(add_operands(step, node, index));
    const std::vector<Graph> bodies = free_bodies(graph_, node);
    if (bodies.size() != from.bodies.size())
      return bad_cover(node.name, fmt::format("{} covers of bodies", from.bodies.size()), "one for each body");
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      const std::size_t count = step_count(from.bodies[b]);
      COLLAGE_TRY(RealisedPlan body, realise_body(bodies[b], from.bodies[b], artifacts.first(count)));
      artifacts = artifacts.subspan(count);
      for (const ValueId id : captures_of(graph_, node, b)) {
        COLLAGE_TRY(const PlanIndex captured, read_operand(step, id, index));
        body.plan.captures.push_back(captured);
      }
      COLLAGE_TRY_VOID(adopt(step, node, std::move(body)));
    }
    for (const ValueId id : node.outputs) {
      step.control->results.push_back(kNoValue);
      if (!id.valid()) continue;
      COLLAGE_TRY(step.control->results.back(), write(id, {}, index));
      step.outputs.push_back(step.control->results.back());
    }
    step.workspace_bytes = control_layout(step).bytes;
    in_place_.emplace_back();
    out_.plan.steps.push_back(std::move(step));
    return {};
  }

  Result<void> add_operands(PlanStep& step, const Node& node, std::size_t index) {
    for (const ValueId id : node.inputs) {
      step.control->operands.push_back(kNoValue);
      if (!id.valid()) continue;
      COLLAGE_TRY(step.control->operands.back(), read_operand(step, id, index));
    }
    return {};
  }

  Result<PlanIndex> read_operand(PlanStep& step, ValueId id, std::size_t index) {
    COLLAGE_TRY(const PlanIndex value, read(id, {}, index));
    if (std::ranges::find(step.inputs, value) == step.inputs.end()) step.inputs.push_back(value);
    return value;
  }

  Result<RealisedPlan> realise_body(const Graph& body, const Cover& cover,
                                    std::span<const Artifact* const> artifacts) const {
    RealiseRequest request;
    request.graph = &body;
    request.cover = &cover;
    request.artifacts.assign(artifacts.begin(), artifacts.end());
    request.format_bytes = request_.format_bytes;
    request.copy_artifact = request_.copy_artifact;
    COLLAGE_TRY(RealisedPlan realised, Realiser(request, true).run());
    for (const PlanIndex output : realised.plan.outputs)
      if (const PlanValue& value = realised.plan.values[output]; value.storage == Storage::kDynamic)
        return fail(ExitCode::kUnsupported, "plan/dynamic-value", value.name, to_string(value.type) + " from a body",
                    "known shapes at a body's border");
    return realised;
  }

  /// Makes a realised body part of the step; its constants and artifacts become the plan's.
  Result<void> adopt(PlanStep& step, const Node& node, RealisedPlan body) {
    PlanBody& inner = body.plan;
    inner.name = bodies_of(node)[step.bodies.size()]->name;
    for (const auto& [index, tensor] : body.constants)
      inner.values[index].buffer = constant_with_bytes_of(tensor, node, inner.name + "." + inner.values[index].name);
    for (auto& [hash, bytes] : body.artifacts) {
      const auto listed = std::ranges::find(body.plan.artifacts, hash, &PlanArtifact::hash);
      list_artifact(hash, listed->compatibility);
      out_.artifacts.emplace(hash, std::move(bytes));
    }
    step.bodies.push_back(std::move(inner));
    return {};
  }

  /// The plan's constant for a body's: one that is there already, or a new one.
  PlanIndex constant_with_bytes_of(const Tensor& tensor, const Node& node, std::string name) {
    const auto key = std::pair{static_cast<const void*>(tensor.data.data()), tensor.data.size()};
    for (const ValueId id : node.captures)
      if (const auto& outer = graph_.value(id).constant;
          outer && std::pair{static_cast<const void*>(outer->data.data()), outer->data.size()} == key)
        return add_constant(id);
    const auto [found, is_new] = adopted_.try_emplace(key, 0);
    if (!is_new) return found->second;
    const auto is_taken = [&](const Value& value) { return value.name == name; };
    while (std::ranges::any_of(graph_.values, is_taken)) name += "'";
    found->second = new_value({.name = std::move(name),
                               .type = tensor.value_type(),
                               .format = plain(),
                               .storage = Storage::kConstant,
                               .buffer = 0,
                               .offset = 0,
                               .bytes = tensor.data.size()},
                              0);
    out_.constants.emplace(found->second, tensor);
    return found->second;
  }

  Result<void> add_step(const CoverStep& from, const Artifact* artifact) {
    PlanStep step;
    step.kind = from.kind;
    step.backend = from.backend;
    step.variant = from.variant.name;
    step.runner_up = from.runner_up;
    set_cost(step, from.cost);
    const std::optional<Containment> containment = containment_in(from);
    if (containment && containment->whole == from.region.outputs.front())
      return add_concatenation(std::move(step), from, *containment);
    const std::size_t index = out_.plan.steps.size();
    const bool renames_format = from.kind == StepKind::kView && from.region.outputs.empty();
    if (is_boundary(from.kind) || renames_format) {
      COLLAGE_TRY_VOID(add_conversion_ports(step, from, index));
    } else {
      COLLAGE_TRY_VOID(add_region_ports(step, from, index));
    }
    if (from.kind == StepKind::kView) {
      COLLAGE_TRY_VOID(show_outputs(step, from, containment));
    } else if (has_artifact(from.kind)) {
      if (artifact == nullptr) return bad_cover(fmt::format("step {}", index), "no artifact", "one");
      add_artifact(step, *artifact);
    }
    in_place_.push_back(artifact == nullptr ? InPlace{} : artifact->in_place);
    out_.plan.steps.push_back(std::move(step));
    return {};
  }

  static void set_cost(PlanStep& step, const Cost& cost) {
    if (const auto* measured = std::get_if<Measured>(&cost)) {
      step.cost_ns = measured->median_ns;
      step.cost_low_ns = measured->low_ns;
      step.cost_high_ns = measured->high_ns;
    } else if (const auto* estimated = std::get_if<Estimated>(&cost)) {
      step.cost_ns = step.cost_low_ns = step.cost_high_ns = estimated->ns;
      step.is_estimated = true;
    }
  }

  Result<void> add_conversion_ports(PlanStep& step, const CoverStep& from, std::size_t index) {
    COLLAGE_TRY(const PlanIndex input, read(from.value, {from.from_location, from.from}, index));
    COLLAGE_TRY(const PlanIndex output, write(from.value, {from.to_location, from.to}, index));
    if (from.kind != StepKind::kTransfer) step.location = from.from_location;
    step.inputs = {input};
    step.outputs = {output};
    return {};
  }

  Result<void> add_region_ports(PlanStep& step, const CoverStep& from, std::size_t index) {
    const Region& region = from.region;
    const Variant& variant = from.variant;
    if (variant.input_formats.size() != region.inputs.size() || variant.output_formats.size() != region.outputs.size())
      return bad_cover(fmt::format("step {}", index), "a variant with other port counts", "one format for each port");
    step.location = from.location;
    for (const std::size_t node : region.nodes.members()) {
      step.nodes.push_back(graph_.nodes[node].name);
      if (region.repeats(node)) step.repeated.push_back(graph_.nodes[node].name);
    }
    for (std::size_t i = 0; i < region.inputs.size(); ++i) {
      COLLAGE_TRY(const PlanIndex input, read(region.inputs[i], {from.location, variant.input_formats[i]}, index));
      step.inputs.push_back(input);
    }
    if (from.kind == StepKind::kView) COLLAGE_TRY_VOID(keep_data_input(step, region, index));
    if (from.kind == StepKind::kKernel && from.location == kHome) COLLAGE_TRY_VOID(add_checks(step, region));
    for (std::size_t i = 0; i < region.outputs.size(); ++i) {
      COLLAGE_TRY(const PlanIndex output, write(region.outputs[i], {from.location, variant.output_formats[i]}, index));
      step.outputs.push_back(output);
    }
    return {};
  }

  /// What enters the region and the plan looks at; what only the backend can look at was settled when it got the
  /// region.
  Result<void> add_checks(PlanStep& step, const Region& region) {
    for (const OperandCheck& check : operand_checks(graph_, conditions_, region).at_entry) {
      PlanCheck made{.rule = check.condition.rule,
                     .ranges = check.condition.ranges,
                     .op_type = check.asker->op_type,
                     .node = check.asker->name};
      COLLAGE_TRY(made.value, checked_value(step, region, check.condition.value));
      if (made.rule == OperandRule::kNoOverflow) {
        COLLAGE_TRY(made.dividend, checked_value(step, region, check.condition.dividend));
      }
      // What several nodes ask alike is looked at once, for the first of them.
      const auto is_asked = [&](const PlanCheck& other) {
        return other.rule == made.rule && other.value == made.value && other.dividend == made.dividend &&
               other.ranges == made.ranges;
      };
      if (std::ranges::none_of(step.checks, is_asked)) step.checks.push_back(std::move(made));
    }
    return {};
  }

  Result<PlanIndex> checked_value(const PlanStep& step, const Region& region, ValueId id) {
    if (graph_.value(id).constant) return add_constant(id);
    const PlanIndex index =
        step.inputs[static_cast<std::size_t>(std::ranges::find(region.inputs, id) - region.inputs.begin())];
    const Format& format = values()[index].format;
    if (!format.is_plain() && !format.is_channels_last())  // one range for all: the order of elements does not matter
      return bad_cover(graph_.value(id).name, "indices or divisors in format " + format.name, "plain ones");
    return index;
  }

  /// A view shows its node's first input; a computed shape operand is read by nobody.
  Result<void> keep_data_input(PlanStep& step, const Region& region, std::size_t index) {
    const std::vector<std::size_t> nodes = region.nodes.members();
    if (nodes.size() != 1) return bad_cover(fmt::format("step {}", index), "a view of several nodes", "one node");
    const ValueId data = input_of(graph_.nodes[nodes.front()], 0);
    if (data.valid() && graph_.value(data).constant) {
      step.inputs = {add_constant(data)};
      return {};
    }
    const auto port = std::ranges::find(region.inputs, data);
    if (port == region.inputs.end())
      return bad_cover(fmt::format("step {}", index), "a view without its data input", "the node's first input");
    step.inputs = {step.inputs[static_cast<std::size_t>(port - region.inputs.begin())]};
    return {};
  }

  /// Where parts lie in a whole; nothing for views of everything, and for what is no view.
  [[nodiscard]] std::optional<Containment> containment_in(const CoverStep& from) const {
    if (from.kind != StepKind::kView || from.region.outputs.empty()) return std::nullopt;
    const std::size_t node = from.region.nodes.next();
    if (node >= graph_.nodes.size()) return std::nullopt;
    return containment_of(graph_, graph_.nodes[node], from.variant.output_formats.front());
  }

  /// A view's outputs show the bytes of its input: all of them, or a part.
  Result<void> show_outputs(const PlanStep& step, const CoverStep& from,
                            const std::optional<Containment>& containment) {
    const PlanIndex input = step.inputs.front();
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
      const PlanIndex output = step.outputs[i];
      const auto is_this = [&](const ContainedPart& part) { return part.value == from.region.outputs[i]; };
      if (containment) {
        blocks_.show(output, input, std::ranges::find_if(containment->parts, is_this)->offset);
      } else if (values()[output].bytes == values()[input].bytes) {
        blocks_.show(output, input, 0);
      } else {
        return bad_cover(values()[output].name, "a view of another size", "the bytes of its input");
      }
    }
    return {};
  }

  /// A concatenation whose parts are written at their places in the whole; those that cannot be are copied there.
  Result<void> add_concatenation(PlanStep step, const CoverStep& from, const Containment& containment) {
    const Place place{from.location, from.variant.output_formats.front()};
    step.location = from.location;
    step.nodes = {graph_.nodes[from.region.nodes.next()].name};
    COLLAGE_TRY(const PlanIndex whole, write(containment.whole, place, out_.plan.steps.size()));
    std::vector<Blocks::Part> parts;
    for (const ContainedPart& part : containment.parts) {
      COLLAGE_TRY(const PlanIndex value, read(part.value, place, out_.plan.steps.size()));
      parts.push_back({value, part.offset});
    }
    if (parts.size() == 1)
      blocks_.show(whole, parts.front().value, 0);
    else
      COLLAGE_TRY_VOID(place_parts(whole, parts));
    for (const Blocks::Part& part : parts) {
      lives_[part.value].last_read = std::max(lives_[part.value].last_read, out_.plan.steps.size());
      step.inputs.push_back(part.value);
    }
    step.outputs = {whole};
    in_place_.emplace_back();
    out_.plan.steps.push_back(std::move(step));
    return {};
  }

  /// Puts the parts at their places, or copies of them, which then stand for them in `parts`.
  Result<void> place_parts(PlanIndex whole, std::vector<Blocks::Part>& parts) {
    const std::vector<bool> placed = blocks_.join(whole, parts);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (placed[i]) continue;
      COLLAGE_TRY(parts[i].value, add_copy(parts[i].value, Storage::kArena, 0));
      blocks_.fill(parts[i].value, whole, parts[i].offset);
    }
    return {};
  }

  void add_artifact(PlanStep& step, const Artifact& artifact) {
    step.artifact = artifact_hash(artifact.bytes, artifact.compatibility);
    step.workspace_bytes = artifact.workspace_bytes;
    for (const ValueId constant : artifact.constants) step.constants.push_back(add_constant(constant));
    if (out_.artifacts.contains(step.artifact)) return;
    list_artifact(step.artifact, artifact.compatibility);
    out_.artifacts.emplace(step.artifact, Buffer::copy_of(std::as_bytes(std::span(artifact.bytes))));
  }

  void list_artifact(const std::string& hash, const std::string& compatibility) {
    const auto place = std::ranges::lower_bound(out_.plan.artifacts, hash, {}, &PlanArtifact::hash);
    if (place == out_.plan.artifacts.end() || place->hash != hash)
      out_.plan.artifacts.insert(place, {.hash = hash, .compatibility = compatibility});
  }

  /// Finds the plan value behind each model output and keeps it alive to the end.
  Result<void> choose_outputs() {
    for (const ValueId id : graph_.outputs) {
      const Value& value = graph_.value(id);
      if (value.constant) {
        sources_.push_back(add_constant(id));
      } else if (const auto found = made_.find({id, Place{}}); found != made_.end()) {
        sources_.push_back(found->second);
      } else {
        return bad_cover(value.name, "no step that makes this model output in format plain", "one");
      }
      lives_[sources_.back()].last_read = kForever;
    }
    return {};
  }

  void assign_slots() {
    std::vector<PlanIndex> own;
    for (const auto& [index, tensor] : out_.constants) own.push_back(index);
    own.insert(own.end(), out_.plan.inputs.begin(), out_.plan.inputs.end());
    slots_.assign(own);
  }

  /// The first output that fills an arena slot turns the slot into its buffer; the others are copied at the end.
  Result<void> place_outputs() {
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      const PlanIndex source = sources_[k];
      if (values()[source].storage == Storage::kDynamic ||
          slots_.become_output(source, static_cast<std::uint32_t>(k))) {
        out_.plan.outputs.push_back(source);
        continue;
      }
      COLLAGE_TRY(const PlanIndex copy, add_copy(source, Storage::kOutput, static_cast<std::uint32_t>(k)));
      slots_.add(copy);
      out_.plan.outputs.push_back(copy);
    }
    return {};
  }

  /// A step that copies a value, and the value it writes.
  Result<PlanIndex> add_copy(PlanIndex source, Storage storage, std::uint32_t buffer) {
    const PlanValue from = values()[source];
    if (!request_.copy_artifact) return bad_cover(from.name, "a value that needs a copy", "a way to make copy kernels");
    COLLAGE_TRY(const Artifact artifact, request_.copy_artifact({from.type, plain(), plain()}));
    const std::size_t index = out_.plan.steps.size();
    lives_[source].last_read = std::max(lives_[source].last_read, index);
    const PlanIndex copy = new_value({.name = from.name,
                                      .type = from.type,
                                      .format = from.format,
                                      .storage = storage,
                                      .buffer = buffer,
                                      .offset = 0,
                                      .bytes = from.bytes},
                                     index);
    PlanStep step;
    step.kind = StepKind::kConvert;
    step.backend = kHostBackend;
    step.variant = "copy";
    step.inputs = {source};
    step.outputs = {copy};
    add_artifact(step, artifact);
    in_place_.emplace_back();
    out_.plan.steps.push_back(std::move(step));
    return copy;
  }

  /// Offsets in weights.bin in the order of first use, and the hash of all weights.
  void place_weights() {
    std::size_t end = 0;
    std::string hashes;
    for (const auto& [index, tensor] : out_.constants) {
      if (root_of(index) != index) continue;
      values()[index].offset = end;
      end += aligned_up(tensor.data.size());
      hashes += hash_hex(tensor.data.data(), tensor.data.size());
    }
    out_.plan.weights_bytes = end;
    if (out_.plan.weights_hash.empty()) out_.plan.weights_hash = hash_hex(hashes);
    for (const auto& [index, tensor] : out_.constants)
      values()[index].offset = values()[root_of(index)].offset + blocks_.offset_of(index);
    for (PlanStep& step : out_.plan.steps)
      for (PlanBody& body : step.bodies) place_shared_constants(out_.plan, body);
  }

  /// Constants of a body lie where the value around it lies whose bytes they are.
  static void place_shared_constants(const PlanBody& around, PlanBody& body) {
    for (PlanValue& value : body.values)
      if (value.storage == Storage::kConstant) value.offset = around.values[value.buffer].offset;
    for (PlanStep& step : body.steps)
      for (PlanBody& inner : step.bodies) place_shared_constants(body, inner);
  }

  /// A view of a constant is a constant of another shape.
  void place_constant_views() {
    for (PlanIndex i = 0; i < values().size(); ++i) {
      if (values()[i].storage != Storage::kConstant || root_of(i) == i) continue;
      Tensor tensor = out_.constants.at(root_of(i));
      tensor.extents = values()[i].type.extents();
      tensor.data = tensor.data.slice(blocks_.offset_of(i), values()[i].bytes);
      out_.constants.emplace(i, std::move(tensor));
    }
  }

  [[nodiscard]] PlanIndex root_of(PlanIndex constant) const { return blocks_.root_of(blocks_.block_of(constant)); }

  std::vector<PlanValue>& values() { return out_.plan.values; }
  const std::vector<PlanValue>& values() const { return out_.plan.values; }

  const RealiseRequest& request_;
  const bool is_body_;
  const Graph& graph_;
  std::vector<OpenCondition> conditions_;
  RealisedPlan out_;
  std::vector<Life> lives_;        ///< by plan value
  Blocks blocks_;                  ///< of plan values
  std::vector<InPlace> in_place_;  ///< by step
  Slots slots_{{.plan = out_.plan, .blocks = blocks_, .lives = lives_, .ports = in_place_}};
  std::map<std::pair<ValueId, Place>, PlanIndex> made_;  ///< computed values, by place
  std::map<ValueId, PlanIndex> constants_;
  std::map<std::pair<const void*, std::size_t>, PlanIndex> adopted_;  ///< constants of bodies, by their bytes
  std::vector<PlanIndex> sources_;                                    ///< by model output: the value it comes from
};

}  // namespace

std::vector<std::size_t> cover_steps(const PlanBody& plan) {
  std::vector<std::size_t> steps;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const PlanStep& step = plan.steps[s];
    const bool is_copy = step.kind == StepKind::kConvert && step.nodes.empty() && step.inputs.size() == 1 &&
                         step.outputs.size() == 1 &&
                         plan.values[step.inputs.front()].format == plan.values[step.outputs.front()].format;
    if (!is_copy) steps.push_back(s);
  }
  return steps;
}

Result<RealisedPlan> realise(const RealiseRequest& request) { return Realiser(request, false).run(); }

}  // namespace collage
