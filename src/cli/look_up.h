// Opens an existing store for reading. A store that does not exist or cannot be read is an error; none is created.
#pragma once

#include <optional>

#include "cli/options.h"
#include "store/store.h"

namespace collage::cli {

/// The store of --store, or the usual one. Errors of Store::open_existing.
[[nodiscard]] Result<Store> store_to_look_into(const CommonOptions& options);
/// For commands that have something to say without a store: nothing as long as no tune has made the usual one.
[[nodiscard]] Result<std::optional<Store>> store_if_any(const CommonOptions& options);

}  // namespace collage::cli
