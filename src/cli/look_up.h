// Opens an existing store for reading. A store that does not exist or cannot be read is an error; none is created.
#pragma once

#include <optional>

#include "cli/options.h"
#include "store/store.h"

namespace collage::cli {

/// The store of --store, or the default one. Errors of Store::open_existing.
[[nodiscard]] Result<Store> store_to_look_into(const CommonOptions& options);
/// For commands that also work without a store: nothing while the default store does not exist.
[[nodiscard]] Result<std::optional<Store>> store_if_any(const CommonOptions& options);

}  // namespace collage::cli
