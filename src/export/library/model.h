// What an exported library is made of beside its code: the tables that `collage export` writes, and the functions
// behind the C functions of the model. C99 and C++; the generated source of a library includes it.
#ifndef COLLAGE_EXPORT_MODEL_H
#define COLLAGE_EXPORT_MODEL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(readability-identifier-naming,modernize-*): names of a C interface

// Bytes at the start of a workspace for the library's own use.
#define COLLAGE_EXPORT_HEAD_BYTES 1024
// Of a workspace, and of all that lies in it.
#define COLLAGE_EXPORT_ALIGNMENT 64

typedef struct collage_export_bytes {
  const char* name;  // of an artifact: its hash
  const void* data;
  size_t size;
} collage_export_bytes;

// One input or output in the workspace.
typedef struct collage_export_port {
  size_t offset;
  size_t bytes;
} collage_export_port;

typedef struct collage_export_model {
  const char* plan;  // in the form of plan/file/plan_binary.h
  size_t plan_bytes;
  const void* weights;  // weights.bin, at a multiple of COLLAGE_EXPORT_ALIGNMENT
  size_t weights_bytes;
  const collage_export_bytes* artifacts;
  size_t artifact_count;
  const collage_export_port* inputs;
  size_t input_count;
  const collage_export_port* outputs;
  size_t output_count;
  size_t arena_offset;  // in the workspace
  size_t arena_bytes;
  size_t workspace_bytes;
} collage_export_model;

typedef struct collage_export_instance collage_export_instance;

// These stand behind the functions of the generated header, which says what they do.
int collage_export_init(const collage_export_model* model, void* workspace, size_t bytes,
                        collage_export_instance** instance);
int collage_export_run(collage_export_instance* instance, const void* const* inputs, void* const* outputs);
void* collage_export_input(collage_export_instance* instance, size_t index);
const void* collage_export_output(const collage_export_instance* instance, size_t index);
const char* collage_export_error(const collage_export_instance* instance);
void collage_export_free(collage_export_instance* instance);

// NOLINTEND(readability-identifier-naming,modernize-*)

#ifdef __cplusplus
}
#endif

#endif
