#include "store/artifact_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"

namespace collage {
namespace {

constexpr std::string_view kArtifactMagic = "COLLART1";

std::unexpected<Error> malformed(std::string saw) {
  return fail(ExitCode::kIo, "artifact/malformed", "artifact", std::move(saw), "bytes that serialise() made");
}

Result<std::vector<ValueId>> constants_at(const Json& positions, std::span<const ValueId> constants) {
  std::vector<ValueId> ids;
  for (const Json& position : positions) {
    const auto index = position.get<std::size_t>();
    if (index >= constants.size()) return malformed("constant " + std::to_string(index));
    ids.push_back(constants[index]);
  }
  return ids;
}

Result<Artifact> artifact_from(const Json& header, std::string_view body, std::span<const ValueId> constants) {
  if (header.at("bytes").get<std::size_t>() != body.size()) return malformed(std::to_string(body.size()) + " bytes");
  Artifact artifact;
  artifact.bytes = std::string(body);
  artifact.compatibility = header.at("compatibility").get<std::string>();
  artifact.workspace_bytes = header.at("workspace").get<std::size_t>();
  for (const Json& pair : header.at("in_place"))
    artifact.in_place.emplace_back(pair.at(0).get<std::uint32_t>(), pair.at(1).get<std::uint32_t>());
  COLLAGE_TRY(artifact.constants, constants_at(header.at("constants"), constants));
  return artifact;
}

/// What comes before the bytes of the artifact.
Result<std::string> head_of(const Artifact& artifact, std::span<const ValueId> constants) {
  Json positions = Json::array();
  for (const ValueId id : artifact.constants) {
    const auto found = std::ranges::find(constants, id);
    if (found == constants.end())
      return fail(ExitCode::kBug, "artifact/foreign-constant", "artifact", "value " + std::to_string(id.index),
                  "constants that the region reads");
    positions.push_back(found - constants.begin());
  }
  const std::string header = to_line({{"compatibility", artifact.compatibility},
                                      {"constants", positions},
                                      {"in_place", artifact.in_place},
                                      {"workspace", artifact.workspace_bytes},
                                      {"bytes", artifact.bytes.size()}});
  const std::uint64_t length = header.size();
  std::string head(kArtifactMagic);
  head.append(reinterpret_cast<const char*>(&length), sizeof length);
  return head + header;
}

}  // namespace

Result<std::string> serialise(const Artifact& artifact, std::span<const ValueId> constants) {
  COLLAGE_TRY(const std::string head, head_of(artifact, constants));
  return head + artifact.bytes;
}

Result<Artifact> deserialise(std::string_view bytes, std::span<const ValueId> constants) {
  constexpr std::size_t kPrefix = kArtifactMagic.size() + sizeof(std::uint64_t);
  if (bytes.size() < kPrefix || !bytes.starts_with(kArtifactMagic)) return malformed("another magic number");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + kArtifactMagic.size(), sizeof length);
  if (length > bytes.size() - kPrefix) return malformed("a header past the end");
  const Json header = json_of(bytes.substr(kPrefix, length));
  if (header.is_discarded()) return malformed("a header that is no JSON");
  COLLAGE_TRY(Result<Artifact> artifact,
              read_json([&] { return artifact_from(header, bytes.substr(kPrefix + length), constants); },
                        [](const std::string&, std::string saw) { return malformed(std::move(saw)); }));
  return artifact;
}

Result<std::string> write_artifact(const std::string& folder, const Artifact& artifact,
                                   std::span<const ValueId> constants) {
  COLLAGE_TRY(const std::string head, head_of(artifact, constants));
  // Artifacts of engines have the weights of whole models in them: they are not copied behind their heads.
  const std::array<std::string_view, 2> pieces = {head, artifact.bytes};
  std::string hash = hash_hex(pieces);
  const std::string path = folder + "/" + hash;
  // A file that is there is complete or was damaged later; only the size tells cheaply, the reader checks the rest.
  std::error_code absent;
  if (std::filesystem::file_size(path, absent) == head.size() + artifact.bytes.size() && !absent) return hash;
  // Not synced: what a power cut takes or damages is compiled again.
  if (const auto written = write_file(path, pieces); !written)
    return fail(ExitCode::kIo, "artifact/cannot-write", path, written.error().saw, written.error().allowed);
  return hash;
}

bool is_content_of(const std::string& hash, std::span<const std::byte> bytes) {
  return hash_hex(bytes.data(), bytes.size()) == hash;
}

Result<Artifact> read_artifact(const std::string& folder, const std::string& hash, std::span<const ValueId> constants) {
  const std::string path = folder + "/" + hash;
  const auto file = Buffer::map_file(path);
  if (!file) return fail(ExitCode::kIo, "artifact/missing", path, file.error().saw, "a readable file");
  if (!is_content_of(hash, file->bytes())) {
    // Out of the way, so that the next write_artifact makes it anew.
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return fail(ExitCode::kIo, "artifact/missing", path, "content that does not match its name");
  }
  return deserialise(file->text(), constants);
}

}  // namespace collage
