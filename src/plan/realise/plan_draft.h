// A plan under construction: its values so far, their producers, lifetimes, and shared bytes.
// In:  reads and writes of graph values at places, in the order of the steps. Out: the plan's values and steps; slots.h
//       then assigns memory.
// Internal to src/plan: realise() makes one for the model and one for each body.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/blocks.h"
#include "plan/realise.h"
#include "plan/slots.h"
#include "region/place.h"

namespace collage {

/// Error plan/bad-cover, a bug of who made the cover.
[[nodiscard]] std::unexpected<Error> bad_cover(std::string where, std::string saw, std::string allowed);

class PlanDraft {
 public:
  /// The request and its graph outlive the draft.
  explicit PlanDraft(const RealiseRequest& request);
  PlanDraft(const PlanDraft&) = delete;
  PlanDraft& operator=(const PlanDraft&) = delete;

  [[nodiscard]] const RealiseRequest& request() const { return request_; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] RealisedPlan& out() { return out_; }
  [[nodiscard]] Blocks& blocks() { return blocks_; }
  [[nodiscard]] Slots& slots() { return slots_; }
  /// Of the step that is added next.
  [[nodiscard]] std::size_t next_step() const { return out_.plan.steps.size(); }
  [[nodiscard]] const PlanValue& value(PlanIndex index) const { return out_.plan.values[index]; }

  /// Values for the model's inputs, in order. Error plan/dynamic-value.
  [[nodiscard]] Result<void> add_inputs();
  /// The value of a constant of the graph; a new one when nobody read it yet.
  PlanIndex add_constant(ValueId id);
  /// The value of a constant that only a body has: one with the same bytes, or a new one with this name or a longer.
  PlanIndex add_constant(const Tensor& tensor, std::string name);

  /// The plan value that holds `id` at `place` when step `reader` runs. Errors plan/bad-cover, plan/dynamic-value.
  [[nodiscard]] Result<PlanIndex> read(ValueId id, const Place& place, std::size_t reader);
  /// A fresh plan value written by step `writer`. Of several writers of one value readers see the first.
  [[nodiscard]] Result<PlanIndex> write(ValueId id, const Place& place, std::size_t writer);
  /// Nothing when no step made `id` there.
  [[nodiscard]] std::optional<PlanIndex> find_made(ValueId id, const Place& place) const;
  /// The value is read by this step, or by none before it.
  void keep_until(PlanIndex value, std::size_t step);

  void add_step(PlanStep step, InPlace in_place);
  /// A step that copies a value, and the value it writes.
  [[nodiscard]] Result<PlanIndex> add_copy(PlanIndex source, Storage storage, std::uint32_t buffer);
  /// An artifact of the plan with its constants, as a step loads it.
  [[nodiscard]] StepArtifact add_artifact(const Artifact& artifact);

 private:
  [[nodiscard]] Result<std::size_t> bytes_of(const ValueType& type, const Format& format) const;
  PlanIndex new_value(PlanValue value, std::size_t first);
  std::vector<PlanValue>& values() { return out_.plan.values; }

  const RealiseRequest& request_;
  const Graph& graph_;
  RealisedPlan out_;
  Blocks blocks_;                                        ///< of plan values
  std::vector<Life> lives_;                              ///< by plan value
  std::vector<InPlace> in_place_;                        ///< by step
  std::map<std::pair<ValueId, Place>, PlanIndex> made_;  ///< computed values, by place
  std::map<ValueId, PlanIndex> constants_;
  std::map<std::pair<const void*, std::size_t>, PlanIndex> adopted_;  ///< constants of bodies, by their bytes
  Slots slots_{{.plan = out_.plan, .blocks = blocks_, .lives = lives_, .ports = in_place_}};
};

}  // namespace collage
