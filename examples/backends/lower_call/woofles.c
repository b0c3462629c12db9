#include "woofles.h"

#include <HalideRuntime.h>

void woofles_add(const float* a, const float* b, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

void woofles_multiply(const float* a, const float* b, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = a[i] * b[i];
}

/* What tensor code calls: buffers in place of pointers. A call whose result has no memory asks which parts of the
   operands are needed; here they are always whole, so there is nothing to answer. */
typedef void (*function)(const float*, const float*, float*, int64_t);

static int call(function f, halide_buffer_t* a, halide_buffer_t* b, halide_buffer_t* out) {
  if (out->host != 0) f((const float*)a->host, (const float*)b->host, (float*)out->host, out->dim[0].extent);
  return 0;
}

int woofles_add_stage(halide_buffer_t* a, halide_buffer_t* b, halide_buffer_t* out) {
  return call(woofles_add, a, b, out);
}

int woofles_multiply_stage(halide_buffer_t* a, halide_buffer_t* b, halide_buffer_t* out) {
  return call(woofles_multiply, a, b, out);
}
