// Stores artifacts as files named by a hash of their content: `<folder>/<hash>`. Only this file knows the serialised
// form.
// Constants are stored as positions in Region::constants, so one artifact serves every region of the same structure
// with the same weights, in any graph. A file is written under a temporary name and renamed. A reader compares the
// content with the name, so a file that is truncated or changed, by a power cut too, counts as absent.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backend/backend.h"

namespace collage {

/// An artifact and the name of its content.
struct StoredArtifact {
  Artifact artifact;
  std::string hash;
  bool operator==(const StoredArtifact&) const = default;
};

/// Header (JSON) and bytes. `constants` are those of the region it was compiled from, usually Region::constants.
/// Error artifact/foreign-constant when it wants one that is not among them.
[[nodiscard]] Result<std::string> serialise(const Artifact& artifact, std::span<const ValueId> constants);

/// The inverse for a region whose constants are `constants`. Error artifact/malformed.
[[nodiscard]] Result<Artifact> deserialise(std::string_view bytes, std::span<const ValueId> constants);

/// Writes `folder/<hash>` and returns the hash; does nothing more when it is there. Error artifact/cannot-write.
[[nodiscard]] Result<std::string> write_artifact(const std::string& folder, const Artifact& artifact,
                                                 std::span<const ValueId> constants);

/// Whether bytes are what a file of this name holds.
[[nodiscard]] bool is_content_of(const std::string& hash, std::span<const std::byte> bytes);

/// Error artifact/missing when there is no such file or its content is not what its name says.
[[nodiscard]] Result<Artifact> read_artifact(const std::string& folder, const std::string& hash,
                                             std::span<const ValueId> constants);

}  // namespace collage
