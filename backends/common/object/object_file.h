// Opens a shared object from bytes in memory, without a file that remains.
// In:  the bytes of a linked object that depends on the C library only. Out: a handle for dlsym() and dlclose().
// Cost: a copy of the bytes and the dynamic loader's work (tens of microseconds).
// Source: memfd_create(2); a temporary file where /proc is not mounted.
#pragma once

#include <string_view>

#include "base/error.h"

namespace collage {

/// Never null. Error backend/bad-artifact with the loader's words; io/cannot-write when there is no place for the
/// bytes. `backend`: whose bytes they are.
[[nodiscard]] Result<void*> open_object(std::string_view bytes, const char* backend);

}  // namespace collage
