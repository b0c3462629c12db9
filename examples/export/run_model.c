/* Runs an exported model once on inputs of ones and prints the first number of every output. */
#include "model.h"

#include <stdio.h>
#include <string.h>

static unsigned char memory[MODEL_WORKSPACE_BYTES] __attribute__((aligned(MODEL_ALIGNMENT)));

static const size_t input_bytes[] = MODEL_INPUT_SIZES;
static const int input_types[] = MODEL_INPUT_TYPES;
static const int output_types[] = MODEL_OUTPUT_TYPES;
static const char* const output_names[] = MODEL_OUTPUT_NAMES;

enum { FLOAT32 = 1 }; /* of ONNX's types */

static void write_ones(void* data, size_t bytes, int type) {
  const float one = 1;
  if (type != FLOAT32) memset(data, 1, bytes);
  for (size_t at = 0; type == FLOAT32 && at < bytes; at += sizeof one) memcpy((char*)data + at, &one, sizeof one);
}

int main(void) {
  model_instance* model = NULL;
  int status = model_abi() == MODEL_ABI ? MODEL_GOOD : MODEL_USAGE;
  if (status == MODEL_GOOD) status = model_init(memory, sizeof memory, &model);
  for (size_t i = 0; status == MODEL_GOOD && i < MODEL_INPUT_COUNT; ++i)
    write_ones(model_input(model, i), input_bytes[i], input_types[i]);
  if (status == MODEL_GOOD) status = model_run(model, NULL, NULL);
  for (size_t i = 0; status == MODEL_GOOD && i < MODEL_OUTPUT_COUNT; ++i) {
    float first = 0;
    if (output_types[i] == FLOAT32) memcpy(&first, model_output(model, i), sizeof first);
    printf("%s[0] = %g\n", output_names[i], first);
  }
  if (status != MODEL_GOOD) fprintf(stderr, "run_model: %s\n", model_error(model));
  model_free(model);
  return status;
}
