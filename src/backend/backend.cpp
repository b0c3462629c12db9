// Names of accuracy classes and what a backend does when it offers nothing special.
#include "backend/backend.h"

namespace collage {

Result<DynamicOutput> Call::dynamic_output(std::size_t port) {
  return fail(ExitCode::kBug, "backend/no-dynamic-output", "output port " + std::to_string(port),
              "a kernel that writes bound buffers only", "ports of unknown shape");
}

std::optional<std::size_t> Backend::format_bytes(const ValueType& type, const Format& format) const {
  if (!type.is_static()) return std::nullopt;
  const bool is_known = format.is_plain() || (format.is_channels_last() && can_be_channels_last(type));
  if (!is_known) return std::nullopt;
  return byte_count(type.element, type.extents());
}

Result<std::string> Backend::judge(std::string_view) const { return std::string(); }

Result<std::optional<PreparedArtifact>> Backend::prepare_constants(const LoadRequest&) { return std::nullopt; }

std::expected<Artifact, Refusal> Backend::compile_conversion(const Conversion& conversion, const CompileOptions&) {
  return std::unexpected(Refusal{.reason = RefusalReason::kFormat,
                                 .detail = "no conversion of " + to_string(conversion.type) + " from " +
                                           conversion.from.name + " to " + conversion.to.name});
}

}  // namespace collage
