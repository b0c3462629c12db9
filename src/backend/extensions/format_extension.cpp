#include "backend/extensions/format_extension.h"

namespace collage {

std::optional<std::size_t> format_bytes(const Backend& backend, const ValueType& type, const Format& format) {
  const auto* const formats = extension_of<FormatExtension>(backend);
  return formats != nullptr ? formats->format_bytes(type, format) : common_format_bytes(type, format);
}

std::expected<Artifact, Refusal> compile_conversion(Backend& backend, const Conversion& conversion,
                                                    const CompileOptions& options) {
  if (auto* const formats = extension_of<FormatExtension>(backend))
    return formats->compile_conversion(conversion, options);
  return std::unexpected(Refusal{.reason = RefusalReason::kFormat,
                                 .detail = "no conversion of " + to_string(conversion.type) + " from " +
                                           conversion.from.format.name + " to " + conversion.to.format.name});
}

}  // namespace collage
