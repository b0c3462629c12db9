#include "plan/overwrites.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/damaged.h"

namespace collage {
namespace {

/// Bytes somewhere: in a caller's buffer, or in the arena of a location.
struct Span {
  Storage storage = Storage::kArena;
  std::uint32_t buffer = 0;
  std::string_view location;
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] bool is_beside(const Span& other) const {
    const bool is_callers = storage == Storage::kInput || storage == Storage::kOutput;
    return storage == other.storage && location == other.location && (!is_callers || buffer == other.buffer);
  }
  [[nodiscard]] bool overlaps(const Span& other) const {
    return is_beside(other) && begin < end && other.begin < other.end && begin < other.end && other.begin < end;
  }
  [[nodiscard]] bool is_same(const Span& other) const {
    return is_beside(other) && begin == other.begin && end == other.end;
  }
};

bool can_be_overwritten(Storage storage) { return storage != Storage::kConstant && storage != Storage::kDynamic; }

class Walk {
 public:
  Walk(const PlanBody& body, const std::string& where)
      : body_(body), where_(where), intact_(body.values.size(), true) {}

  Result<void> run() {
    for (const PlanIndex input : body_.inputs) keep(input);
    for (std::size_t s = 0; s < body_.steps.size(); ++s) COLLAGE_TRY_VOID(step(body_.steps[s], s));
    for (const PlanIndex output : body_.outputs)
      if (!intact_[output]) return spoilt(where_ + "outputs", output);
    return {};
  }

 private:
  [[nodiscard]] std::string label(PlanIndex index) const {
    return fmt::format("value {} ({})", index, body_.values[index].name);
  }
  [[nodiscard]] std::unexpected<Error> spoilt(std::string where, PlanIndex value) const {
    return damaged(std::move(where), label(value) + " read after a write over it", "its bytes as they were written");
  }

  [[nodiscard]] Span span_of(PlanIndex index) const {
    const PlanValue& value = body_.values[index];
    return {value.storage, value.buffer, value.place.location, value.offset, value.offset + value.bytes};
  }

  static Span workspace_span(const PlanStep& step) {
    const std::string& location = location_of(step);
    const Workspace workspace = workspace_of(step);
    return {location == kHome ? Storage::kArena : Storage::kDevice, 0, location, workspace.offset,
            workspace.offset + workspace.bytes};
  }

  void keep(PlanIndex index) {
    intact_[index] = true;
    if (can_be_overwritten(body_.values[index].storage)) kept_.push_back(index);
  }

  void spoil(const Span& written) {
    std::erase_if(kept_, [&](PlanIndex index) {
      if (!span_of(index).overlaps(written)) return false;
      intact_[index] = false;
      return true;
    });
  }

  Result<void> step(const PlanStep& step, std::size_t s) {
    const std::string where = where_ + fmt::format("step {}", s);
    for (const PlanIndex input : step.inputs)
      if (!intact_[input]) return spoilt(where, input);
    if (is_view(step)) {
      COLLAGE_TRY_VOID(check_view(step, where));
    } else {
      COLLAGE_TRY_VOID(check_ports(step, where));
      spoil(workspace_span(step));
      for (const PlanIndex output : step.outputs) spoil(span_of(output));
    }
    for (const PlanIndex output : step.outputs) keep(output);
    return {};
  }

  /// The bytes of a view's outputs are bytes of its inputs.
  [[nodiscard]] Result<void> check_view(const PlanStep& step, const std::string& where) const {
    for (const PlanIndex output : step.outputs) {
      const Span shown = span_of(output);
      if (!can_be_overwritten(shown.storage)) continue;
      std::vector<Span> inputs;
      for (const PlanIndex input : step.inputs)
        if (const Span span = span_of(input); span.is_beside(shown)) inputs.push_back(span);
      std::ranges::sort(inputs, {}, &Span::begin);
      std::size_t seen = shown.begin;
      for (const Span& input : inputs)
        if (input.begin <= seen) seen = std::max(seen, input.end);
      if (seen < shown.end) return damaged(where, label(output) + " beside the view's inputs", "bytes of its inputs");
    }
    return {};
  }

  [[nodiscard]] Result<void> check_ports(const PlanStep& step, const std::string& where) const {
    const Span workspace = workspace_span(step);
    for (const std::vector<PlanIndex>* list : {&step.inputs, &step.outputs})
      for (const PlanIndex value : *list)
        if (span_of(value).overlaps(workspace))
          return damaged(where, label(value) + " in the step's workspace", "ports beside it");
    for (std::size_t o = 0; o < step.outputs.size(); ++o) {
      const Span written = span_of(step.outputs[o]);
      for (std::size_t other = 0; other < o; ++other)
        if (span_of(step.outputs[other]).overlaps(written))
          return damaged(where, label(step.outputs[o]) + " over another output", "outputs beside each other");
      for (const PlanIndex input : step.inputs)
        if (const Span read = span_of(input); read.overlaps(written) && !read.is_same(written))
          return damaged(where, label(step.outputs[o]) + " over a part of " + label(input), "all of it or nothing");
    }
    return {};
  }

  const PlanBody& body_;
  const std::string& where_;
  std::vector<bool> intact_;
  std::vector<PlanIndex> kept_;  ///< intact, and in bytes that a step may write
};

}  // namespace

Result<void> check_overwrites(const PlanBody& body, const std::string& where) { return Walk(body, where).run(); }

}  // namespace collage
