// The texts of an exported library: the header that its users include, and the C source with its tables.
// In:  a slim plan with the code it is linked with, a name. Out: texts, the same for equal plans.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "export/linked_parts.h"

namespace collage {

/// Where things lie in the workspace of an instance.
struct WorkspaceLayout {
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  std::size_t arena = 0;
  std::size_t bytes = 0;
};
[[nodiscard]] WorkspaceLayout workspace_layout(const Plan& plan);

/// The symbol of an entry point inside the library: no other code has it.
[[nodiscard]] std::string linked_symbol(std::size_t code, std::size_t symbol);

/// `name` is a C identifier in lower case.
[[nodiscard]] std::string header_text(const Plan& plan, const std::string& name);
/// Includes "header.h" and "collage_export_model.h"; the weights are the symbol collage_export_weights.
[[nodiscard]] std::string source_text(const LinkedParts& parts, const std::string& name);
/// Assembly that takes the file weights.bin.
[[nodiscard]] std::string weights_text();
/// The script for the linker: the functions of the header alone are seen.
[[nodiscard]] std::string exports_text(const std::string& name);
/// Names of the functions of the header.
[[nodiscard]] std::vector<std::string> functions_of(const std::string& name);

}  // namespace collage
