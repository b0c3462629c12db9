// Caches the linked artifacts that this process has loaded, so that the kernels of a plan share one shared object.
// In:  the bytes of a unit (link_kernels.h). Out: its programs and its loaded object.
// How: the text at the front of the bytes contains the hashes of everything after it, so the hash of the text
//       identifies the unit. A unit is removed with the last kernel that uses it.
// Cost: the first time, parsing, hashing and the dynamic loader; later, hashing the text.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "call.h"

namespace collage::native {

struct Unit {
  Programs programs;
  std::shared_ptr<const LoadedObject> object;
};

/// Thread-safe.
class UnitCache {
 public:
  /// The unit with its shared object of that number. Errors as of load_object().
  [[nodiscard]] Result<std::shared_ptr<const Unit>> get(std::string_view bytes, std::size_t code);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::size_t>, std::weak_ptr<const Unit>> units_;  ///< by hash of the text, and code
};

}  // namespace collage::native
