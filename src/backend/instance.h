// Takes the name of a backend instance apart: "kind", or "kind:key=value,..." for an instance with options.
// In:  a name. Out: kind and options; the same name with its options sorted, so that order makes no new instance.
#pragma once

#include <string>

#include "backend/registry.h"

namespace collage {

struct InstanceName {
  std::string name;  ///< options sorted
  std::string kind;
  BackendOptions options;
};

/// Error backend/bad-option.
[[nodiscard]] Result<InstanceName> parse_instance_name(const std::string& name);

}  // namespace collage
