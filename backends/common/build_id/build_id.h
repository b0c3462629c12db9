// Reads the linker's build id of a file that is loaded into this process. It identifies the exact build of a library.
// In:  an address inside the file. Out: its id in hexadecimal digits.
// Cost: a pass over the loaded files.
// Source: the notes of an ELF file, elf(5).
#pragma once

#include <string>

namespace collage {

/// Empty when the file has none, or no file lies there. May be called from many threads.
[[nodiscard]] std::string build_id_of(const void* address);

}  // namespace collage
