// Whether a program that was read from an artifact fits itself and its ports: artifacts come with plan files, which
// others may have made, and the library believes what it is told about memory. In:  a program; ports. Out: nothing, or
// error backend/bad-artifact. Cost: one pass over tensors and operations. Not here: what the library checks itself,
// such as extents of a product that do not fit; single operations (check_operation.h); constants (constants.h).
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "backend/backend.h"
#include "program.h"

namespace collage::onednn {

/// From a tensor's first byte to its last. Precondition of this and the next: the tensor fits itself.
[[nodiscard]] std::size_t bytes_of(const TensorInfo& tensor);
/// From the start of its temporary, as far as the library may count it: a part of a tensor as if it went on to the end
/// of its rows.
[[nodiscard]] std::size_t bytes_with_offset(const TensorInfo& tensor);

/// Every operation names tensors that there are, as many as its kind reads, of ranks that it can have; nothing is
/// larger than memory; only constants repeat elements, and are gathered. Later code indexes freely.
[[nodiscard]] Result<void> check_program(const Program& program);

/// Every tensor of a port lies inside of it. `port_bytes`: of a port's type in its format; nothing for a format that
/// this backend does not read.
[[nodiscard]] Result<void> check_ports(const Program& program, std::span<const Port> inputs,
                                       std::span<const Port> outputs,
                                       const std::function<std::optional<std::size_t>(const Port&)>& port_bytes);

}  // namespace collage::onednn
