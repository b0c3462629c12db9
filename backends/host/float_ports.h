// How many floats an artifact of a family that computes in f32 finds at its ports: they come with plan files of others.
#pragma once

#include <cstdint>

#include "backend/backend.h"

namespace collage::host {

/// Elements of a static f32 port in a common format; -1 for others: loops of floats must not touch them.
[[nodiscard]] std::int64_t floats_in(const Port& port);
/// Likewise of what a program reads by number: the inputs, behind them the constants.
[[nodiscard]] std::int64_t floats_in(const LoadRequest& request, std::uint64_t source);

}  // namespace collage::host
