/* tune_program LIBRARIES MODEL PLAN BUDGET [fork]: tunes with the libraries of a folder, as a program of its own does.
   Prints the error, or what ships. With "fork" a copy of the process outlives it for a while. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/c/collage.h"
#include "api/c_tune/collage_tune.h"

static void* function_of(const char* folder, const char* library, const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, library);
  void* const handle = dlopen(path, RTLD_NOW);
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(99);
  }
  return dlsym(handle, name);
}

static void fork_once(const collage_progress* progress, void* done) {
  if (strcmp(progress->phase, "price") != 0 || *(int*)done) return;
  *(int*)done = 1;
  if (fork() == 0) {
    sleep(20);
    _exit(0);
  }
}

int main(int argc, char** argv) {
  if (argc < 5) return 98;
  const collage_api* (*get_api)(uint32_t);
  const collage_tune_api* (*get_tuner)(uint32_t);
  *(void**)&get_tuner = function_of(argv[1], "libcollage_tuner.so.0", "collage_get_tune_api");
  *(void**)&get_api = function_of(argv[1], "libcollage.so.0", "collage_get_api");
  const collage_api* const api = get_api(COLLAGE_API_VERSION);
  const collage_tune_api* const tuner = get_tuner(COLLAGE_TUNE_API_VERSION);
  int has_forked = 0;
  const char* const backends[] = {"onnxruntime"};
  collage_context context = {.size = sizeof context};
  context.store = "memory:";
  if (argc > 5) context.progress = fork_once;
  context.progress_data = &has_forked;
  collage_tune_options options = {.size = sizeof options};
  options.model = argv[2];
  options.plan = argv[3];
  options.budget_s = atof(argv[4]);
  options.backends.items = backends;
  options.backends.count = 1;
  options.context = &context;
  collage_report* report = NULL;
  collage_status* const status = tuner->tune(&options, &report);
  collage_tune_summary summary = {.size = sizeof summary};
  if (status == NULL) api->status_free(tuner->report_tune_summary(report, &summary));
  printf("%s\n", status != NULL ? api->status_message(status) : summary.shipped);
  const int kind = api->status_kind(status);
  api->status_free(status);
  tuner->report_free(report);
  return kind;
}
