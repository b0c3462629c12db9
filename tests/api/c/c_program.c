// A program as C99 writes it: what is compiled here is what the header promises to C.
#include "tests/api/c/c_program.h"

#include "c/collage.h"

void c_program_sizes(size_t sizes[C_PROGRAM_SIZES]) {
  sizes[0] = sizeof(collage_api);
  sizes[1] = sizeof(collage_plan_options);
  sizes[2] = sizeof(collage_session_options);
  sizes[3] = sizeof(collage_tensor_info);
  sizes[4] = sizeof(collage_tensor);
  sizes[5] = sizeof(collage_shape);
  sizes[6] = sizeof(collage_verdict);
  sizes[7] = sizeof(collage_run_options);
}

int c_program_run(const char* path, const float* in, float* out, size_t count) {
  const collage_api* const api = collage_get_api(COLLAGE_API_VERSION);
  const collage_plan_options options = {.size = sizeof options};
  collage_plan* plan = NULL;
  collage_session* session = NULL;
  int kind;
  collage_status* status = api->plan_load_file(path, &options, &plan);
  if (status == NULL) status = api->session_create(plan, NULL, &session);
  if (status == NULL) status = api->session_copy_input(session, 0, in, count * sizeof *in);
  if (status == NULL) status = api->session_run(session);
  if (status == NULL) status = api->session_copy_output(session, 0, out, count * sizeof *out);
  kind = (int)api->status_kind(status);
  api->status_free(status);
  api->session_free(session);
  api->plan_free(plan);
  return kind;
}
