// The reason why a backend does not run a region. A refusal is a normal answer, not an error: it is kept, counted and
// shown to the user.
// In:  what a backend found. Out: a reason from a fixed list, and details as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace collage {

enum class RefusalReason {
  kOperator,     ///< the backend does not support the operator
  kType,         ///< an element type that it does not support
  kShape,        ///< a rank, extent or dynamic shape that it does not support
  kAttribute,    ///< an attribute value that it does not support
  kFormat,       ///< a memory format that it does not support
  kStructure,    ///< it cannot run the region as a whole
  kAccuracy,     ///< not allowed in the accuracy class
  kMissing,      ///< a library or feature is missing on this machine
  kCompile,      ///< the library refused or failed while compiling
  kWrongResult,  ///< results differ from the reference
  kCrashed,      ///< the worker died
  kTimeout,      ///< the worker did not answer in time
  kResources     ///< memory or time limit
};

struct Refusal {
  RefusalReason reason = RefusalReason::kStructure;
  std::string detail;
  bool operator==(const Refusal&) const = default;
};

/// kebab-case name used in text, JSON and the cost store.
[[nodiscard]] std::string_view name_of(RefusalReason reason);
/// The reason of that name; nothing for other names.
[[nodiscard]] std::optional<RefusalReason> refusal_reason_of(std::string_view name);

}  // namespace collage
