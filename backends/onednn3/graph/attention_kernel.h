// Computes an attention as one partition of the library's graph interface.
// In:  an Attention, a load request. Out: a Kernel.
// Threads: a partition is compiled for a number of OpenMP threads; calls may run at the same time.
// Cost: loading compiles the partition, about a millisecond; the library takes memory for what lies between its
// operations in every run.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <memory>

#include "backend/backend.h"
#include "backends/onednn3/graph/attention.h"

namespace collage::onednn {

/// Whether the library makes one partition of it. Throws dnnl::error as the library does.
[[nodiscard]] std::expected<void, Refusal> try_attention(const Attention& attention, const dnnl::engine& engine);

/// Errors backend/bad-artifact, backend/library-failed.
[[nodiscard]] Result<std::unique_ptr<Kernel>> load_attention(const Attention& attention, const LoadRequest& request,
                                                             const dnnl::engine& engine);

}  // namespace collage::onednn
