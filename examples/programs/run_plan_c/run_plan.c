// Runs a plan on inputs of ones and prints the first number of every output. Extents that the plan leaves open
// become 1.
#include <collage/collage.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/// Prints what went wrong and frees it; 0 when nothing did, else what the program ends with.
static int report(const collage_api* api, collage_status* status) {
  const int kind = (int)api->status_kind(status);
  if (status != NULL) fprintf(stderr, "run_plan_c: %s\n", api->status_message(status));
  api->status_free(status);
  return kind;
}

/// Sets the shapes of all inputs, the open extents to 1.
static collage_status* choose_shapes(const collage_api* api, const collage_plan* plan, collage_session* session) {
  size_t count = 0;
  collage_status* status = api->plan_input_count(plan, &count);
  collage_shape* shapes = calloc(count + 1, sizeof *shapes);
  int64_t(*extents)[16] = calloc(count + 1, sizeof *extents);
  for (size_t i = 0; status == NULL && shapes != NULL && extents != NULL && i < count; ++i) {
    collage_tensor_info info = {.size = sizeof info};
    status = api->plan_input_info(plan, i, &info);
    if (status != NULL || info.rank > 16) break;
    for (int32_t d = 0; d < info.rank; ++d) extents[i][d] = info.extents[d] < 0 ? 1 : info.extents[d];
    shapes[i].extents = extents[i];
    shapes[i].rank = (size_t)info.rank;
  }
  if (status == NULL && shapes != NULL) status = api->session_set_shapes(session, shapes, count);
  free(shapes);
  free(extents);
  return status;
}

static collage_status* write_ones(const collage_api* api, const collage_plan* plan, collage_session* session) {
  size_t count = 0;
  collage_status* status = api->plan_input_count(plan, &count);
  for (size_t i = 0; status == NULL && i < count; ++i) {
    void* data = NULL;
    size_t bytes = 0;
    status = api->session_input(session, i, &data, &bytes);
    for (size_t k = 0; status == NULL && k < bytes / sizeof(float); ++k) ((float*)data)[k] = 1;
  }
  return status;
}

static collage_status* print_outputs(const collage_api* api, const collage_plan* plan, collage_session* session) {
  size_t count = 0;
  collage_status* status = api->plan_output_count(plan, &count);
  for (size_t i = 0; status == NULL && i < count; ++i) {
    collage_tensor_info info = {.size = sizeof info};
    collage_tensor tensor = {.size = sizeof tensor};
    status = api->plan_output_info(plan, i, &info);
    if (status == NULL) status = api->session_output(session, i, &tensor);
    if (status != NULL) break;
    printf("%s [", info.name);
    for (int32_t d = 0; d < tensor.rank; ++d) printf("%s%lld", d == 0 ? "" : ",", (long long)tensor.extents[d]);
    printf("]");
    if (tensor.element_type == COLLAGE_FLOAT32 && tensor.bytes > 0) printf("[0] = %g", *(const float*)tensor.data);
    printf("\n");
  }
  return status;
}

int main(int argc, char** argv) {
  const collage_api* const api = collage_get_api(COLLAGE_API_VERSION);
  if (argc != 2 || api == NULL) {
    fprintf(stderr, api == NULL ? "run_plan_c: another libcollage.so\n" : "usage: run_plan_c PLAN\n");
    return COLLAGE_USAGE;
  }
  collage_plan* plan = NULL;
  collage_session* session = NULL;
  collage_status* status = api->plan_load_file(argv[1], NULL, &plan);
  if (status == NULL) status = api->session_create(plan, NULL, &session);
  if (status == NULL) status = choose_shapes(api, plan, session);
  if (status == NULL) status = write_ones(api, plan, session);
  if (status == NULL) status = api->session_run(session);
  if (status == NULL) status = print_outputs(api, plan, session);
  api->session_free(session);
  api->plan_free(plan);
  return report(api, status);
}
