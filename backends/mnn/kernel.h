// A kernel that runs a net of MNN: one interpreter with one session for each call, whose tensors lie in the given
// buffers.
// In:  a net and its constants. Out: a Kernel. run() copies nothing: the library reads and writes the buffers, whose
//       addresses are put into the session's tensors. The library does not document that; tests/backends/mnn checks it
//       for this version.
// Threads: a session belongs to one call. With one thread the library starts none.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backends/mnn/artifact.h"

namespace collage::mnn {

/// A net's port, as it is checked against what the library finds.
struct NetPort {
  Extents extents;  ///< as they lie in memory
  bool is_channels_last = false;
};
struct NetPorts {
  std::vector<NetPort> inputs;
  std::vector<NetPort> outputs;
};
[[nodiscard]] inline PortCounts counts_of(const NetPorts& ports) {
  return {.inputs = ports.inputs.size(), .outputs = ports.outputs.size()};
}

/// Creates a session and gives it up: what is wrong with the net; nothing when it can run.
[[nodiscard]] std::expected<void, std::string> try_session(const StoredNet& stored, const NetPorts& ports,
                                                           std::span<const Tensor> constants);

/// The constants' bytes outlive the kernel.
[[nodiscard]] std::unique_ptr<Kernel> make_kernel(StoredNet stored, NetPorts ports, std::vector<Tensor> constants);

}  // namespace collage::mnn
