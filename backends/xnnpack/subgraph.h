// Makes the library's objects for a program: a subgraph, and a runtime that computes it.
// In:  a program, the bytes of its constants. Out: a runtime whose outputs have the extents that the program says.
// Cost: weights are packed, once for each weights cache; a few microseconds for a node.
// Not here: buffers and threads (kernel.h).
#pragma once

#include <pthreadpool.h>
#include <xnnpack.h>

#include <memory>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "program.h"

namespace collage::xnnpack {

template <class Object, xnn_status (*destroy)(Object*)>
struct Deleter {
  void operator()(Object* object) const { destroy(object); }
};
using Subgraph = std::unique_ptr<xnn_subgraph, Deleter<xnn_subgraph, xnn_delete_subgraph>>;
using Runtime = std::unique_ptr<xnn_runtime, Deleter<xnn_runtime, xnn_delete_runtime>>;
using WeightsCache =
    std::unique_ptr<xnn_weights_cache_provider, Deleter<xnn_weights_cache_provider, xnn_delete_weights_cache>>;

/// The library's number of a port among all ports: inputs, then outputs.
struct Ports {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  [[nodiscard]] std::uint32_t id_of(const TensorInfo& tensor) const {
    return tensor.role == Role::kInput ? tensor.index : inputs + tensor.index;
  }
};

/// Throws std::runtime_error, which names the operation, where the library refuses. `bytes`: one buffer for each
/// tensor, empty for those that are not constants or literals; they outlive every runtime.
[[nodiscard]] Subgraph make_subgraph(const Program& program, const Ports& ports, const std::vector<Buffer>& bytes);

[[nodiscard]] WeightsCache make_weights_cache();
/// A runtime with the shapes of the program, not yet set up. Finalises the cache when that was not done. Throws as
/// above, also when an output gets other extents than the program says.
[[nodiscard]] Runtime make_runtime(const Program& program, const Ports& ports, const std::vector<Buffer>& bytes,
                                   xnn_weights_cache_t cache, pthreadpool_t pool);

}  // namespace collage::xnnpack
