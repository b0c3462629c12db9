#include "runtime/control_call.h"

#include <algorithm>
#include <deque>
#include <map>

#include "plan/control.h"
#include "plan/open_values.h"
#include "runtime/bound_body.h"
#include "runtime/grown_value.h"
#include "runtime/iteration_call.h"

namespace collage {
namespace {

/// A branch's result of open shape. What lies in a buffer of the plan is copied, because other steps use it afterwards.
class BranchResult {
 public:
  BranchResult(OpenSource source, const std::string& name) : source_(source), copy_(name) {}

  [[nodiscard]] Result<DynamicOutput> after_run() {
    COLLAGE_TRY(DynamicOutput value, source_.read());
    if (source_.given == nullptr) return value;
    COLLAGE_TRY_VOID(copy_.take(value));
    return copy_.value();
  }

 private:
  OpenSource source_;
  GrownValue copy_;
};

struct Branch {
  std::unique_ptr<BoundBody> body;
  std::map<std::size_t, BranchResult> open_results;  ///< by port of the step
};

class IfCall final : public Call {
 public:
  /// The bodies stand in the order of their attributes' names: else, then.
  IfCall(const std::byte* condition, std::vector<Branch> branches)
      : condition_(condition), branches_(std::move(branches)) {}

  Result<void> run() override {
    Branch& chosen = branches_[is_true(condition_) ? 1 : 0];
    values_.clear();
    COLLAGE_TRY_VOID(chosen.body->run());
    for (auto& [port, result] : chosen.open_results) {
      COLLAGE_TRY(values_[port], result.after_run());
    }
    return {};
  }

  Result<DynamicOutput> dynamic_output(std::size_t port) override {
    const auto found = values_.find(port);
    return found == values_.end() ? Call::dynamic_output(port) : found->second;
  }

 private:
  const std::byte* condition_;
  std::vector<Branch> branches_;
  std::map<std::size_t, DynamicOutput> values_;  ///< of open shape, of the last run, by port of the step
};

/// Addresses of one control step.
class Binder {
 public:
  Binder(const LoadedBody& around, const BodyMemory& memory, std::size_t index)
      : around_(around),
        memory_(memory),
        step_(around.plan->steps[index]),
        control_(std::get<PlanControl>(step_.work)),
        form_(control_.form),
        bodies_(around.bodies[index]),
        workspace_(memory.arena + control_.workspace.offset),
        layout_(control_layout(*around.plan, control_)) {}

  Result<std::unique_ptr<Call>> run() { return form_.op == ControlOperator::kIf ? branches() : iterations(); }

 private:
  [[nodiscard]] std::byte* outer(PlanIndex index) const {
    return index == kNoValue ? nullptr : address_of(around_, memory_, index);
  }

  [[nodiscard]] bool is_open(PlanIndex index) const {
    return index != kNoValue && is_given_in_run(around_.plan->values[index]);
  }

  /// The step's port that a result is.
  [[nodiscard]] std::size_t port_of(PlanIndex result) const {
    return static_cast<std::size_t>(std::ranges::find(step_.outputs, result) - step_.outputs.begin());
  }

  [[nodiscard]] BodyMemory body_memory(std::size_t b) const {
    const auto place = [&](const ControlPort& port) {
      return port.value == kNoValue ? workspace_ + port.offset : outer(port.value);
    };
    BodyMemory memory{.inputs = {}, .outputs = {}, .arena = workspace_};
    memory.pool = memory_.pool;
    memory.cancel = memory_.cancel;
    for (const ControlPort& port : layout_.inputs[b]) memory.inputs.push_back(place(port));
    for (const ControlPort& port : layout_.outputs[b]) memory.outputs.push_back(place(port));
    return memory;
  }

  /// One for each input of a body, those of captured values filled in.
  [[nodiscard]] std::vector<OpenSource> open_inputs(const PlanBody& body) const {
    std::vector<OpenSource> sources(body.inputs.size());
    const std::size_t first = body.inputs.size() - body.captures.size();
    for (std::size_t c = 0; c < body.captures.size(); ++c)
      if (is_open(body.captures[c])) sources[first + c] = source_of(around_, memory_, body.captures[c]);
    return sources;
  }

  Result<std::unique_ptr<Call>> branches() const {
    std::vector<Branch> bound;
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      Branch& branch = bound.emplace_back();
      COLLAGE_TRY(branch.body, BoundBody::bind(bodies_[b], body_memory(b), open_inputs(*bodies_[b].plan)));
      for (std::size_t k = 0; k < form_.results.size(); ++k)
        if (const PlanIndex result = form_.results[k]; is_open(result))
          branch.open_results.try_emplace(port_of(result), branch.body->output(k), around_.plan->values[result].name);
    }
    return std::make_unique<IfCall>(outer(form_.operands.front()), std::move(bound));
  }

  Result<std::unique_ptr<Call>> iterations() const {
    const BodyMemory memory = body_memory(0);
    auto call = std::make_unique<IterationCall>();
    IterationParts& parts = call->parts;
    std::vector<OpenSource> sources = open_inputs(control_.bodies.front());
    add_initial(memory, parts, sources);
    add_scanned(memory, parts, sources);
    COLLAGE_TRY(parts.body, BoundBody::bind(bodies_.front(), memory, std::move(sources)));
    add_carry(memory, parts);
    add_stacks(memory, parts);
    if (form_.op == ControlOperator::kLoop)
      parts.loop = {.trips = outer(form_.operands[0]),
                    .condition = outer(form_.operands[1]),
                    .iteration = memory.inputs[0],
                    .condition_in = memory.inputs[1],
                    .condition_out = memory.outputs[0]};
    return call;
  }

  [[nodiscard]] const PlanValue& body_input(std::size_t i) const {
    const PlanBody& body = control_.bodies.front();
    return body.values[body.inputs[i]];
  }

  /// The body's input that carried value `k` is.
  [[nodiscard]] std::size_t carried_input(std::size_t k) const { return leading_outputs(form_.op) * 2 + k; }

  /// Operands to what the first iteration reads.
  void add_initial(const BodyMemory& memory, IterationParts& parts, std::vector<OpenSource>& sources) const {
    for (std::size_t k = 0; k < carried_count(form_); ++k) {
      const PlanIndex operand = form_.operands[leading_operands(form_.op) + k];
      const std::size_t input = carried_input(k);
      if (!is_given_in_run(body_input(input))) {
        parts.initial.push_back({memory.inputs[input], outer(operand), body_input(input).bytes});
        continue;
      }
      OpenCarried& carried = parts.open_carried.emplace_back(tensor_source(around_, memory_, operand, parts.known),
                                                             OpenSource{}, GrownValue(body_input(input).name));
      sources[input] = {.given = &carried.state.value()};
    }
  }

  /// What an iteration made to what the next one reads.
  void add_carry(const BodyMemory& memory, IterationParts& parts) const {
    auto open = parts.open_carried.begin();
    for (std::size_t k = 0; k < carried_count(form_); ++k) {
      const std::size_t input = carried_input(k);
      const std::size_t output = leading_outputs(form_.op) + k;
      if (!is_given_in_run(body_input(input))) {
        parts.carry.push_back({memory.inputs[input], memory.outputs[output], body_input(input).bytes});
        continue;
      }
      open->next = parts.body->output(output);
      if (form_.results[k] != kNoValue) parts.open_states[port_of(form_.results[k])] = &*open;
      ++open;
    }
  }

  void add_scanned(const BodyMemory& memory, IterationParts& parts, std::vector<OpenSource>& sources) const {
    const std::size_t carried = carried_count(form_);
    for (std::size_t k = 0; k < form_.scan_inputs.size(); ++k) {
      const PlanIndex whole = form_.operands[leading_operands(form_.op) + carried + k];
      const std::size_t input = carried_input(carried) + k;
      if (!is_open(whole)) {
        add_slice(whole, form_.scan_inputs[k], memory.inputs[input], parts.scan_inputs, parts.room);
        continue;
      }
      const bool is_given = is_given_in_run(body_input(input));
      OpenSlices& slices = parts.open_slices.emplace_back(source_of(around_, memory_, whole), form_.scan_inputs[k],
                                                          body_input(input), is_given ? nullptr : memory.inputs[input]);
      if (is_given) sources[input] = {.given = &slices.value()};
    }
  }

  /// A stack nobody reads is not written.
  void add_stacks(const BodyMemory& memory, IterationParts& parts) const {
    const PlanBody& body = control_.bodies.front();
    for (std::size_t k = 0; k < form_.scan_outputs.size(); ++k) {
      const PlanIndex whole = form_.results[carried_count(form_) + k];
      const std::size_t output = leading_outputs(form_.op) + carried_count(form_) + k;
      if (whole == kNoValue) continue;
      if (!is_open(whole)) {
        add_slice(whole, form_.scan_outputs[k], memory.outputs[output], parts.scan_outputs, parts.room);
        continue;
      }
      parts.open_results[port_of(whole)] = &parts.open_stacks.emplace_back(
          parts.body->output(output),
          GrownStack(around_.plan->values[whole].name, body.values[body.outputs[output]].type));
    }
  }

  void add_slice(PlanIndex whole, const Slicing& slicing, std::byte* slice, std::vector<SliceCopy>& copies,
                 std::int64_t& room) const {
    const ValueType& type = around_.plan->values[whole].type;
    copies.push_back(slice_copy(type.element, type.extents(), slicing, outer(whole), slice));
    room = copies.back().count;
  }

  const LoadedBody& around_;
  const BodyMemory& memory_;
  const PlanStep& step_;
  const PlanControl& control_;
  const ControlForm& form_;
  const std::vector<LoadedBody>& bodies_;
  std::byte* workspace_;
  ControlLayout layout_;
};

}  // namespace

Result<std::unique_ptr<Call>> bind_control(const LoadedBody& around, const BodyMemory& memory, std::size_t step) {
  return Binder(around, memory, step).run();
}

}  // namespace collage
