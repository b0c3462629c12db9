#include "unit_cache.h"

#include "base/hash.h"

namespace collage::native {

Result<std::shared_ptr<const Unit>> UnitCache::get(std::string_view bytes, std::size_t code) {
  COLLAGE_TRY(const std::string_view text, text_of(bytes));
  const std::lock_guard lock(mutex_);
  std::erase_if(units_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const Unit>& known = units_[{hash_bytes(text.data(), text.size(), 0), code}];
  if (auto unit = known.lock()) return unit;
  COLLAGE_TRY(StoredUnit stored, unit_of(bytes));
  if (stored.programs.empty() || code >= stored.codes.size()) return misfit("a unit without kernels");
  auto unit = std::make_shared<Unit>();
  COLLAGE_TRY(unit->object, load_object(stored.codes[code].shared_object, stored.programs.begin()->second.library));
  unit->programs = std::move(stored.programs);
  known = unit;
  return std::shared_ptr<const Unit>(std::move(unit));
}

}  // namespace collage::native
