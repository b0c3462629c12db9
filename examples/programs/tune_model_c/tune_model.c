// Tunes a model, prints how far it is and what was found, then runs the plan on an input of ones.
#include <collage/collage_tune.h>

#include <stdio.h>
#include <stdlib.h>

/// Prints what went wrong and frees it; 0 when nothing did, else what the program ends with.
static int report_error(const collage_api* api, collage_status* status) {
  const int kind = (int)api->status_kind(status);
  if (status != NULL) fprintf(stderr, "tune_model_c: %s\n", api->status_message(status));
  api->status_free(status);
  return kind;
}

static void show(const collage_progress* now, void* shown) {
  size_t* const count = shown;
  ++*count;
  if (now->note[0] != '\0') fprintf(stderr, "%s: %s\n", now->phase, now->note);
  if (now->total > 0 && now->done == now->total) fprintf(stderr, "%s: all %zu done\n", now->phase, now->total);
}

/// Writes the plan and prints the report.
static collage_status* tune(const collage_tune_api* tuner, const char* model, const char* plan, double budget_s) {
  size_t shown = 0;
  collage_context context = {.size = sizeof context, .progress = show, .progress_data = &shown};
  const collage_tune_options options = {
      .size = sizeof options, .model = model, .plan = plan, .budget_s = budget_s, .context = &context};
  collage_report* report = NULL;
  collage_tune_summary summary = {.size = sizeof summary};
  collage_status* status = tuner->tune(&options, &report);
  if (status == NULL) status = tuner->report_tune_summary(report, &summary);
  if (status == NULL)
    printf("%s%zu messages; %g us, %zu steps, fastest engine: %s\n", tuner->report_text(report), shown,
           summary.measured_us, summary.steps, summary.best_rival);
  tuner->report_free(report);
  return status;
}

/// Runs the plan, of fixed shapes, and prints the first number of its first output.
static collage_status* run(const collage_api* api, const char* path) {
  collage_plan* plan = NULL;
  collage_session* session = NULL;
  void* input = NULL;
  size_t bytes = 0;
  collage_tensor output = {.size = sizeof output};
  collage_status* status = api->plan_load_file(path, NULL, &plan);
  if (status == NULL) status = api->session_create(plan, NULL, &session);
  if (status == NULL) status = api->session_input(session, 0, &input, &bytes);
  for (size_t i = 0; status == NULL && i < bytes / sizeof(float); ++i) ((float*)input)[i] = 1;
  if (status == NULL) status = api->session_run(session);
  if (status == NULL) status = api->session_output(session, 0, &output);
  if (status == NULL && output.element_type == COLLAGE_FLOAT32 && output.bytes > 0)
    printf("output[0] = %g\n", *(const float*)output.data);
  api->session_free(session);
  api->plan_free(plan);
  return status;
}

int main(int argc, char** argv) {
  const collage_api* const api = collage_get_api(COLLAGE_API_VERSION);
  const collage_tune_api* const tuner = collage_get_tune_api(COLLAGE_TUNE_API_VERSION);
  if (argc != 4 || api == NULL || tuner == NULL) {
    fprintf(stderr, argc != 4 ? "usage: tune_model_c MODEL PLAN SECONDS\n" : "tune_model_c: another libcollage.so\n");
    return COLLAGE_USAGE;
  }
  collage_status* status = tune(tuner, argv[1], argv[2], atof(argv[3]));
  if (status == NULL) status = run(api, argv[2]);
  return report_error(api, status);
}
