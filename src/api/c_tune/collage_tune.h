// The C interface for tuning: makes plans from models, times, checks and explains them. C99 and C++.
// In: ONNX models, plan files, options. Out: plan files, reports as JSON, as text and as numbers.
//
//     const collage_tune_api* tuner = collage_get_tune_api(COLLAGE_TUNE_API_VERSION);
//     collage_tune_options options = {.size = sizeof options};
//     options.model = "model.onnx";
//     options.plan = "model.collage";
//     options.budget_s = 60;
//     collage_report* report = NULL;
//     collage_status* status = tuner->tune(&options, &report);
//     if (status == NULL) puts(tuner->report_text(report));
//     tuner->report_free(report);
//     collage_get_api(COLLAGE_API_VERSION)->status_free(status);
//
// A library of its own, libcollage_tuner.so: who only runs plans (collage.h) loads none of what a tune needs. Statuses
//     and plans are those of collage.h and freed by its functions.
// Errors, ownership, growth: as in collage.h. Numbers that are 0 and pointers that are NULL mean the default.
// Threads: different calls may be under way at the same time, but times are right only when nothing else computes: let
//     one tune or bench run at a time, and keep other threads idle. Callbacks come on the calling thread.
// Processes: what is measured runs in workers, processes of the program collage-worker in lib/collage beside the
//     library, never of the caller's own executable. They inherit no open files and end with the caller. Without that
//     program: error worker/cannot-start. Signal handlers of the caller stay as they are, and a caller that ignores
//     SIGCHLD or waits for all children only hides how a worker ended. The code of backends that passed in a worker is
//     then loaded into the caller, too.
#ifndef COLLAGE_TUNE_H
#define COLLAGE_TUNE_H

#include "collage.h"

// NOLINTBEGIN(readability-identifier-naming,modernize-*): names of a C interface

#ifdef __cplusplus
extern "C" {
#endif

/// Of the table below. It grows at its end within a version; `size` says how far it goes.
#define COLLAGE_TUNE_API_VERSION 1

typedef struct collage_report collage_report;  ///< what a call found out

/// How far a call is. Texts live until the callback returns.
typedef struct collage_progress {
  size_t size;        ///< sizeof(collage_progress) of the library
  const char* phase;  ///< "import", "record", "price", "search", "confirm"...
  size_t done;
  size_t total;  ///< 0 when it cannot be told
  size_t refused;
  double best_us;     ///< best end-to-end time known so far; 0 when none
  double left_s;      ///< until all is done; below 0 when it cannot be told
  const char* note;   ///< a message of one line, often ""
  const char* rival;  ///< the fastest engine on the whole model, or "" when none has run yet
  double speedup;     ///< how many times faster than it the best is; 0 when that is not known
} collage_progress;

/// Returns quickly and throws nothing. `user_data` is collage_context.progress_data.
typedef void (*collage_progress_callback)(const collage_progress* progress, void* user_data);

/// A list of texts; {NULL, 0} is none.
typedef struct collage_texts {
  const char* const* items;  ///< `count` of them
  size_t count;
} collage_texts;

/// What all functions of the table take.
typedef struct collage_context {
  size_t size;
  const char* store;      ///< of costs: a path, "memory:", "sqlite:PATH"; NULL = the default of the command
  collage_texts modules;  ///< files libcollage_backend_KIND.so, which take part in a tune, or folders with such files;
                          ///< besides those beside the library and in $COLLAGE_BACKEND_PATH. "operators:FILE" is a
                          ///< library of custom operators for ONNX Runtime
  collage_texts worker;   ///< argv of another program that serves as worker, to which the socket's number is appended;
                          ///< `modules` are its own affair
  collage_progress_callback progress;
  void* progress_data;
  const collage_cancel* cancel;
  int32_t
      trust_models;  ///< not 0: models are read in this process; else in a worker, which a hostile file cannot leave
  int32_t reserved;  ///< 0
  collage_texts limits;  ///< "NAME=VALUE": how much a model may ask for, of what `collage limits` lists
} collage_context;

/// How long a candidate takes, as far as the caller knows. `candidate` is a JSON object
/// (docs/schemas/candidate.schema.json) that lives until the callback returns. Returns 1 with microseconds in `us`, 0
/// when it cannot tell, less than 0 to end the tune with error tune/estimate-failed. Called on the calling thread, once
/// for each candidate.
typedef int32_t (*collage_estimate_callback)(const char* candidate, double* us, void* user_data);

/// As the options of `collage tune`, which docs/CLI.md describes.
typedef struct collage_tune_options {
  size_t size;
  const char* model;        ///< path of the .onnx file; or its bytes:
  const void* model_bytes;  ///< without external data; the plan then has no path of a model
  size_t model_byte_count;
  const char* plan;            ///< path to write
  double budget_s;             ///< 0 = 60
  double schedule_budget_s;    ///< on top of it, for schedules of kernels
  int32_t threads;             ///< that may compute at once; 0 = 1
  const char* accuracy;        ///< "strict", "standard" (the default), "fast", or "max=1e-2,mean=1e-3,cosine>=0.999"
  collage_texts shapes;        ///< "x=1x3x224x224", "batch=8", "batch=1..8"
  collage_texts at;            ///< with ranges: "batch=4:2"
  size_t points;               ///< with ranges: most shapes that are sampled, up to 256; 0 = 16
  collage_texts backends;      ///< that may take nodes; none = the usual ones
  const char* only;            ///< this backend, or those of this device, take all that they can
  collage_texts bans;          ///< "GLOB=NAME"
  collage_texts pins;          ///< "GLOB=NAME"
  const char* rules;           ///< path of a file of rules (docs/RULES.md)
  const char* rules_text;      ///< or its text
  collage_texts passes_off;    ///< names of passes that do not simplify the graph
  collage_texts input_ranges;  ///< "NAME=LO..HI"
  uint64_t seed;               ///< 0 = 1
  int64_t memory_cap;          ///< bytes; 0 = none
  const collage_context* context;
  collage_estimate_callback estimate;  ///< NULL = none; a wrong one never makes a plan wrong
  void* estimate_data;
  int32_t estimates_only;  ///< not 0: candidates with an estimate are not measured; else estimates are forecasts
  int32_t measure_all;     ///< not 0: every candidate is measured, not only those that a best plan may need
  int32_t for_library;     ///< not 0: only what `collage export` can link takes nodes; without ranges in `shapes`
  int32_t reserved;        ///< 0
  int32_t portable;        ///< not 0: kernels for processors with fewer instructions too, after the budget
  int32_t reserved_too;    ///< 0
} collage_tune_options;

/// For plan_of_model.
typedef struct collage_model_options {
  size_t size;
  const char* model;        ///< path; or
  const void* model_bytes;  ///< bytes, without external data
  size_t model_byte_count;
  int32_t threads;       ///< 0 = 1
  collage_texts shapes;  ///< of open dimensions, one extent each
  const collage_context* context;
} collage_model_options;

typedef struct collage_bench_options {
  size_t size;
  const char* plan;       ///< path of a plan, or of a model
  const char* model;      ///< the model's present path; default: the one in the plan
  collage_texts shapes;   ///< of a model, or of a plan of many shapes: which
  collage_texts against;  ///< engines, or paths of plans of the same model; none = the usual rivals
  int32_t threads;        ///< 0 = as the plan was tuned
  double seconds;         ///< 0 = 5
  uint64_t seed;          ///< 0 = 1
  collage_texts input_ranges;
  const collage_context* context;
} collage_bench_options;

/// For verify, recheck and explain.
typedef struct collage_check_options {
  size_t size;
  const char* plan;
  const char* model;     ///< the model's present path; default: the one in the plan
  collage_texts shapes;  ///< verify, explain: of a plan of many shapes, which
  int32_t seeds;         ///< verify: how many sets of inputs; 0 = 1
  uint64_t seed;         ///< 0 = 1
  int32_t always;        ///< recheck: not 0 = measures even if nothing differs
  collage_texts input_ranges;
  const collage_context* context;
  const char* node;     ///< explain: a glob; only the steps that compute these nodes
  const char* why_not;  ///< explain: "NODE=BACKEND", why the backend does not run the node, in place of the steps
} collage_check_options;

/// The numbers of a tune that programs ask for; all else is in the JSON. With ranges the counts are sums over all
/// shapes, and numbers that belong to one shape are 0.
typedef struct collage_tune_summary {
  size_t size;
  double tune_s;
  double measured_us;    ///< of the plan, end to end; 0 = not measured
  double best_rival_us;  ///< of the fastest whole-model engine; 0 = none
  double model_bound_us;
  double proven_bound_us;
  size_t steps;
  size_t candidates;
  size_t measured;
  size_t reused;
  size_t refused;
  int32_t interrupted;     ///< not 0: ended early by collage_cancel; the plan is the best found so far
  const char* best_rival;  ///< its name or ""
  const char* shipped;     ///< "cover" or a rival's name
} collage_tune_summary;

typedef struct collage_tune_api {
  size_t size;
  uint32_t version;

  /// Measures, chooses, writes the plan. With ranges in `shapes` a plan of many shapes. A tune that was cancelled
  /// writes the best plan found so far, which the report says. Errors: import/*, shape/*, backend/*, tune/*, io/*,
  /// region/*, worker/cannot-start; tune/interrupted when it was cancelled before there was any plan.
  collage_status* (*tune)(const collage_tune_options* options, collage_report** report);
  /// A model as a plan of one step that is ready to run: one engine takes it whole, nothing is measured. Errors:
  /// import/*, engine/refused, backend/*.
  collage_status* (*plan_of_model)(const collage_model_options* options, collage_plan** plan);
  /// Times a plan or model against whole-model engines; report_ok says whether the plan's numbers are right. A bench
  /// that was cancelled has fewer rounds. Errors: as plan_load_file, import/*, backend/*.
  collage_status* (*bench)(const collage_bench_options* options, collage_report** report);
  /// Compares a plan with the reference; report_ok says whether all outputs agree. It cannot be cancelled.
  collage_status* (*verify)(const collage_check_options* options, collage_report** report);
  /// Whether a plan still fits this machine; report_ok: it need not be tuned again. Error measure/stopped when it was
  /// cancelled.
  collage_status* (*recheck)(const collage_check_options* options, collage_report** report);
  /// Who runs what and why. It measures nothing.
  collage_status* (*explain)(const collage_check_options* options, collage_report** report);
  /// The backends found, their versions, and why others are not usable. `context` may be NULL.
  collage_status* (*backends)(const collage_context* context, collage_report** report);

  // ---- What a call found out. Texts live as long as the report; of NULL they are "".

  /// One JSON object with "schema", as `--json` of the command of the same name.
  const char* (*report_json)(const collage_report* report);
  const char* (*report_text)(const collage_report* report);  ///< for people
  int32_t (*report_ok)(const collage_report* report);        ///< 0: a check found a difference; of NULL, too
  /// Of a report of tune. Error api/wrong-report.
  collage_status* (*report_tune_summary)(const collage_report* report, collage_tune_summary* summary);
  void (*report_free)(collage_report* report);  ///< NULL is allowed

  /// The same handles as those of collage_api.
  collage_status* (*cancel_create)(collage_cancel** cancel);
  /// From any thread, but not from inside a signal handler. Measuring ends within about 100 ms; what is then still to
  /// do, such as writing the plan, is done. NULL is allowed.
  void (*cancel_now)(const collage_cancel* cancel);
  void (*cancel_free)(collage_cancel* cancel);  ///< calls that were given it may still be under way. NULL is allowed.

  /// What the program collage-worker does, for a worker program of the caller's own (collage_context.worker): serves
  /// the jobs that come on the socket of this number until it is closed, with the backends of `modules` besides those
  /// beside the library and in $COLLAGE_BACKEND_PATH. Gives the exit status of the process, which is no use for
  /// anything else afterwards: limits are set for all of it.
  int32_t (*serve_worker)(int32_t socket, collage_texts modules);
} collage_tune_api;

/// The table of this version, which lives as long as the program; NULL when the library has no such version.
COLLAGE_EXPORT const collage_tune_api* collage_get_tune_api(uint32_t version);

// NOLINTEND(readability-identifier-naming,modernize-*)

#ifdef __cplusplus
}
#endif

#endif
