// Extension of backends that run operators of libraries which the user names: code that neither this program nor an
// engine brings along, written against the engine's own interface.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "backend/backend.h"

namespace collage {

struct OperatorLibrary {
  std::string path;  ///< absolute
  std::string hash;  ///< of the file's bytes, 32 hexadecimal digits
  bool operator==(const OperatorLibrary&) const = default;
};

/// Error operators/missing for a file that cannot be read.
[[nodiscard]] Result<OperatorLibrary> read_operator_library(const std::string& path);

class OperatorLibraryExtension : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kOperatorLibraries;

  /// From now on regions may have operators of any domain that nobody else knows. Loads nothing: what the library lacks
  /// is refused by compile().
  virtual void add_library(const OperatorLibrary& library) = 0;

  /// The types of the outputs of an ONNX model, by name; without libraries those that the engine infers, or none. With
  /// libraries extents are those that runs on made-up inputs give; one on which these differ is open. Runs code of the
  /// libraries. Error operators/failed.
  [[nodiscard]] virtual Result<std::map<std::string, ValueType>> output_types(const std::string& model_bytes) = 0;
};

/// A place of a registry (registry.h) that begins so is the path of a library.
inline constexpr std::string_view kOperatorPlace = "operators:";

/// BackendInfo::build of a backend with one more library: costs and artifacts are stored under it.
inline constexpr std::string_view kWithOperators = " with operators ";
[[nodiscard]] inline std::string build_with(std::string build, const OperatorLibrary& library) {
  return std::move(build) + std::string(kWithOperators) + library.hash;
}
/// The part of it that is the backend's own.
[[nodiscard]] inline std::string_view own_build(std::string_view build) {
  return build.substr(0, build.find(kWithOperators));
}

}  // namespace collage
