// The plans of one model for many shapes: for each sampled point of a domain a complete plan, its case; for all other
// shapes a generic plan with open dimensions. A plan of fixed shapes is one case of a domain without dimensions.
// In:  plans that were made separately. Out: one value, which is checked as a whole and has one weights.bin for all
//       plans.
// Source: ours. TVM's Relay VM and Nimble (Shen et al., MLSys 2021) select a kernel for each shape; here whole plans
//       differ.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/shape_domain.h"
#include "plan/realised_plan.h"
#include "plan/signature/key.h"

namespace collage {

inline constexpr std::string_view kCasesSchema = "collage.cases/1";

/// The plan for one point of the domain.
struct PlanCase {
  ShapePoint point;
  double weight = 1;       ///< how much of the budget it had, next to others
  double measured_us = 0;  ///< end to end; 0 = not known
  double generic_us = 0;   ///< of the generic plan at this point
  RealisedPlan plan;
  bool operator==(const PlanCase&) const = default;
};

/// What every plan must be given.
struct CaseInput {
  std::string name;
  ValueType type;  ///< with the domain's dimensions as symbols
  bool operator==(const CaseInput&) const = default;
};

struct PlanCases {
  ShapeDomain domain;  ///< no dimensions: one case, which is all
  std::vector<CaseInput> inputs;
  std::vector<PlanCase> cases;          ///< by point, each once
  std::optional<RealisedPlan> generic;  ///< for points that are no case; its inputs have open dimensions
  std::string generic_engine = {};      ///< name of the generic plan; "" = none
  std::map<std::string, double> generic_times_us = {};  ///< geometric mean over the points of each that was tried
  std::optional<PlanSigner> signer = {};  ///< of the file that they were read from; nothing for one without a signature
  bool operator==(const PlanCases&) const = default;
};

/// Any plan of these: they agree on model, threads and accuracy.
[[nodiscard]] const RealisedPlan& any_plan(const PlanCases& cases);

/// Position of the case for this point; nothing when it is none.
[[nodiscard]] std::optional<std::size_t> find_case(const PlanCases& cases, const ShapePoint& point);

/// The plan that serves a point: its case, else the generic one. Errors of the point: shape/outside; shape/no-case
/// where there is no generic plan.
[[nodiscard]] Result<const RealisedPlan*> plan_for(const PlanCases& cases, const ShapePoint& point);

/// The plan that serves a point as one for this point alone: the record of the bindings of a generic plan gets the
/// point's extents, nothing else changes. Bytes are shared. Errors as plan_for.
[[nodiscard]] Result<RealisedPlan> plan_at(const PlanCases& cases, const ShapePoint& point);

/// A plan of fixed shapes as the one case of a domain without dimensions.
[[nodiscard]] PlanCases single_case(RealisedPlan plan);

/// Checks what sessions rely on beside each plan's own verify(): points inside the domain and in order, ports that fit
/// the point, one model, machine, thread budget and accuracy. Error plan/damaged.
[[nodiscard]] Result<void> verify(const PlanCases& cases);

/// Serialised plan.onnx with the offsets of its external weights changed; by old offset the new one.
using RelocateGraph =
    std::function<Result<std::string>(std::string_view onnx, const std::map<std::size_t, std::size_t>& moved)>;

/// Gives all plans one weights.bin in which equal contents lie once, and changes the offsets in plans and in their
/// graphs, the latter with `relocate` (onnx/relocate.h: this library does not parse ONNX). Errors of `relocate`.
[[nodiscard]] Result<void> share_weights(PlanCases& cases, const RelocateGraph& relocate);

}  // namespace collage
