// Where the cost store and the reproduction bundles of a tune lie when the user does not say.
// In:  what the user says, the environment. Out: paths.
#pragma once

#include <optional>
#include <string>

#include "store/store.h"

namespace collage {

/// The path of the cost store, or "memory:": the user's `given` ("sqlite:PATH", a path, "memory:"), else
/// $XDG_CACHE_HOME/collage/costs.sqlite or the same in $HOME/.cache; without either the store is in memory.
[[nodiscard]] std::string store_place(const std::string& given);

/// Where reproduction bundles of a tune go: beside the store, for one in memory to the folder of the default one.
/// Absolute, for messages; empty when there is no such place.
[[nodiscard]] std::string repro_place(const std::string& given);

/// The store at its place, for commands that also work without one: nothing while the default one does not exist.
/// Errors of Store::open_existing.
[[nodiscard]] Result<std::optional<Store>> existing_store(const std::string& given);

}  // namespace collage
