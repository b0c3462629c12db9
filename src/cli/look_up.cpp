#include "cli/look_up.h"

#include <filesystem>

namespace collage::cli {

Result<Store> store_to_look_into(const CommonOptions& options) { return Store::open_existing(store_from(options)); }

Result<std::optional<Store>> store_if_any(const CommonOptions& options) {
  std::error_code error;
  if (options.store.empty() && !std::filesystem::exists(store_from(options), error)) return std::optional<Store>();
  COLLAGE_TRY(Store store, store_to_look_into(options));
  return std::optional(std::move(store));
}

}  // namespace collage::cli
