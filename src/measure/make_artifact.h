// The artifact of one candidate for exactly the weights of its place.
// In: a group with one candidate. Out: its artifact, from the store when it was verified before, else compiled and
//     verified by a worker.
#pragma once

#include <expected>
#include <span>
#include <stop_token>

#include "measure/group_runner.h"
#include "store/artifact_file.h"

namespace collage {

/// Outer errors as GroupRunner::run(), also artifact/cannot-write and measure/stopped; inner: it does not work here.
/// `constants` are those of the region.
[[nodiscard]] Result<std::expected<StoredArtifact, Refusal>> make_artifact(GroupRunner& runner, Store& store,
                                                                           const PriceGroup& group,
                                                                           std::span<const ValueId> constants,
                                                                           const std::stop_token& stop);

}  // namespace collage
