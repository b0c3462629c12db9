// Extension of a backend with memory formats of its own, and with kernels that convert to and from them.
// In:  types and formats. Out: sizes in bytes; artifacts of conversion kernels.
#pragma once

#include <expected>
#include <optional>

#include "backend/backend.h"

namespace collage {

class FormatExtension : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kFormats;
  /// Bytes of a static tensor in a format that this backend takes; nothing for other formats.
  [[nodiscard]] virtual std::optional<std::size_t> format_bytes(const ValueType& type, const Format& format) const = 0;
  /// The artifact of a kernel with one input and one output; a refusal when it has none. Never asked for transfers.
  [[nodiscard]] virtual std::expected<Artifact, Refusal> compile_conversion(const Conversion& conversion,
                                                                            const CompileOptions& options) = 0;
};

/// As FormatExtension::format_bytes; a backend without the extension knows the common formats.
[[nodiscard]] std::optional<std::size_t> format_bytes(const Backend& backend, const ValueType& type,
                                                      const Format& format);
/// As FormatExtension::compile_conversion; a backend without the extension refuses.
[[nodiscard]] std::expected<Artifact, Refusal> compile_conversion(Backend& backend, const Conversion& conversion,
                                                                  const CompileOptions& options);

}  // namespace collage
