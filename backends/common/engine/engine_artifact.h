// The format of the engine backends' artifacts: a few named fields, then the engine's own bytes.
// Form: "collage-engine/1\n", one "name value\n" per field in name order, an empty line, the payload.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"

namespace collage {

struct EngineArtifact {
  std::map<std::string, std::string> fields;  ///< neither names nor values hold line breaks, names no blanks
  std::string_view payload;                   ///< borrowed from the bytes it was read from
};

[[nodiscard]] std::string pack_artifact(const EngineArtifact& artifact);

/// Error backend/bad-artifact with `where` when the bytes have another form.
[[nodiscard]] Result<EngineArtifact> unpack_artifact(std::string_view bytes, const std::string& where);

/// The field's value; empty when it is not there.
[[nodiscard]] std::string field_or_empty(const EngineArtifact& artifact, const std::string& name);

}  // namespace collage
