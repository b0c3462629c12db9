#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "plan/control.h"
#include "plan/damaged.h"
#include "plan/memory.h"
#include "plan/open_values.h"

namespace collage {
namespace {

/// Gives out aligned parts of a workspace, one after the other; its size stays at the largest number rather than wrap.
class Parts {
 public:
  std::size_t take(std::size_t bytes) {
    const std::size_t begin = end_;
    end_ = bytes > kMost - end_ ? kMost : aligned_up(end_ + bytes);
    return begin;
  }
  [[nodiscard]] std::size_t end() const { return end_; }

 private:
  /// The largest multiple of the alignment: rounding up what is not more does not wrap.
  static constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / kBufferAlignment * kBufferAlignment;
  std::size_t end_ = 0;
};

const PlanValue& input(const PlanBody& body, std::size_t i) { return body.values[body.inputs[i]]; }
const PlanValue& output(const PlanBody& body, std::size_t i) { return body.values[body.outputs[i]]; }

/// The check of one control step against the values around it.
class Check {
 public:
  Check(const PlanBody& around, const PlanStep& step, const std::string& where)
      : around_(around), step_(step), control_(std::get<PlanControl>(step.work)), form_(control_.form), where_(where) {}

  Result<void> run() const {
    COLLAGE_TRY_VOID(check_counts());
    COLLAGE_TRY_VOID(check_lists());
    COLLAGE_TRY_VOID(check_leading());
    for (const PlanBody& body : control_.bodies) COLLAGE_TRY_VOID(check_body(body));
    COLLAGE_TRY_VOID(check_trips());
    if (const std::size_t bytes = control_layout(around_, control_).bytes; bytes > control_.workspace.bytes)
      return damaged(where_, fmt::format("a workspace of {} bytes", control_.workspace.bytes),
                     fmt::format("{} for the bodies", bytes));
    return {};
  }

 private:
  [[nodiscard]] bool is_if() const { return form_.op == ControlOperator::kIf; }

  Result<void> check_counts() const {
    const std::size_t least = leading_operands(form_.op) + form_.scan_inputs.size();
    const bool right = control_.bodies.size() == body_count(form_.op) && form_.operands.size() >= least &&
                       (!is_if() || (form_.operands.size() == 1 && form_.scan_outputs.empty())) &&
                       (form_.op == ControlOperator::kScan) == !form_.scan_inputs.empty() &&
                       (is_if() || form_.results.size() == carried_count(form_) + form_.scan_outputs.size());
    if (!right) return damaged(where_, "another number of operands, results or bodies", "those of its operator");
    const std::size_t formals =
        is_if() ? 0 : leading_outputs(form_.op) * 2 + form_.operands.size() - leading_operands(form_.op);
    for (const PlanBody& body : control_.bodies) {
      if (body.inputs.size() != formals + body.captures.size() ||
          body.outputs.size() != leading_outputs(form_.op) + form_.results.size())
        return damaged(where_, "a body with another number of ports", "those of its operator");
      for (const auto* list : {&body.inputs, &body.outputs})
        for (const PlanIndex index : *list)
          if (index >= body.values.size()) return damaged(where_, "a port past the body's values", "a value");
    }
    return {};
  }

  /// What the form names is what the step says it reads and writes.
  Result<void> check_lists() const {
    const auto lists = [](const std::vector<PlanIndex>& list, PlanIndex index) {
      return std::ranges::find(list, index) != list.end();
    };
    for (std::size_t i = 0; i < form_.operands.size(); ++i) {
      const bool may_be_omitted = form_.op == ControlOperator::kLoop && i < 2;
      if (form_.operands[i] == kNoValue ? !may_be_omitted : !lists(step_.inputs, form_.operands[i]))
        return damaged(where_, fmt::format("operand {}", i), "one of the step's inputs");
    }
    for (const PlanBody& body : control_.bodies)
      for (const PlanIndex index : body.captures)
        if (!lists(step_.inputs, index)) return damaged(where_, "a captured value", "one of the step's inputs");
    for (const PlanIndex index : form_.results)
      if (index != kNoValue && !lists(step_.outputs, index))
        return damaged(where_, "a result", "one of the step's outputs");
    for (const PlanIndex index : step_.outputs)
      if (!lists(form_.results, index)) return damaged(where_, "an output that is no result", "results only");
    for (const auto* list : {&step_.inputs, &step_.outputs})
      for (const PlanIndex index : *list) COLLAGE_TRY_VOID(check_plain(around_.values[index]));
    return {};
  }

  Result<void> check_plain(const PlanValue& value) const {
    const bool is_whole =
        is_open_tensor(value) || (value.type.is_static() && value.storage != Storage::kDynamic &&
                                  value.bytes == byte_count(value.type.element, value.type.extents()));
    if (value.place.format.is_plain() && is_whole) return {};
    return damaged(where_, fmt::format("{} as {} in {}", value.name, to_string(value.type), value.place.format.name),
                   "plain tensors of known rank at the border of a body");
  }

  /// Both are tensors of one element type and rank; their extents may differ from run to run.
  Result<void> check_alike(const PlanValue& outer, const PlanValue& inner, std::size_t more_axes = 0) const {
    COLLAGE_TRY_VOID(check_plain(inner));
    if (outer.type.element == inner.type.element && outer.type.shape && inner.type.shape &&
        outer.type.shape->size() == inner.type.shape->size() + more_axes)
      return {};
    return damaged(where_, inner.name + " of type " + to_string(inner.type), to_string(outer.type));
  }

  Result<void> check_scalar(const PlanValue& value, ElementType type) const {
    if (value.type.is_static() && value.type.element == type && element_count(value.type.extents()) == 1) return {};
    return damaged(where_, value.name + " of type " + to_string(value.type), fmt::format("one {}", name_of(type)));
  }

  Result<void> check_leading() const {
    const std::size_t leading = leading_operands(form_.op);
    for (std::size_t i = 0; i < leading; ++i) {
      if (form_.operands[i] == kNoValue) continue;
      const bool is_count = form_.op == ControlOperator::kLoop && i == 0;
      COLLAGE_TRY_VOID(
          check_scalar(around_.values[form_.operands[i]], is_count ? ElementType::kInt64 : ElementType::kBool));
    }
    if (form_.op != ControlOperator::kLoop) return {};
    const PlanBody& body = control_.bodies.front();
    COLLAGE_TRY_VOID(check_scalar(input(body, 0), ElementType::kInt64));
    COLLAGE_TRY_VOID(check_scalar(input(body, 1), ElementType::kBool));
    return check_scalar(output(body, 0), ElementType::kBool);
  }

  Result<void> check_same(PlanIndex outer, const PlanValue& inner) const {
    COLLAGE_TRY_VOID(check_plain(inner));
    if (outer == kNoValue || around_.values[outer].type == inner.type) return {};
    return damaged(where_, inner.name + " of type " + to_string(inner.type), to_string(around_.values[outer].type));
  }

  Result<void> check_slice(PlanIndex outer, const Slicing& slicing, const PlanValue& inner) const {
    COLLAGE_TRY_VOID(check_plain(inner));
    const std::size_t rank = inner.type.shape->size() + 1;
    if (slicing.axis >= rank) return damaged(where_, fmt::format("axis {}", slicing.axis), "an axis of the tensor");
    if (outer == kNoValue) return {};
    if (is_open_tensor(around_.values[outer])) return check_alike(around_.values[outer], inner, 1);
    const ValueType& type = around_.values[outer].type;
    Extents extents = type.extents();
    if (extents.size() == rank) extents.erase(extents.begin() + slicing.axis);
    if (type.element == inner.type.element && type.extents().size() == rank && !is_open_tensor(inner) &&
        extents == inner.type.extents())
      return {};
    return damaged(where_, inner.name + " of type " + to_string(inner.type), "a slice of " + to_string(type));
  }

  Result<void> check_body(const PlanBody& body) const {
    const std::size_t carried = carried_count(form_);
    const std::size_t first_operand = leading_operands(form_.op);
    const std::size_t formals = body.inputs.size() - body.captures.size();
    for (std::size_t i = leading_outputs(form_.op) * 2, k = 0; i < formals; ++i, ++k) {
      const PlanIndex operand = form_.operands[first_operand + k];
      if (k < carried) {
        COLLAGE_TRY_VOID(
            check_carried(operand, form_.results[k], input(body, i), output(body, leading_outputs(form_.op) + k)));
      } else {
        COLLAGE_TRY_VOID(check_slice(operand, form_.scan_inputs[k - carried], input(body, i)));
      }
    }
    for (std::size_t c = 0; c < body.captures.size(); ++c)
      COLLAGE_TRY_VOID(check_border(body.captures[c], input(body, formals + c)));
    for (std::size_t k = carried; k < form_.results.size(); ++k) {
      const PlanValue& made = output(body, leading_outputs(form_.op) + k);
      if (is_if()) {
        COLLAGE_TRY_VOID(check_border(form_.results[k], made));
      } else {
        COLLAGE_TRY_VOID(check_slice(form_.results[k], form_.scan_outputs[k - carried], made));
        COLLAGE_TRY_VOID(check_growth(form_.results[k], form_.scan_outputs[k - carried]));
      }
    }
    return {};
  }

  /// A stack whose height is not known grows at the end of its first axis.
  Result<void> check_growth(PlanIndex result, const Slicing& slicing) const {
    if (result == kNoValue || !is_open_tensor(around_.values[result]) || (slicing.axis == 0 && !slicing.reverse))
      return {};
    return damaged(where_, fmt::format("slices along axis {}", slicing.axis), "the end of the first axis");
  }

  /// A captured value, or a branch's result: an open value outside may be narrower or wider inside.
  Result<void> check_border(PlanIndex outer, const PlanValue& inner) const {
    const bool is_given = outer != kNoValue && is_open_tensor(around_.values[outer]);
    return is_given ? check_alike(around_.values[outer], inner) : check_same(outer, inner);
  }

  /// A value whose extents change is open wherever it is read after an iteration.
  Result<void> check_carried(PlanIndex operand, PlanIndex result, const PlanValue& before,
                             const PlanValue& after) const {
    if (!is_open_tensor(before)) {
      COLLAGE_TRY_VOID(check_same(operand, before));
      COLLAGE_TRY_VOID(check_same(result, before));
      COLLAGE_TRY_VOID(check_same(operand, after));
      return check_same(result, after);
    }
    COLLAGE_TRY_VOID(check_alike(around_.values[operand], before));
    COLLAGE_TRY_VOID(check_alike(before, after));
    if (result == kNoValue) return {};
    COLLAGE_TRY_VOID(check_alike(around_.values[result], before));
    if (is_open_tensor(around_.values[result])) return {};
    return damaged(where_, around_.values[result].name + " of type " + to_string(around_.values[result].type),
                   "an open type for a value that a loop changes");
  }

  /// All stacks of one operator whose heights are known are equally high.
  Result<void> check_trips() const {
    std::optional<std::int64_t> trips;
    const auto agrees = [&](std::span<const PlanIndex> values, const std::vector<Slicing>& slicings) {
      for (std::size_t i = 0; i < slicings.size(); ++i) {
        if (values[i] == kNoValue || is_open_tensor(around_.values[values[i]])) continue;
        const std::int64_t extent = around_.values[values[i]].type.extents()[slicings[i].axis];
        if (trips.value_or(extent) != extent) return false;
        trips = extent;
      }
      return true;
    };
    const auto last = [](const std::vector<PlanIndex>& list, std::size_t count) {
      return std::span(list).subspan(list.size() - count);
    };
    if (agrees(last(form_.operands, form_.scan_inputs.size()), form_.scan_inputs) &&
        agrees(last(form_.results, form_.scan_outputs.size()), form_.scan_outputs))
      return {};
    return damaged(where_, "slices of different numbers", "one number of iterations");
  }

  const PlanBody& around_;
  const PlanStep& step_;
  const PlanControl& control_;
  const ControlForm& form_;
  const std::string& where_;
};

}  // namespace

ControlLayout control_layout(const PlanBody& around, const PlanControl& step) {
  const ControlForm& form = step.form;
  const std::size_t carried = carried_count(form);
  ControlLayout layout;
  Parts parts;
  std::size_t arena = 0;
  for (const PlanBody& body : step.bodies) arena = std::max(arena, body.arena_bytes);
  (void)parts.take(arena);
  const auto in_workspace = [&](const PlanValue& value) { return ControlPort{kNoValue, parts.take(value.bytes)}; };
  // A whole result is written where it lies; one that nobody outside reads, or of open shape, goes to the workspace.
  const auto result = [&](std::size_t k, const PlanValue& inner) {
    const PlanIndex whole = form.results[k];
    return whole == kNoValue || is_open_tensor(around.values[whole]) ? in_workspace(inner) : ControlPort{whole, 0};
  };
  for (const PlanBody& body : step.bodies) {
    auto& inputs = layout.inputs.emplace_back();
    auto& outputs = layout.outputs.emplace_back();
    const std::size_t leading = leading_outputs(form.op) * 2;
    const std::size_t formals = body.inputs.size() - body.captures.size();
    for (std::size_t i = 0; i < formals; ++i)
      inputs.push_back(i >= leading && i < leading + carried ? result(i - leading, input(body, i))
                                                             : in_workspace(input(body, i)));
    for (const PlanIndex captured : body.captures) inputs.push_back({captured, 0});
    for (std::size_t i = 0; i < body.outputs.size(); ++i)
      outputs.push_back(form.op == ControlOperator::kIf ? result(i, output(body, i)) : in_workspace(output(body, i)));
  }
  layout.bytes = parts.end();
  return layout;
}

Result<void> check_control(const PlanBody& around, const PlanStep& step, const std::string& where) {
  return Check(around, step, where).run();
}

}  // namespace collage
