// Compiles and links a library from its texts, object files and the runtime's archive.
// In:  parts of a library. Out: bytes of the shared library and, where asked for, of the static one.
// How: the C++ compiler driver with its linker, `as` and `objcopy`, in a temporary folder; the words that they are
//      called with do not depend on its name, so equal parts give equal bytes.
// Cost: a second, most of it the linker's.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/buffer.h"
#include "export/linked_parts.h"

namespace collage {

struct LibraryParts {
  const LinkedParts* parts = nullptr;
  std::span<const std::byte> weights;
  std::string name;            ///< a C identifier
  std::string file_name;       ///< of the shared library: what its users record as needed
  std::string archive_folder;  ///< with libcollage_export.a (archive_folder())
};

/// lib/collage/export of the tree that this program belongs to. Error export/no-runtime when it is not there.
[[nodiscard]] Result<std::string> archive_folder();

struct LinkedLibrary {
  Buffer shared;
  Buffer archive;  ///< empty unless asked for
};

/// Errors export/no-linker: a program that is missing, and what to install; export/link-failed with its words;
/// io/cannot-write: no room for temporary files.
[[nodiscard]] Result<LinkedLibrary> link_library(const LibraryParts& parts, bool with_archive);

}  // namespace collage
