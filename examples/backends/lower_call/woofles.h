/* An example of what a maker of hardware ships: a few functions in C, one for each operator. */
#ifndef WOOFLES_H
#define WOOFLES_H

#include <stdint.h>

void woofles_add(const float* a, const float* b, float* out, int64_t count);
void woofles_multiply(const float* a, const float* b, float* out, int64_t count);

#endif
