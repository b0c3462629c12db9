// Linked into every program of an AddressSanitizer build: drops RTLD_DEEPBIND, which OpenVINO's TBB asks for and
// AddressSanitizer cannot live with.
#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int mode) noexcept {
  using Dlopen = void* (*)(const char*, int);
  static const auto next = reinterpret_cast<Dlopen>(dlsym(RTLD_NEXT, "dlopen"));
  return next(file, mode & ~RTLD_DEEPBIND);
}
