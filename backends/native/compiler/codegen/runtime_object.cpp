#include "compiler/codegen/runtime_object.h"

asm(".section .rodata\n"
    ".balign 16\n"
    ".local collage_native_runtime_begin\n"
    "collage_native_runtime_begin:\n"
    ".incbin \"" COLLAGE_NATIVE_RUNTIME_OBJECT
    "\"\n"
    ".local collage_native_runtime_end\n"
    "collage_native_runtime_end:\n"
    ".previous\n");

extern "C" {
extern const char collage_native_runtime_begin[] __attribute__((visibility("hidden")));
extern const char collage_native_runtime_end[] __attribute__((visibility("hidden")));
}

namespace collage::native {

std::string_view runtime_object() {
  return {collage_native_runtime_begin,
          static_cast<std::size_t>(collage_native_runtime_end - collage_native_runtime_begin)};
}

}  // namespace collage::native
