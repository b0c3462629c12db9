// Extends the compiler's families with implementations from shared libraries.
// In:  files. Out: the built-in families with additional rows.
// How: a file exports a table of rows (strategy_module.h); each row is validated before it is added.
// Cost: opening the files, once for each set of them.
// Source: registration of operator strategies in TVM.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "compiler/selection/strategy.h"
#include "compiler_interface.h"

namespace collage::native {

struct Families {
  std::vector<std::string> files;                   ///< rows name theirs
  std::vector<std::vector<Implementation>> tables;  ///< of the families below
  std::vector<Family> families;
  std::vector<const Family*> rows;
};

/// Null: the built-in ones.
[[nodiscard]] std::span<const Family* const> rows_of(const Families* families);

/// The region under the eyes of a target's families.
[[nodiscard]] std::expected<Site, Refusal> site_of(const Graph& graph, const Region& region,
                                                   const CompileOptions& options, const Target& target);

/// As CompilerTable::families_with.
[[nodiscard]] Result<std::shared_ptr<const Families>> families_with(std::span<const std::string> files);

}  // namespace collage::native
