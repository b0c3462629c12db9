#include "api/tune/store_place.h"

#include <cstdlib>
#include <filesystem>

#include "measure/repro_keeper.h"

namespace collage {
namespace {

constexpr const char* kStoreInMemory = "memory:";

/// $XDG_CACHE_HOME/collage; empty where the user has no such place.
std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache && *cache) return std::string(cache) + "/collage";
  if (home && *home) return std::string(home) + "/.cache/collage";
  return {};
}

}  // namespace

std::string store_place(const std::string& given) {
  if (given.starts_with("sqlite:")) return given.substr(7);
  if (!given.empty()) return given;
  const std::string cache = cache_folder();
  return cache.empty() ? kStoreInMemory : cache + "/costs.sqlite";
}

std::string repro_place(const std::string& given) {
  const std::string store = store_place(given);
  const std::string cache = cache_folder();
  if (store == kStoreInMemory) return cache.empty() ? "" : cache + "/repros";
  std::error_code ignored;
  return repro_folder_of(std::filesystem::absolute(store, ignored).string());
}

Result<std::optional<Store>> existing_store(const std::string& given) {
  std::error_code error;
  if (given.empty() && !std::filesystem::exists(store_place(given), error)) return std::optional<Store>();
  COLLAGE_TRY(Store store, Store::open_existing(store_place(given)));
  return std::optional(std::move(store));
}

}  // namespace collage
