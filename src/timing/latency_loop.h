// A computation of fixed length whose time shows the processor's clock and nothing else: multiplications that wait for
// each other. Other hardware threads of the core hardly slow it down, because it leaves most cycles of the core free.
#pragma once

#include <cstdint>

namespace collage {

/// Nanoseconds of a thousand multiplications, at least 1: the lesser of two looks, because a single one may meet an
/// interrupt. Takes about two microseconds.
[[nodiscard]] std::int64_t latency_loop_ns();

}  // namespace collage
