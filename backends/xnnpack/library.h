// The XNNPACK library in this process: it is linked in, and initialised once. Its answers as exceptions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/type.h"

namespace collage::xnnpack {

/// Prepares the library for this processor, at the first call. Empty, or why it cannot run here.
[[nodiscard]] const std::string& initialise();
/// Debian's name of the version.
[[nodiscard]] std::string library_version();
/// Version, and the library's identifier of its kernels.
[[nodiscard]] std::string library_build();
/// "invalid parameter": the library's status codes in words.
[[nodiscard]] std::string status_text(int status);

/// Throws std::runtime_error that says what failed, unless the status is success.
void check_status(int status, const std::string& what);
/// The same for a condition of ours.
void require(bool holds, const char* what);
/// Extents as the library takes them. Throws for a negative one.
[[nodiscard]] std::vector<std::size_t> sizes_of(const Extents& extents);

}  // namespace collage::xnnpack
