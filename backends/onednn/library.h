// Version and properties of the oneDNN library in this process.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <string>

namespace collage::onednn {

/// Each major version of the library is a backend of its own, made of these sources: onednn is 2.x, onednn3 is 3.x.
#ifdef COLLAGE_ONEDNN_KIND
inline constexpr const char* kBackendKind = COLLAGE_ONEDNN_KIND;
#else
inline constexpr const char* kBackendKind = "onednn";
#endif

/// Version 3 has what products of bytes need, zero points and scales as arguments; and a graph interface.
inline constexpr bool kIsVersion3 = DNNL_VERSION_MAJOR >= 3;

/// "2.6.3".
[[nodiscard]] std::string library_version();
/// Version, commit when known, the linker's build id of the loaded file, threading runtime, instruction set in use.
[[nodiscard]] std::string library_build();

}  // namespace collage::onednn
