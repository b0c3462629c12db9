#include "backend/hooks.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "backend/unusable.h"

namespace collage {
namespace {

static_assert(std::is_trivially_copyable_v<BackendHooks>);

/// What a table of this version must at least have; later hooks of the version come after it.
constexpr std::size_t kSmallestTable = offsetof(BackendHooks, link) + sizeof(BackendHooks::link);

/// The hooks fit together.
Result<void> check_hooks(const BackendHooks& hooks, const std::string& where) {
  if (hooks.kind == nullptr) return unusable(where, "a table of hooks without kind", "a kind");
  if (hooks.compile == nullptr && hooks.lower == nullptr)
    return unusable(where, "neither compile nor lower", "a way from a region to an artifact");
  if (hooks.rules == nullptr && hooks.support == nullptr)
    return unusable(where, "neither rules nor support", "something that the backend takes");
  if (hooks.codegen != nullptr && hooks.lower == nullptr)
    return unusable(where, "codegen without lower", "lower, whose tensor code it takes");
  if ((hooks.compile != nullptr || hooks.codegen != nullptr) && hooks.load == nullptr)
    return unusable(where, std::string(hooks.compile != nullptr ? "compile" : "codegen") + " without load",
                    "load, for the artifacts it makes");
  if (hooks.prepare_constants != nullptr && hooks.load == nullptr)
    return unusable(where, "prepare_constants without load", "load, which takes what it prepares");
  if (hooks.link != nullptr && hooks.load == nullptr)
    return unusable(where, "link without load", "load, which takes what it links");
  return {};
}

}  // namespace

Result<BackendHooks> checked_hooks(const BackendHooks* table, const std::string& where) {
  if (table == nullptr) return unusable(where, "an entry point that returns nothing", "a table of hooks");
  if (table->struct_size < kSmallestTable || table->abi_version != kHooksVersion)
    return unusable(
        where,
        "hooks of version " + std::to_string(table->abi_version) + ", table of " + std::to_string(table->struct_size) +
            " bytes",
        "version " + std::to_string(kHooksVersion) + ", at least " + std::to_string(kSmallestTable) + " bytes");
  BackendHooks hooks;
  std::memcpy(&hooks, table, std::min<std::size_t>(table->struct_size, sizeof hooks));
  COLLAGE_TRY_VOID(check_hooks(hooks, where));
  return hooks;
}

}  // namespace collage
