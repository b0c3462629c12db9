// The reason why a backend does not run a region. A refusal is a normal answer, not an error: it is kept, counted and
// shown to the user.
// In:  what a backend found. Out: a reason from a fixed list, and details as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace collage {

enum class RefusalReason {
  kOperator,     ///< the operator is not known to the backend
  kType,         ///< an element type it does not take
  kShape,        ///< rank, extent or a dynamic shape it does not take
  kAttribute,    ///< an attribute value it does not take
  kFormat,       ///< a memory format it does not take
  kStructure,    ///< the region is not one it can run as a whole
  kAccuracy,     ///< not allowed in the accuracy class
  kMissing,      ///< a library or feature is not on this machine
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
