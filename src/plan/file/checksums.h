// Verifies the contents of a plan file: checksums of constants, content hashes of artifacts.
// In:  plans as loaded. Out: nothing, or the first difference.
// Cost: one pass over the bytes, at memory speed (XXH3, three times as fast as zlib's CRC-32); bytes that plans share
//       are read once.
// Not here: plan.json and plan.onnx, which the archive's CRC-32 covers (plan/file/plan_members.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "plan/realised_plan.h"

namespace collage {

enum class Checked : std::uint8_t {
  kEverything,
  /// Artifacts and the constants that steps read. The others serve plan.onnx alone.
  kWhatRuns
};

/// By value of the plan, whether a step reads it, those inside bodies included.
[[nodiscard]] std::vector<bool> values_read(const Plan& plan);

/// The plan of these constants with the checksum of each.
[[nodiscard]] Plan with_checksums(const RealisedPlan& plan);

/// Whether every constant with bytes has one.
[[nodiscard]] bool has_checksums(const Plan& plan);

/// Compares constants with their checksums where they have one. Error plan/damaged; `path` names the file in it.
[[nodiscard]] Result<void> check_constants(std::span<const RealisedPlan* const> plans, Checked checked,
                                           const std::string& path);

/// Whether the bytes of the artifacts are what their names say. Error plan/damaged.
[[nodiscard]] Result<void> check_artifacts(std::span<const RealisedPlan* const> plans, const std::string& path);

}  // namespace collage
