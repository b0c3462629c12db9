// Parses bytes as an ONNX message. Distinct errors say that it is not ONNX, is truncated, or is too old or too new.
#pragma once

#include <string>
#include <string_view>

#include "onnx/limits.h"
#include "onnx/proto.h"

namespace collage {

inline constexpr std::int64_t kOldestOpset = 7;
inline constexpr std::int64_t kCanonicalOpset = 26;
inline constexpr std::int64_t kNewestOpset = 28;
inline constexpr std::int64_t kCanonicalIr = 10;

/// Errors: import/truncated, import/not-onnx, import/too-large, import/limit; import/invalid-model for names that are
/// not UTF-8, so that they can be used in JSON and messages. `where` is the file.
[[nodiscard]] Result<pb::ModelProto> parse_model(std::string_view bytes, const ImportLimits& limits,
                                                 const std::string& where);

/// The domain "ai.onnx" becomes "", in imports, nodes and functions, and each domain is imported
/// once.
void normalise_domains(pb::ModelProto& model);
/// Drops attributes without a value that stand for the default.
void drop_empty_attributes(pb::ModelProto& model);

/// Errors: import/invalid-model for an IR version that cannot be or a domain imported at two versions,
/// import/ir-too-new (unsupported).
[[nodiscard]] Result<void> check_declared_versions(const pb::ModelProto& model, const std::string& where);
/// Errors: import/opset-too-old, import/opset-too-new (both unsupported), import/invalid-model for no version.
[[nodiscard]] Result<void> check_versions(const pb::ModelProto& model, const std::string& where);

}  // namespace collage
