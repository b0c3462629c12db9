#include "plan/realise/plan_draft.h"

#include "plan/add_artifact.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "backend/roles.h"

namespace collage {
namespace {

/// A step around a body gives it tensors of known rank. An engine that runs everything takes inputs of any extents;
/// none of them is an output as it came.
bool may_be_open(const RealiseRequest& request, ValueId input) {
  if (request.is_body) return request.graph->value(input).type.is_open();
  const std::vector<CoverStep>& steps = request.cover->steps;
  return steps.size() == 1 && is_kernel(steps.front()) &&
         std::ranges::find(request.graph->outputs, input) == request.graph->outputs.end();
}

}  // namespace

std::unexpected<Error> bad_cover(std::string where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBug, "plan/bad-cover", std::move(where), std::move(saw), std::move(allowed));
}

PlanDraft::PlanDraft(const RealiseRequest& request) : request_(request), graph_(*request.graph) {
  out_.plan = request.header;
  out_.plan.values.clear();
  out_.plan.inputs.clear();
  out_.plan.outputs.clear();
  out_.plan.steps.clear();
  out_.plan.artifacts.clear();
}

Result<std::size_t> PlanDraft::bytes_of(const ValueType& type, const Format& format) const {
  if (!type.is_static()) return std::size_t{0};
  if (const auto bytes = common_format_bytes(type, format)) return *bytes;
  if (!request_.format_bytes) return bad_cover(format.name, "a named format", "a way to ask for its bytes");
  return request_.format_bytes(type, format);
}

PlanIndex PlanDraft::new_value(PlanValue value, std::size_t first) {
  lives_.push_back({.first = first, .last_read = first});
  const PlanIndex index = blocks_.add(value.bytes, value.storage != Storage::kArena);
  values().push_back(std::move(value));
  return index;
}

Result<void> PlanDraft::add_inputs() {
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
    const Value& value = graph_.value(graph_.inputs[i]);
    if (!value.type.is_static() && !value.type.is_held() && !may_be_open(request_, graph_.inputs[i]))
      return fail(ExitCode::kUnsupported, "plan/dynamic-value", value.name, to_string(value.type) + " as model input",
                  "a tensor whose every extent is bound, or one step that reads it");
    COLLAGE_TRY(const std::size_t bytes, bytes_of(value.type, plain()));
    const bool is_given = request_.is_body && value.type.is_open();
    const PlanIndex index = new_value({.name = value.name,
                                       .type = value.type,
                                       .storage = is_given ? Storage::kDynamic : Storage::kInput,
                                       .buffer = static_cast<std::uint32_t>(i),
                                       .offset = 0,
                                       .bytes = bytes},
                                      0);
    made_.emplace(std::pair{graph_.inputs[i], Place{}}, index);
    out_.plan.inputs.push_back(index);
  }
  return {};
}

PlanIndex PlanDraft::add_constant(ValueId id) {
  const auto [found, is_new] = constants_.try_emplace(id, 0);
  if (!is_new) return found->second;
  const Value& value = graph_.value(id);
  COLLAGE_CHECK(value.constant.has_value(), "not a constant: " + value.name);
  found->second = new_value({.name = value.name,
                             .type = value.constant->value_type(),
                             .storage = Storage::kConstant,
                             .buffer = 0,
                             .offset = 0,
                             .bytes = value.constant->data.size()},
                            0);
  out_.constants.emplace(found->second, *value.constant);
  return found->second;
}

Result<PlanIndex> PlanDraft::read(ValueId id, const Place& place, std::size_t reader) {
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
  const Storage storage = values()[*index].storage;
  const bool can_be_read =
      value.type.is_static() || storage == Storage::kInput ||
      (storage == Storage::kDynamic && (value.type.is_open() || value.type.is_held()) && place == Place{});
  if (!can_be_read)
    return fail(ExitCode::kUnsupported, "plan/dynamic-value", value.name, to_string(value.type) + " between steps",
                "tensors of known rank, strings, sequences, optionals and maps between steps");
  lives_[*index].last_read = std::max(lives_[*index].last_read, reader);
  return *index;
}

Result<PlanIndex> PlanDraft::write(ValueId id, const Place& place, std::size_t writer) {
  const Value& value = graph_.value(id);
  const bool is_home = place.location == kHome;
  if (!is_home && !value.type.is_static())
    return fail(ExitCode::kUnsupported, "plan/dynamic-value", value.name, to_string(value.type) + " at a device",
                "unknown shapes at home");
  COLLAGE_TRY(const std::size_t bytes, bytes_of(value.type, place.format));
  const Storage storage = !value.type.is_static() ? Storage::kDynamic : is_home ? Storage::kArena : Storage::kDevice;
  const PlanIndex index = new_value({.name = value.name,
                                     .type = value.type,
                                     .place = place,
                                     .storage = storage,
                                     .buffer = 0,
                                     .offset = 0,
                                     .bytes = bytes},
                                    writer);
  made_.emplace(std::pair{id, place}, index);
  return index;
}

StepArtifact PlanDraft::add_artifact(const Artifact& artifact) {
  StepArtifact added{.hash = collage::add_artifact(out_, artifact.bytes, artifact.compatibility),
                     .workspace = {.bytes = artifact.workspace_bytes}};
  for (const ValueId constant : artifact.constants) added.constants.push_back(add_constant(constant));
  return added;
}

Result<PlanIndex> PlanDraft::add_copy(PlanIndex source, Storage storage, std::uint32_t buffer) {
  const PlanValue from = values()[source];
  if (!request_.copy_artifact) return bad_cover(from.name, "a value that needs a copy", "a way to make copy kernels");
  COLLAGE_TRY(const Artifact artifact, request_.copy_artifact({.type = from.type}));
  const std::size_t index = out_.plan.steps.size();
  lives_[source].last_read = std::max(lives_[source].last_read, index);
  const PlanIndex copy = new_value({.name = from.name,
                                    .type = from.type,
                                    .place = {.format = from.place.format},
                                    .storage = storage,
                                    .buffer = buffer,
                                    .offset = 0,
                                    .bytes = from.bytes},
                                   index);
  PlanStep step;
  step.backend = kHostBackend;
  step.variant = "copy";
  step.inputs = {source};
  step.outputs = {copy};
  step.work = PlanConversion{.artifact = add_artifact(artifact)};
  add_step(std::move(step), {});
  return copy;
}

PlanIndex PlanDraft::add_constant(const Tensor& tensor, std::string name) {
  const auto key = std::pair{static_cast<const void*>(tensor.data.data()), tensor.data.size()};
  const auto [found, is_new] = adopted_.try_emplace(key, 0);
  if (!is_new) return found->second;
  const auto is_taken = [&](const Value& value) { return value.name == name; };
  while (std::ranges::any_of(graph_.values, is_taken)) name += "'";
  found->second = new_value({.name = std::move(name),
                             .type = tensor.value_type(),
                             .storage = Storage::kConstant,
                             .buffer = 0,
                             .offset = 0,
                             .bytes = tensor.data.size()},
                            0);
  out_.constants.emplace(found->second, tensor);
  return found->second;
}

std::optional<PlanIndex> PlanDraft::find_made(ValueId id, const Place& place) const {
  const auto found = made_.find({id, place});
  return found == made_.end() ? std::nullopt : std::optional(found->second);
}

void PlanDraft::add_step(PlanStep step, InPlace in_place) {
  in_place_.push_back(std::move(in_place));
  out_.plan.steps.push_back(std::move(step));
}

void PlanDraft::keep_until(PlanIndex value, std::size_t step) {
  lives_[value].last_read = std::max(lives_[value].last_read, step);
}

}  // namespace collage
