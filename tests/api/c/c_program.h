/* What the program in C offers the tests that run it. */
#ifndef COLLAGE_TESTS_C_PROGRAM_H
#define COLLAGE_TESTS_C_PROGRAM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { C_PROGRAM_SIZES = 8 };
/* Sizes of the structs of collage.h as C sees them. */
void c_program_sizes(size_t sizes[C_PROGRAM_SIZES]);

/* Runs a plan of one input and one output, f32 both. Returns the kind of error. */
int c_program_run(const char* path, const float* in, float* out, size_t count);

#ifdef __cplusplus
}
#endif

#endif
