/* Times an exported model: from loading its library until an instance is ready, until the first result, and single runs in
   a loop. Prints lines of microseconds, "ready US", "first US" and "run MEDIAN". Arguments: the library, for how many
   seconds to run (a processor changes its speed for milliseconds at a time: a few runs show one of its speeds). */
#define _GNU_SOURCE /* the dynamic loader, the clock */

#include "model.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned char memory[MODEL_WORKSPACE_BYTES] __attribute__((aligned(2097152)));
static const size_t input_bytes[] = MODEL_INPUT_SIZES;
static const int input_types[] = MODEL_INPUT_TYPES;

enum { FLOAT32 = 1 };       /* of ONNX's types */
enum { MOST_RUNS = 1 << 20 }; /* whose times are kept */

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Small numbers around 0; zeros for other types. */
static void fill(void* data, size_t bytes, int type) {
  unsigned state = 1;
  memset(data, 0, bytes);
  for (size_t at = 0; type == FLOAT32 && at + sizeof(float) <= bytes; at += sizeof(float)) {
    state = state * 1664525U + 1013904223U;
    const float value = (float)(state >> 8) / 8388608.0F - 1.0F;
    memcpy((char*)data + at, &value, sizeof value);
  }
}

static int compare(const void* a, const void* b) {
  const double left = *(const double*)a;
  const double right = *(const double*)b;
  return (left > right) - (left < right);
}

typedef int init_function(void*, size_t, model_instance**);
typedef int run_function(model_instance*, const void* const*, void* const*);

/* ISO C has no cast from an object's address to a function's. */
static void find(void* library, const char* name, void* function) {
  void* const address = dlsym(library, name);
  memcpy(function, &address, sizeof address);
}

int main(int argc, char** argv) {
  if (argc != 3) return MODEL_USAGE;
  const double seconds = atof(argv[2]);
  void* inputs[MODEL_INPUT_COUNT + 1] = {NULL};
  for (size_t i = 0; i < MODEL_INPUT_COUNT; ++i) {
    inputs[i] = malloc(input_bytes[i] + 1);
    if (inputs[i] == NULL) return MODEL_LIMIT;
    fill(inputs[i], input_bytes[i], input_types[i]);
  }
  const double begin = now_us();
  void* const library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "time_model: %s\n", dlerror());
    return MODEL_USAGE;
  }
  init_function* init = NULL;
  run_function* run = NULL;
  find(library, "model_init", &init);
  find(library, "model_run", &run);
  model_instance* model = NULL;
  int status = init(memory, sizeof memory, &model);
  printf("ready %.1f\n", now_us() - begin);
  if (status == MODEL_GOOD) status = run(model, (const void* const*)inputs, NULL);
  printf("first %.1f\n", now_us() - begin);
  double* const times = malloc(MOST_RUNS * sizeof *times);
  const double end = now_us() + seconds * 1e6;
  int runs = 0;
  for (double start = now_us(); status == MODEL_GOOD && times != NULL && runs < MOST_RUNS && start < end; ++runs) {
    status = run(model, NULL, NULL);
    const double stop = now_us();
    times[runs] = stop - start;
    start = stop;
  }
  if (runs > 0) {
    qsort(times, (size_t)runs, sizeof *times, compare);
    printf("run %.3f\n", times[runs / 2]);
  }
  for (size_t i = 0; i < MODEL_INPUT_COUNT; ++i) free(inputs[i]);
  free(times);
  return status;
}
