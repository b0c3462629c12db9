// Whether the memory that a caller bound to inputs and outputs can be used by one run.
// Cost: sorts the ports in place; allocates nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace collage {

/// The memory of an input or output.
struct PortMemory {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::size_t index = 0;  ///< among the inputs or the outputs
  bool is_output = false;
};

/// An output and a port that has some of its memory; nothing when there is none. Inputs may share memory. Reorders
/// `ports`.
[[nodiscard]] std::optional<std::pair<PortMemory, PortMemory>> find_overlap(std::span<PortMemory> ports);

}  // namespace collage
