// Statuses of the C interface as exceptions of Python.
// In:  a status, or the parts of one. Out: collage.Error or the subclass of its kind, thrown.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "api/c/collage.h"

namespace collage::python {

/// The table of libcollage.so. Throws ImportError when the library is of another version.
[[nodiscard]] const collage_api& api();

/// Throws when `status` is not null; takes it. The interpreter's lock is held.
void check(collage_status* status);

[[noreturn]] void raise(int kind, const char* code, const std::string& where, const std::string& saw,
                        const std::string& allowed);

}  // namespace collage::python
