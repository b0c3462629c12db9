#include "compiler/selection/added_strategies.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "compiler/selection/choices.h"
#include "compiler/selection/condition.h"
#include "compiler/selection/strategy_module.h"

namespace collage::native {
namespace {

std::unexpected<Error> bad(const std::string& file, std::string saw, std::string allowed) {
  return fail(ExitCode::kUnsupported, "backend/bad-strategies", file, std::move(saw), std::move(allowed));
}

Result<const StrategyModule*> open_module(const std::string& file) {
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* words = ::dlerror();
    return bad(file, words != nullptr ? words : "a library that does not load", "a library of strategies");
  }
  const auto entry = reinterpret_cast<StrategiesEntry>(::dlsym(handle, kStrategiesSymbol));
  if (entry == nullptr) return bad(file, "no symbol " + std::string(kStrategiesSymbol), "a library of strategies");
  const StrategyModule* module = entry();
  if (module == nullptr) return bad(file, "an entry point that returns nothing", "a table of strategies");
  // The size comes first in the table and is checked first: it says which of the other fields exist.
  if (module->struct_size < sizeof(StrategyModule) || module->abi_version != kStrategyAbi ||
      module->row_size != sizeof(AddedImplementation))
    return bad(file,
               "ABI version " + std::to_string(module->abi_version) + ", table of " +
                   std::to_string(module->struct_size) + " bytes",
               "ABI version " + std::to_string(kStrategyAbi) + ", at least " + std::to_string(sizeof(StrategyModule)) +
                   " bytes, rows of " + std::to_string(sizeof(AddedImplementation)) + " bytes");
  if (module->built_with == nullptr || std::strcmp(module->built_with, kCompilerVersion) != 0)
    return bad(file, module->built_with != nullptr ? module->built_with : "no version", kCompilerVersion);
  if (module->rows == nullptr || module->row_count == 0) return bad(file, "no rows", "a table of strategies");
  return module;
}

/// What is wrong with a row, whatever its family; empty when nothing is.
std::string why_unsound(const Implementation& row) {
  if (row.name.empty() || row.name.find_first_of("./ ") != std::string_view::npos)
    return "the name '" + std::string(row.name) + "'";
  if (row.space == nullptr || row.build == nullptr) return std::string(row.name) + " without space or build";
  if (row.layouts.empty()) return std::string(row.name) + " without layouts";
  for (const std::string_view condition : {row.condition, row.legal})
    if (const auto names = names_in(condition); !names) return std::string(row.name) + ": " + names.error();
  if (const auto choices = choices_of(row.choices); !choices) return std::string(row.name) + ": " + choices.error();
  return "";
}

std::string names_of_families() {
  std::string names;
  for (const Family* family : all_families()) names += (names.empty() ? "" : ", ") + std::string(family->name);
  return names;
}

/// Adds the rows of one file, whose name outlives the tables, to these, which are in the order of all_families().
Result<void> add_rows(const std::string& file, std::vector<std::vector<Implementation>>& tables) {
  COLLAGE_TRY(const StrategyModule* module, open_module(file));
  for (const AddedImplementation& row : std::span(module->rows, module->row_count)) {
    if (const std::string wrong = why_unsound(row.implementation); !wrong.empty())
      return bad(file, wrong, "a row as compiler/selection/strategy.h describes it");
    const std::string_view wanted = row.family != nullptr ? row.family : "";
    const auto family = std::ranges::find_if(all_families(), [&](const Family* one) { return one->name == wanted; });
    if (family == all_families().end())
      return bad(file, "the family '" + std::string(wanted) + "'", names_of_families());
    std::vector<Implementation>& table = tables[static_cast<std::size_t>(family - all_families().begin())];
    if (std::ranges::find(table, row.implementation.name, &Implementation::name) != table.end())
      return bad(file, "a second " + std::string(wanted) + "/" + std::string(row.implementation.name),
                 "a name of its own");
    table.push_back(row.implementation);
    table.back().source = file;
  }
  return {};
}

}  // namespace

std::expected<Site, Refusal> site_of(const Graph& graph, const Region& region, const CompileOptions& options,
                                     const Target& target) {
  auto site = dissect(graph, region, options, target.set);
  if (site) site->families = rows_of(target.families);
  return site;
}

std::span<const Family* const> rows_of(const Families* families) {
  return families != nullptr ? std::span<const Family* const>(families->rows) : all_families();
}

Result<std::shared_ptr<const Families>> families_with(std::span<const std::string> files) {
  auto made = std::make_shared<Families>();
  for (const Family* family : all_families())
    made->tables.emplace_back(family->implementations.begin(), family->implementations.end());
  made->files.assign(files.begin(), files.end());
  for (const std::string& file : made->files) COLLAGE_TRY_VOID(add_rows(file, made->tables));
  for (std::size_t i = 0; i < made->tables.size(); ++i) {
    made->families.push_back(*all_families()[i]);
    made->families.back().implementations = made->tables[i];
  }
  for (const Family& family : made->families) made->rows.push_back(&family);
  return std::shared_ptr<const Families>(std::move(made));
}

}  // namespace collage::native
