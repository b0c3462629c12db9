// A library of strategies that does not fit: how is said by COLLAGE_TEST_STRATEGIES each time it is asked.
#include <cstdlib>
#include <string_view>

#include "compiler/selection/strategy_module.h"

namespace {

using namespace collage::native;

std::vector<Schedule> space(const Site&, const Facts&) { return {Schedule{}}; }
void build(const Site&, const Facts&, const Schedule&, Lowering&) {}

AddedImplementation row;
StrategyModule table;

}  // namespace

extern "C" const collage::native::StrategyModule* collage_native_strategies();
extern "C" const collage::native::StrategyModule* collage_native_strategies() {
  const char* set = std::getenv("COLLAGE_TEST_STRATEGIES");
  const std::string_view fault = set != nullptr ? set : "";
  row = {
      .family = "elementwise",
      .implementation = {.name = "odd", .condition = "", .layouts = {Layout::kPlain}, .space = space, .build = build}};
  table = {.rows = &row, .row_count = 1};
  if (fault == "null") return nullptr;
  if (fault == "size") table.struct_size -= 8;
  if (fault == "abi") table.abi_version += 1;
  if (fault == "row-size") table.row_size += 8;
  if (fault == "version") table.built_with = "Halide 3.0";
  if (fault == "no-version") table.built_with = nullptr;
  if (fault == "no-rows") table.row_count = 0;
  if (fault == "family") row.family = "nonsense";
  if (fault == "no-family") row.family = nullptr;
  if (fault == "name") row.implementation.name = "odd.name";
  if (fault == "taken") row.implementation.name = "flat";
  if (fault == "no-build") row.implementation.build = nullptr;
  if (fault == "no-layout") row.implementation.layouts = {};
  if (fault == "condition") row.implementation.condition = "outputs = 1";
  if (fault == "fact") row.implementation.condition = "no_such_fact == 1";
  if (fault == "choices") row.implementation.choices = "unroll 1..4";
  if (fault == "legal") row.implementation.legal = "unroll <";
  return &table;
}
