#include "backend/backend.h"

namespace collage {

Result<DynamicOutput> Call::dynamic_output(std::size_t port) {
  // Which outputs are open is said by a plan file, which may be damaged.
  return fail(ExitCode::kBadInput, "backend/no-dynamic-output", "output port " + std::to_string(port),
              "a kernel that writes bound buffers only", "ports of unknown shape");
}

Result<bool> Call::move_inputs(std::span<const void* const> /*inputs*/, std::span<const Extents> /*extents*/) {
  return false;
}

ConstantBytes bytes_of(std::span<const Buffer> buffers) {
  ConstantBytes bytes;
  for (const Buffer& buffer : buffers) bytes.push_back(buffer.bytes());
  return bytes;
}

}  // namespace collage
