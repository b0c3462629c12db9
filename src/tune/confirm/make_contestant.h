// Makes a contestant of a cover and its artifacts: a plan that can take part in a contest.
// In:  a cover, artifacts. Out: a contestant, with the bytes that its plan needs.
// Cost: linear in the plan; weights are not copied.
#pragma once

#include <string>
#include <vector>

#include "tune/confirm/contest.h"

namespace collage {

inline constexpr const char* kOverMemory = "tune/over-memory";

/// Errors of assemble().
[[nodiscard]] Result<Contestant> make_contestant(const TuneTask& task, const MeasureEnv& env, const std::string& name,
                                                 const Graph& graph, const Cover& cover,
                                                 std::vector<Artifact> artifacts);
/// The same of a whole-model engine.
[[nodiscard]] Result<Contestant> make_rival(const TuneTask& task, const MeasureEnv& env, const std::string& name,
                                            const Graph& graph, const Cover& cover, Artifact artifact);

/// Error tune/over-memory, which the contest notes, when the plan does not keep to the memory cap.
[[nodiscard]] Result<void> check_cap(const Contestant& contestant, const Objective& objective, Contest& contest);

}  // namespace collage
