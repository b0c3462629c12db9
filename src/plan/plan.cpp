#include "plan/plan.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/hash.h"
#include "plan/control.h"
#include "plan/damaged.h"
#include "plan/memory.h"
#include "plan/open_values.h"
#include "plan/overwrites.h"

namespace collage {
namespace {

/// Bytes a value needs where that is known here: static tensors in the two common formats.
std::size_t least_bytes(const PlanValue& value) {
  return common_format_bytes(value.type, value.place.format).value_or(0);
}

/// The check of a model's values and steps, or of one body's; bodies inside are checked alike.
class Verifier {
 public:
  Verifier(const Plan& plan, const PlanBody& body, const PlanBody* around, std::string where)
      : plan_(plan), body_(body), around_(around), where_(std::move(where)) {}

  Result<void> run() {
    if (body_.values.size() >= kNoValue) return damaged(where_ + "values", "too many", "fewer than 2^32 - 1");
    COLLAGE_TRY_VOID(check_ports());
    for (std::size_t i = 0; i < body_.values.size(); ++i) COLLAGE_TRY_VOID(check_value(static_cast<PlanIndex>(i)));
    written_.assign(body_.values.size(), false);
    for (std::size_t i = 0; i < body_.values.size(); ++i) written_[i] = body_.values[i].storage == Storage::kConstant;
    for (const PlanIndex input : body_.inputs) written_[input] = true;
    for (std::size_t i = 0; i < body_.steps.size(); ++i)
      COLLAGE_TRY_VOID(check_step(body_.steps[i], where_ + fmt::format("step {}", i)));
    for (const PlanIndex output : body_.outputs)
      if (!written_[output]) return damaged(label(output), "an output that no step writes", "a write");
    COLLAGE_TRY_VOID(check_overwrites(body_, where_));
    return check_arenas();
  }

 private:
  [[nodiscard]] std::string label(PlanIndex index) const {
    return where_ + fmt::format("value {} ({})", index, body_.values[index].name);
  }

  /// Nothing where the plan has no arena.
  [[nodiscard]] std::optional<std::size_t> arena_bytes_at(const std::string& location) const {
    if (location == kHome) return body_.arena_bytes;
    const auto found = plan_.device_arena_bytes.find(location);
    if (found == plan_.device_arena_bytes.end() || around_ != nullptr) return std::nullopt;
    return found->second;
  }

  /// The bytes that the storage of a value has; nothing when the value names no such storage.
  [[nodiscard]] std::optional<std::size_t> storage_bytes(const PlanValue& value) const {
    const auto buffer_bytes = [&](const std::vector<PlanIndex>& list) -> std::optional<std::size_t> {
      if (value.buffer >= list.size()) return std::nullopt;
      return body_.values[list[value.buffer]].bytes;
    };
    switch (value.storage) {
      case Storage::kInput:
        return buffer_bytes(body_.inputs);
      case Storage::kOutput:
        return buffer_bytes(body_.outputs);
      case Storage::kArena:
        return body_.arena_bytes;
      case Storage::kDevice:
        return arena_bytes_at(value.place.location);
      case Storage::kConstant:
        return plan_.weights_bytes;
      case Storage::kDynamic:
        return std::numeric_limits<std::size_t>::max();
    }
    return std::nullopt;
  }

  /// A model's input with dimensions that are known when a context is made.
  [[nodiscard]] bool is_open_input(PlanIndex index) const {
    const PlanValue& value = body_.values[index];
    return around_ == nullptr && value.storage == Storage::kInput && body_.inputs[value.buffer] == index &&
           value.bytes == 0 && value.type.kind == ValueKind::kTensor && value.type.shape &&
           bits_of(value.type.element) > 0 && !value.type.is_static();
  }

  /// A model's input that is no bytes.
  [[nodiscard]] bool is_held_input(PlanIndex index) const {
    const PlanValue& value = body_.values[index];
    return around_ == nullptr && value.storage == Storage::kInput && body_.inputs[value.buffer] == index &&
           value.bytes == 0 && value.offset == 0 && value.type.is_held();
  }

  /// An input of a body whose extents are known only while the plan runs.
  [[nodiscard]] bool is_given_input(PlanIndex index) const {
    const PlanValue& value = body_.values[index];
    return around_ != nullptr && is_open_tensor(value) && value.buffer < body_.inputs.size() &&
           body_.inputs[value.buffer] == index && value.bytes == 0 && value.offset == 0;
  }

  /// Readers are told its extents when they run, or when a context is made.
  [[nodiscard]] bool has_open_shape(PlanIndex index) const {
    return is_open_input(index) || is_held_input(index) || body_.values[index].storage == Storage::kDynamic;
  }

  /// A control step passes tensors on that were made during the run.
  [[nodiscard]] bool takes_open(const PlanStep& step, PlanIndex index) const {
    return std::holds_alternative<PlanControl>(step.work) && is_open_tensor(body_.values[index]);
  }

  [[nodiscard]] Result<void> check_value(PlanIndex index) const {
    const PlanValue& value = body_.values[index];
    const std::optional<std::size_t> available = storage_bytes(value);
    if (!available) return damaged(label(index), "a buffer that does not exist", "a model input, output or device");
    if ((value.storage == Storage::kDevice) != (value.place.location != kHome))
      return damaged(label(index), fmt::format("{} at {}", name_of(value.storage), value.place.location),
                     "storage of the value's location");
    if (value.storage != Storage::kDynamic && !value.type.is_static() && !is_open_input(index) && !is_held_input(index))
      return damaged(label(index), to_string(value.type), "a static tensor");
    if ((value.storage == Storage::kDynamic || value.type.is_held()) && !value.place.format.is_plain())
      return damaged(label(index), value.place.format.name, "plain, for a value of open shape");
    if (value.storage == Storage::kConstant && !value.place.format.is_plain())
      return damaged(label(index), value.place.format.name, "plain, for a constant");
    if (value.offset % kBufferAlignment != 0)
      return damaged(label(index), fmt::format("offset {}", value.offset), "a multiple of 64");
    if (value.offset > *available || value.bytes > *available - value.offset)
      return damaged(label(index), fmt::format("{} bytes at {}", value.bytes, value.offset),
                     fmt::format("at most {} bytes of {}", *available, name_of(value.storage)));
    if (is_common(value.place.format) && !can_have_common_format(value.type, value.place.format))
      return damaged(label(index), value.place.format.name, "a format that " + to_string(value.type) + " can have");
    if (value.bytes < least_bytes(value))
      return damaged(label(index), fmt::format("{} bytes", value.bytes),
                     fmt::format("{} bytes for {}", least_bytes(value), to_string(value.type)));
    if (value.storage == Storage::kConstant && around_ != nullptr) return check_shared_constant(index);
    return {};
  }

  [[nodiscard]] Result<void> check_shared_constant(PlanIndex index) const {
    const PlanValue& value = body_.values[index];
    if (value.buffer < around_->values.size()) {
      const PlanValue& outer = around_->values[value.buffer];
      if (outer.storage == Storage::kConstant && outer.offset == value.offset && outer.bytes >= value.bytes) return {};
    }
    return damaged(label(index), fmt::format("value {} around the body", value.buffer), "a constant with its bytes");
  }

  [[nodiscard]] Result<void> check_ports() const {
    for (std::size_t i = 0; i < body_.inputs.size(); ++i) {
      if (body_.inputs[i] >= body_.values.size())
        return damaged(where_ + "inputs", "an index past the values", "a value");
      const PlanValue& value = body_.values[body_.inputs[i]];
      const bool in_place = value.storage == Storage::kInput && value.buffer == i && value.offset == 0;
      if (!in_place && !(is_given_input(body_.inputs[i]) && value.buffer == i))
        return damaged(label(body_.inputs[i]), std::string(name_of(value.storage)), "the start of its input");
      COLLAGE_TRY_VOID(check_border(body_.inputs[i]));
    }
    for (std::size_t i = 0; i < body_.outputs.size(); ++i) {
      if (body_.outputs[i] >= body_.values.size())
        return damaged(where_ + "outputs", "an index past the values", "a value");
      const PlanValue& value = body_.values[body_.outputs[i]];
      const bool in_place = value.storage == Storage::kOutput && value.buffer == i && value.offset == 0;
      if (!in_place && value.storage != Storage::kDynamic && !is_held_input(body_.outputs[i]))
        return damaged(label(body_.outputs[i]), std::string(name_of(value.storage)), "the start of its output");
      COLLAGE_TRY_VOID(check_border(body_.outputs[i]));
    }
    return {};
  }

  /// The caller's memory has the model's own elements in ONNX order.
  [[nodiscard]] Result<void> check_border(PlanIndex index) const {
    const Format& format = body_.values[index].place.format;
    if (format.is_plain()) return {};
    return damaged(label(index), format.name, "plain at the model's border");
  }

  [[nodiscard]] Result<void> check_step(const PlanStep& step, const std::string& where) {
    const StepArtifact* const artifact = artifact_of(step);
    const std::vector<PlanIndex> constants = artifact == nullptr ? std::vector<PlanIndex>() : artifact->constants;
    for (const std::vector<PlanIndex>* list : {&step.inputs, &step.outputs, &constants})
      for (const PlanIndex value : *list)
        if (value >= body_.values.size()) return damaged(where, fmt::format("value {}", value), "an index of a value");
    for (const PlanIndex value : step.inputs)
      if (!written_[value]) return damaged(where, label(value) + " read before it is written", "an earlier write");
    for (const PlanIndex value : step.inputs)
      if (has_open_shape(value) && !is_kernel(step) && !takes_open(step, value))
        return damaged(where, label(value) + " of open shape", "kernels as readers of values of open shape");
    for (const PlanIndex value : step.inputs)
      if (body_.values[value].storage == Storage::kDynamic && !body_.values[value].type.is_open() &&
          !body_.values[value].type.is_held())
        return damaged(where, label(value) + ": " + to_string(body_.values[value].type) + " between steps",
                       "a tensor of known rank with an open extent, or a held value");
    for (const PlanIndex value : constants)
      if (body_.values[value].storage != Storage::kConstant)
        return damaged(where, label(value) + " that is not constant", "a constant");
    for (const PlanIndex value : step.outputs) {
      const Storage storage = body_.values[value].storage;
      const bool writable = storage == Storage::kOutput || storage == Storage::kArena || storage == Storage::kDevice ||
                            storage == Storage::kDynamic;
      if (storage == Storage::kDynamic && !is_kernel(step) && !takes_open(step, value))
        return damaged(where, label(value) + " of open shape", "kernels as makers of values of open shape");
      if (is_given_input(value)) return damaged(where, label(value) + " written", "an input that is only read");
      if (!writable && !is_view(step))
        return damaged(where, label(value) + " written in read-only storage", "output, arena, device or dynamic");
      written_[value] = true;
    }
    COLLAGE_TRY_VOID(check_locations(step, where));
    for (const PlanCheck& check : checks_of(step)) COLLAGE_TRY_VOID(check_check(step, check, where));
    COLLAGE_TRY_VOID(check_workspace(step, where));
    if (artifact != nullptr &&
        std::ranges::find(plan_.artifacts, artifact->hash, &PlanArtifact::hash) == plan_.artifacts.end())
      return damaged(where, "artifact '" + artifact->hash + "'", "a listed artifact");
    return check_bodies(step, where);
  }

  [[nodiscard]] Result<void> check_workspace(const PlanStep& step, const std::string& where) const {
    const std::size_t arena = arena_bytes_at(location_of(step)).value_or(0);
    const Workspace workspace = workspace_of(step);
    if (workspace.offset % kBufferAlignment == 0 && workspace.offset <= arena &&
        workspace.bytes <= arena - workspace.offset)
      return {};
    return damaged(where, fmt::format("workspace of {} bytes at {}", workspace.bytes, workspace.offset),
                   fmt::format("at most {} bytes of arena", arena));
  }

  /// Memory is asked for before a run: no more than values and workspaces fill.
  [[nodiscard]] Result<void> check_arenas() const {
    COLLAGE_TRY_VOID(check_arena(kHome, body_.arena_bytes));
    if (around_ != nullptr) return {};
    for (const auto& [location, bytes] : plan_.device_arena_bytes) COLLAGE_TRY_VOID(check_arena(location, bytes));
    return {};
  }

  [[nodiscard]] Result<void> check_arena(const std::string& location, std::size_t bytes) const {
    std::size_t end = 0;
    for (const PlanValue& value : body_.values)
      if (value.storage == (location == kHome ? Storage::kArena : Storage::kDevice) && value.place.location == location)
        end = std::max(end, value.offset + value.bytes);
    for (const PlanStep& step : body_.steps)
      if (const Workspace workspace = workspace_of(step); location_of(step) == location)
        end = std::max(end, workspace.offset + workspace.bytes);
    if (bytes <= aligned_up(end)) return {};
    return damaged(where_ + "arena at " + location, fmt::format("{} bytes", bytes),
                   fmt::format("{} for its values and steps", aligned_up(end)));
  }

  /// What a check reads is at home, whole, and there when the step runs.
  [[nodiscard]] bool can_be_checked(const PlanStep& step, PlanIndex index) const {
    if (index >= body_.values.size()) return false;
    const PlanValue& value = body_.values[index];
    const bool is_there =
        value.storage == Storage::kConstant || std::ranges::find(step.inputs, index) != step.inputs.end();
    return is_there && value.place.location == kHome && is_integer(value.type.element) &&
           bits_of(value.type.element) >= 8 && (value.place.format.is_plain() || value.place.format.is_channels_last());
  }

  [[nodiscard]] Result<void> check_check(const PlanStep& step, const PlanCheck& check, const std::string& where) const {
    const bool divides = check.rule == OperandRule::kNoOverflow;
    const bool is_sound = can_be_checked(step, check.value) &&
                          (divides ? can_be_checked(step, check.dividend) : check.dividend == kNoValue) &&
                          (check.rule == OperandRule::kRange) != check.ranges.empty();
    if (is_sound) return {};
    return damaged(where, fmt::format("a check of value {} that cannot be made", check.value),
                   "integers at home that the step's kernel reads");
  }

  /// A transfer joins home and one device, every other step stays where it is.
  [[nodiscard]] Result<void> check_locations(const PlanStep& step, const std::string& where) const {
    const std::string& location = location_of(step);
    if (!arena_bytes_at(location)) return damaged(where, "location " + location, "one with an arena");
    if (is_transfer(step)) {
      if (step.inputs.size() != 1 || step.outputs.size() != 1)
        return damaged(where, "a transfer of several values", "one value");
      const PlanValue& from = body_.values[step.inputs.front()];
      const PlanValue& to = body_.values[step.outputs.front()];
      const Place& source = from.place;
      const Place& target = to.place;
      const bool crosses = source.location != target.location && (source.location == kHome || target.location == kHome);
      if (!crosses || from.bytes != to.bytes || source.format != target.format)
        return damaged(where, fmt::format("a transfer from {} to {}", source.location, target.location),
                       "the same bytes at home and at a device");
      return {};
    }
    for (const std::vector<PlanIndex>* list : {&step.inputs, &step.outputs})
      for (const PlanIndex value : *list)
        if (body_.values[value].place.location != location)
          return damaged(where, label(value) + " at " + body_.values[value].place.location, "values at " + location);
    return {};
  }

  [[nodiscard]] Result<void> check_bodies(const PlanStep& step, const std::string& where) const {
    const auto* const control = std::get_if<PlanControl>(&step.work);
    if (control == nullptr) return {};
    COLLAGE_TRY_VOID(check_control(body_, step, where));
    for (const PlanBody& body : control->bodies)
      COLLAGE_TRY_VOID(Verifier(plan_, body, &body_, where + ", body " + body.name + ": ").run());
    return {};
  }

  const Plan& plan_;
  const PlanBody& body_;
  const PlanBody* around_;  ///< what holds the step whose body this is; null for the model
  std::string where_;
  std::vector<bool> written_;
};

}  // namespace

std::string artifact_hash(std::string_view bytes, std::string_view compatibility) {
  return hash_hex(hash_hex(bytes) + hash_hex(compatibility));
}

std::string_view name_of(Storage storage) {
  switch (storage) {
    case Storage::kInput:
      return "input";
    case Storage::kOutput:
      return "output";
    case Storage::kArena:
      return "arena";
    case Storage::kDevice:
      return "device";
    case Storage::kConstant:
      return "constant";
    case Storage::kDynamic:
      return "dynamic";
  }
  return "?";
}

std::string_view name_of(ControlOperator op) {
  switch (op) {
    case ControlOperator::kIf:
      return "If";
    case ControlOperator::kLoop:
      return "Loop";
    case ControlOperator::kScan:
      return "Scan";
  }
  return "?";
}

std::size_t step_count(const PlanBody& plan) {
  std::size_t count = plan.steps.size();
  for (const PlanStep& step : plan.steps)
    for (const PlanBody& body : bodies_of(step)) count += step_count(body);
  return count;
}

std::set<std::string> backends_of(const PlanBody& plan) {
  std::set<std::string> names;
  for (const PlanStep& step : plan.steps) {
    if (needs_backend(step)) names.insert(step.backend);
    for (const PlanBody& body : bodies_of(step)) names.merge(backends_of(body));
  }
  return names;
}

StepCounts count_steps(const PlanBody& plan) {
  StepCounts counts{.steps = plan.steps.size()};
  for (const PlanStep& step : plan.steps) {
    if (is_view(step)) ++counts.views;
    ++counts.backends[step.backend];
    for (const PlanBody& body : bodies_of(step)) {
      const StepCounts inside = count_steps(body);
      counts.steps += inside.steps;
      counts.views += inside.views;
      for (const auto& [name, steps] : inside.backends) counts.backends[name] += steps;
    }
  }
  return counts;
}

Result<void> verify(const Plan& plan) {
  if (!plan.captures.empty()) return damaged("captures", "values around the model", "none");
  return Verifier(plan, plan, nullptr, "").run();
}

}  // namespace collage
