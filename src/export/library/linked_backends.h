// The backends that are part of an exported library: found by name in a table, never loaded.
// In:  the name of an instance, as in a plan. Out: the instance, made on first use and owned here.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "backend/registry.h"

namespace collage {

/// One thread at a time.
class LinkedBackends {
 public:
  /// Errors backend/missing, backend/unusable, backend/bad-option.
  [[nodiscard]] Result<Backend*> get(const std::string& instance_name);

 private:
  std::map<std::string, std::unique_ptr<Backend>> instances_;  ///< by sorted instance name
};

}  // namespace collage
