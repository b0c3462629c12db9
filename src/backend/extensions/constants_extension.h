// Transforms constants once, when a plan is written: weights are packed or transposed, and load() only maps them.
// In:  the artifacts of all kernels of a plan that a backend runs, with their constants, in one call. Out: artifacts
//       that refer to the transformed constants.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "backend/backend.h"

namespace collage {

/// An artifact that wants other constants than the one it was made of, mostly with the weights packed.
struct PreparedArtifact {
  /// A constant of the original as it is, or new bytes in its place.
  using Constant = std::variant<std::size_t, Buffer>;
  std::string bytes;                ///< everything but bytes and constants is as in the original
  std::vector<Constant> constants;  ///< for load(), in order; new bytes as u8[n]. Equal buffers are stored once
};

/// Nothing when there is nothing to gain. Errors as of load().
using MaybePrepared = Result<std::optional<PreparedArtifact>>;

class ConstantsExtension : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kConstants;
  /// One answer for each kernel, in order. All kernels of a plan that this backend has not prepared before come in one
  /// call, so that they can share constants: two artifacts with the same Buffer share its bytes in the plan. Kernels
  /// with more than a gibibyte of constants come in several calls.
  [[nodiscard]] virtual std::vector<MaybePrepared> prepare_constants(std::span<const LoadRequest> kernels) = 0;
};

/// As ConstantsExtension::prepare_constants; nothing for each kernel without the extension.
[[nodiscard]] inline std::vector<MaybePrepared> prepare_constants(Backend& backend,
                                                                  std::span<const LoadRequest> kernels) {
  if (auto* const constants = extension_of<ConstantsExtension>(backend)) return constants->prepare_constants(kernels);
  return {kernels.size(), std::nullopt};
}

}  // namespace collage
