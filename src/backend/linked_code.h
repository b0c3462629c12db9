// The table of machine code in a library that holds one model (src/export): what ExportExtension::exported() named. The
// library defines it; a backend looks its entry points up in it, as it would in a shared object.
#pragma once

#include <cstddef>

extern "C" {

/// One entry point.
struct collage_linked_symbol {  // NOLINT(readability-identifier-naming): shared with C
  const char* code;             ///< LinkedCode::name
  const char* symbol;           ///< one of LinkedCode::symbols
  void* address;
};

/// Rows of one code are neighbours.
extern const collage_linked_symbol collage_linked_symbols[];
extern const std::size_t collage_linked_symbol_count;
}
