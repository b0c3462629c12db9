// A loaded program: primitives generated, constants packed, ready to be bound to buffers.
#pragma once

#include <memory>

#include "backend/extensions/constants_extension.h"
#include "primitives/realise.h"

namespace collage::onednn {

/// Error backend/bad-artifact, backend/library-failed. `constants` stay valid as long as the kernel.
[[nodiscard]] Result<std::unique_ptr<Kernel>> load_kernel(const dnnl::engine& engine, const Program& program,
                                                          const std::vector<Tensor>& constants, int threads,
                                                          std::size_t workspace_bytes);

/// The same program with its constants packed as load_kernel would. Errors likewise.
[[nodiscard]] Result<PreparedArtifact> prepare(const dnnl::engine& engine, Program program,
                                               const std::vector<Tensor>& constants, int threads);

}  // namespace collage::onednn
