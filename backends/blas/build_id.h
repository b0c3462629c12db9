// The linker's build id of a file that is loaded into this process.
// In: the address it is loaded at. Out: its id in hexadecimal digits.
// Cost: a pass over the loaded files.
// Source: the notes of an ELF file, elf(5).
#pragma once

#include <link.h>

#include <string>

namespace collage::blas {

/// Empty when the file has none.
[[nodiscard]] std::string build_id_at(ElfW(Addr) load_address);

}  // namespace collage::blas
