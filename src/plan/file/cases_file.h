// The plan file of many shapes. It has the members of a plan file (plan/file/plan_file.h), shared by all plans, and
//     plan.json          schema collage.cases/1: the domain, the inputs, the list of cases
//     cases/<n>.json     the plan of case n, schema collage.plan/1; cases/<n>.onnx its graph
//     generic.json       the plan for all other shapes; its graph is plan.onnx
// In and out: PlanCases. A file of schema collage.plan/1 is one case of a domain without dimensions.
#pragma once

#include <string>

#include "plan/file/checksums.h"
#include "plan/plan_cases.h"

namespace collage {

/// Replaces `path`; the cases' weights must be shared (share_weights). A domain without dimensions is written as a plan
/// of fixed shapes. Errors as of save_plan.
[[nodiscard]] Result<void> save_cases(const PlanCases& cases, const std::string& path);

/// Reads either schema and verifies; the plans say who signed the file. Signers and errors as of load_plan.
[[nodiscard]] Result<PlanCases> load_cases(const std::string& path, Checked checked = Checked::kEverything,
                                           const Signers& signers = {});
/// The same for a file that lies in memory, which the cases share. Its address is a multiple of kBufferAlignment, as
/// that of a mapping is. `label` stands for its path in errors.
[[nodiscard]] Result<PlanCases> load_cases(const Buffer& file, const std::string& label,
                                           Checked checked = Checked::kEverything, const Signers& signers = {});

/// plan.json of many cases. The report's keys stand beside its own.
[[nodiscard]] std::string to_json(const PlanCases& cases);

}  // namespace collage
