// Modules with a table of hooks for the registry's tests. FAKE_KIND is their kind, FAKE_FAULT the fault in the table.
#include <string_view>

#include "tests/backend/hook_tables.h"

extern "C" const collage::BackendHooks* collage_backend_hooks();
extern "C" const collage::BackendHooks* collage_backend_hooks() {
  using namespace collage;
  static BackendHooks hooks = {.kind = FAKE_KIND, .rules = test::relu_rules, .lower = test::lower_each};
  constexpr std::string_view kFault = FAKE_FAULT;
  if (kFault == "old") hooks.abi_version = 0;
  if (kFault == "empty") hooks.lower = nullptr;
  return kFault == "null" ? nullptr : &hooks;
}
