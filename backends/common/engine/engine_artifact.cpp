#include "backends/common/engine/engine_artifact.h"

namespace collage {
namespace {

constexpr std::string_view kHead = "collage-engine/1\n";

std::unexpected<Error> bad_artifact(const std::string& where, std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", where, std::move(saw), "an artifact of this backend");
}

}  // namespace

std::string pack_artifact(const EngineArtifact& artifact) {
  std::string bytes(kHead);
  for (const auto& [name, value] : artifact.fields) bytes += name + ' ' + value + '\n';
  bytes += '\n';
  bytes += artifact.payload;
  return bytes;
}

Result<EngineArtifact> unpack_artifact(std::string_view bytes, const std::string& where) {
  if (!bytes.starts_with(kHead)) return bad_artifact(where, "bytes without the head of an engine's artifact");
  bytes.remove_prefix(kHead.size());
  EngineArtifact artifact;
  for (;;) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return bad_artifact(where, "a head without an end");
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (line.empty()) break;
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return bad_artifact(where, "a field without a value");
    artifact.fields.emplace(line.substr(0, blank), line.substr(blank + 1));
  }
  artifact.payload = bytes;
  return artifact;
}

std::string field_or_empty(const EngineArtifact& artifact, const std::string& name) {
  const auto found = artifact.fields.find(name);
  return found == artifact.fields.end() ? std::string{} : found->second;
}

}  // namespace collage
