// The floating-point mode in which plans are checked and run: round to nearest, denormal numbers kept, exceptions
// masked. In:  the mode of the calling thread, whatever its program set. Out: the same mode again, its sticky flags
// included. Cost: a few nanoseconds.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace collage {

/// The default mode on this thread for as long as it lives.
class DefaultFloatMode {
 public:
#if defined(__SSE__)
  DefaultFloatMode() : before_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~DefaultFloatMode() { _mm_setcsr(before_); }
#else
  DefaultFloatMode() = default;
#endif
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned kDefault = 0x1F80;  // MXCSR as a process starts with it
  unsigned before_;
#endif
};

}  // namespace collage
