// Which backends are here, in which versions, and why one cannot be used.
// In:  where to look, the cost store. Out: what each says of itself, and those that crashed or hung in earlier tunes.
// Each backend is started in a worker first: one that does not live through it is named with the reason.
// Cost: starting all libraries, twice.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/registry.h"
#include "store/strikes.h"

namespace collage {

struct FoundBackends {
  std::vector<BackendInfo> backends;  ///< by kind
  std::vector<Strike> strikes;
};

/// `store` as in store_place.h.
/// Errors worker/cannot-start, those of Store::open_existing.
[[nodiscard]] Result<FoundBackends> find_backends(const std::vector<std::string>& worker_command,
                                                  const std::string& store, Registry& registry);

/// For people, and the JSON object of `backends --json` (schema collage.backends/1).
[[nodiscard]] std::string to_text(const FoundBackends& found);
[[nodiscard]] std::string to_json(const FoundBackends& found);

}  // namespace collage
