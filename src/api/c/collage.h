// The C interface: a program loads a plan that `collage tune` wrote, and runs it. C99 and C++.
// In: a plan file or its bytes, bytes of the model's inputs. Out: bytes of its outputs.
//
//     const collage_api* api = collage_get_api(COLLAGE_API_VERSION);
//     collage_plan* plan = NULL;
//     collage_session* session = NULL;
//     collage_status* status = api->plan_load_file("model.collage", NULL, &plan);
//     if (status == NULL) status = api->session_create(plan, NULL, &session);
//     if (status == NULL) status = api->session_copy_input(session, 0, image, sizeof image);
//     if (status == NULL) status = api->session_run(session);
//     if (status == NULL) status = api->session_copy_output(session, 0, scores, sizeof scores);
//     if (status != NULL) fprintf(stderr, "%s\n", api->status_message(status));
//     api->status_free(status);
//     api->session_free(session);
//     api->plan_free(plan);
//
// Errors: a function that can fail returns NULL when all went well, else a status that the caller frees. What it would
//     have written through pointers is then unchanged, except that a new plan or session is NULL. A null pointer and an
//     index that is too large are errors like any other. No C++ exception leaves a function. The use of a handle that
//     was freed cannot be noticed.
// Ownership: the caller frees the plans, sessions and statuses that functions make. All else that a function gives
//     belongs to the handle it was asked of; the caller neither frees nor writes it, except for the bytes that
//     session_input gives. What the caller passes in is read during the call only, except for bound memory and for the
//     bytes of plan_load_memory with borrow_memory.
// Threads: a plan may be used by many threads at once, a session and a status by one at a time. Sessions of one plan
//     may run at the same time. plan_free is called when no other call on this plan is under way.
// Growth: structs with a first member `size` are set to sizeof by the caller: a program that was compiled with an older
//     header works with a newer library. In structs of options all members may be 0, which is the default; members that
//     the library does not know must be 0.
#ifndef COLLAGE_H
#define COLLAGE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define COLLAGE_EXPORT __attribute__((visibility("default")))
#else
#define COLLAGE_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(readability-identifier-naming,modernize-*): names of a C interface

/// Of the table below. It grows at its end within a version; `size` says how far it goes.
#define COLLAGE_API_VERSION 1

typedef struct collage_status collage_status;
typedef struct collage_plan collage_plan;
typedef struct collage_session collage_session;
typedef struct collage_cancel collage_cancel;  ///< asks calls to end early

/// What kind of error: the same numbers as the exit codes of the command `collage`.
enum {
  COLLAGE_GOOD = 0,
  COLLAGE_DIFFERENCE = 1,    ///< a check found a difference
  COLLAGE_USAGE = 2,         ///< the program called something wrongly
  COLLAGE_BAD_INPUT = 3,     ///< a bad plan, shape or input value
  COLLAGE_UNSUPPORTED = 4,   ///< a backend or operator that is not available here
  COLLAGE_LIMIT = 5,         ///< memory, size or time
  COLLAGE_IO = 6,            ///< a file could not be read
  COLLAGE_BUG = 70,          ///< a fault of Collage or of a library behind it
  COLLAGE_INTERRUPTED = 130  ///< the caller asked it to stop before there was anything to give
};

/// Types of elements under ONNX's numbers (TensorProto.DataType). Types of less than 8 bits are packed, the first
/// element in the lowest bits.
enum {
  COLLAGE_UNDEFINED = 0,
  COLLAGE_FLOAT32 = 1,
  COLLAGE_UINT8 = 2,
  COLLAGE_INT8 = 3,
  COLLAGE_UINT16 = 4,
  COLLAGE_INT16 = 5,
  COLLAGE_INT32 = 6,
  COLLAGE_INT64 = 7,
  COLLAGE_STRING = 8,
  COLLAGE_BOOL = 9,
  COLLAGE_FLOAT16 = 10,
  COLLAGE_FLOAT64 = 11,
  COLLAGE_UINT32 = 12,
  COLLAGE_UINT64 = 13,
  COLLAGE_COMPLEX64 = 14,
  COLLAGE_COMPLEX128 = 15,
  COLLAGE_BFLOAT16 = 16,
  COLLAGE_FLOAT8E4M3FN = 17,
  COLLAGE_FLOAT8E4M3FNUZ = 18,
  COLLAGE_FLOAT8E5M2 = 19,
  COLLAGE_FLOAT8E5M2FNUZ = 20,
  COLLAGE_UINT4 = 21,
  COLLAGE_INT4 = 22,
  COLLAGE_FLOAT4E2M1 = 23,
  COLLAGE_FLOAT8E8M0 = 24,
  COLLAGE_UINT2 = 25,
  COLLAGE_INT2 = 26
};

/// Whether a plan fits the backends found here.
enum {
  COLLAGE_SAME = 0,    ///< they are those it was tuned with
  COLLAGE_USABLE = 1,  ///< right results, but times may differ
  COLLAGE_REFUSED = 2  ///< it cannot run; only a plan of many shapes, whose kernels are loaded later, gets this far
};

typedef struct collage_plan_options {
  size_t size;            ///< sizeof(collage_plan_options)
  int32_t threads;        ///< 0 = those the plan was tuned for, which is the only other number allowed
  int32_t borrow_memory;  ///< plan_load_memory: not 0 = use the bytes where they are
  int32_t copy_file;      ///< plan_load_file: not 0 = read the file into memory instead of mapping it
  int32_t reserved;       ///< 0
  /// Public keys in PEM (Ed25519), of which one must have signed the plan (collage sign); NULL = any plan. The
  /// signature is checked over the bytes that are then used: a file is read into memory first.
  const char* signed_by;
} collage_plan_options;

/// Calls task(task_data, index) once for each index below `count`, on any threads, at once or one after the other, and
/// returns when all calls have returned. It does not throw, may be called from several threads at once, and inside a
/// task when that runs a session.
typedef void (*collage_parallel_for)(void* pool, size_t count, void (*task)(void* task_data, size_t index),
                                     void* task_data);

typedef struct collage_session_options {
  size_t size;  ///< sizeof(collage_session_options)
  /// The caller's threads, on which loops of kernels run; NULL = threads of OpenMP and of the libraries of the plan's
  /// steps. A plan for one thread computes on the thread that runs it, with or without.
  collage_parallel_for parallel_for;
  void* pool;            ///< first argument of parallel_for; lives as long as the session
  int32_t pool_threads;  ///< at most so many tasks in a loop; 0 = as many as plan_threads says; needs parallel_for
  int32_t reserved;      ///< 0
} collage_session_options;

/// When a run ends before it is done.
typedef struct collage_run_options {
  size_t size;                   ///< sizeof(collage_run_options)
  int64_t time_limit_ns;         ///< the run ends after so many nanoseconds; 0 = no limit
  const collage_cancel* cancel;  ///< the run ends when it is cancelled; may be NULL
} collage_run_options;

/// What an input or output is.
typedef struct collage_tensor_info {
  size_t size;  ///< sizeof(collage_tensor_info), set by the caller
  const char* name;
  int32_t element_type;        ///< COLLAGE_FLOAT32 ...; COLLAGE_UNDEFINED for what is no tensor
  int32_t rank;                ///< -1 when it is not known
  const int64_t* extents;      ///< `rank` of them, -1 for an open one; NULL when rank is 0 or less
  const char* const* symbols;  ///< likewise: the name of an open extent; NULL where it has none or the extent is known
  size_t bytes;                ///< row-major without gaps; 0 while an extent is open
} collage_tensor_info;

/// What a run gave.
typedef struct collage_tensor {
  size_t size;       ///< sizeof(collage_tensor), set by the caller
  const void* data;  ///< row-major, little-endian
  size_t bytes;
  int32_t element_type;
  int32_t rank;
  const int64_t* extents;  ///< `rank` of them
} collage_tensor;

/// One text in UTF-8, which may contain zeros.
typedef struct collage_string {
  const char* data;  ///< not closed by a zero; may be NULL when bytes is 0
  size_t bytes;
} collage_string;

/// A tensor of strings that a run gave.
typedef struct collage_strings {
  size_t size;                    ///< sizeof(collage_strings), set by the caller
  const collage_string* strings;  ///< row-major, `count` of them
  size_t count;
  int32_t rank;
  int32_t reserved;        ///< 0
  const int64_t* extents;  ///< `rank` of them
} collage_strings;

/// The extents of one input, for session_set_shapes.
typedef struct collage_shape {
  const int64_t* extents;  ///< `rank` of them; may be NULL when rank is 0
  size_t rank;
} collage_shape;

typedef struct collage_verdict {
  size_t size;   ///< sizeof(collage_verdict), set by the caller
  int32_t kind;  ///< COLLAGE_SAME, COLLAGE_USABLE or COLLAGE_REFUSED
  size_t reason_count;
  const char* const* reasons;  ///< sentences, `reason_count` of them
} collage_verdict;

typedef struct collage_api {
  size_t size;       ///< bytes of this table
  uint32_t version;  ///< COLLAGE_API_VERSION of the library

  /// "0.1.0"; lives as long as the program.
  const char* (*version_string)(void);

  // ---- What went wrong. Texts live as long as the status; of NULL they are "" and the kind is COLLAGE_GOOD.

  /// Stable "area/kebab-code", for example "io/cannot-read".
  const char* (*status_code)(const collage_status* status);
  /// All of it on one line: "error[CODE]: WHERE: saw SAW; allowed ALLOWED".
  const char* (*status_message)(const collage_status* status);
  const char* (*status_where)(const collage_status* status);    ///< file, input, argument
  const char* (*status_saw)(const collage_status* status);      ///< what was found there
  const char* (*status_allowed)(const collage_status* status);  ///< what would have been accepted; may be ""
  int32_t (*status_kind)(const collage_status* status);         ///< COLLAGE_USAGE ...
  void (*status_free)(collage_status* status);                  ///< NULL is allowed

  // ---- A plan: loaded once, run by many sessions. Texts and arrays that it gives live until plan_free.

  /// Maps the file and loads its kernels with the backends beside this library and in $COLLAGE_BACKEND_PATH. `options`
  /// may be NULL. While plan or sessions live, the file may be removed, or replaced by renaming another one; if it may
  /// be written or shortened where it is, ask for copy_file: reading what is no longer there ends the process (SIGBUS).
  /// Errors: io/cannot-read, zip/damaged, plan/damaged, plan/is-a-model, plan/wrong-version, plan/missing-backend,
  /// plan/other-threads, backend/*; with signed_by signature/missing, signature/other-key, signature/forged,
  /// signature/changed, signature/damaged, signature/bad-key.
  collage_status* (*plan_load_file)(const char* path, const collage_plan_options* options, collage_plan** plan);
  /// The same for a file whose bytes lie in memory. They are copied, and the caller may free them after the call; with
  /// borrow_memory they stay where they are, unchanged until the plan and all its sessions are freed. (Bytes at an
  /// address that is no multiple of 64 are copied all the same.)
  collage_status* (*plan_load_memory)(const void* bytes, size_t byte_count, const collage_plan_options* options,
                                      collage_plan** plan);
  /// Sessions of the plan live on, and what they need of it with them. NULL is allowed.
  void (*plan_free)(collage_plan* plan);

  collage_status* (*plan_input_count)(const collage_plan* plan, size_t* count);
  collage_status* (*plan_output_count)(const collage_plan* plan, size_t* count);
  /// In the model's order. Extents that a session chooses, or that are not the same for all shapes, are open.
  collage_status* (*plan_input_info)(const collage_plan* plan, size_t index, collage_tensor_info* info);
  collage_status* (*plan_output_info)(const collage_plan* plan, size_t index, collage_tensor_info* info);
  /// Errors input/unknown-name and output/unknown-name.
  collage_status* (*plan_input_index)(const collage_plan* plan, const char* name, size_t* index);
  collage_status* (*plan_output_index)(const collage_plan* plan, const char* name, size_t* index);
  /// At most so many threads compute in one run, the caller's included.
  collage_status* (*plan_threads)(const collage_plan* plan, int32_t* threads);
  collage_status* (*plan_verdict)(const collage_plan* plan, collage_verdict* verdict);
  /// JSON of schema collage.plan-metadata/1: model, shapes, accuracy, backends, number of steps.
  collage_status* (*plan_metadata)(const collage_plan* plan, const char** json);

  // ---- A session: the memory of one caller, with every kernel bound to it.

  /// `options` may be NULL. Errors: runtime/out-of-memory, backend/*; session/pool-not-supported for a pool when the
  /// plan is for several threads and has steps of a backend that starts its own.
  collage_status* (*session_create)(const collage_plan* plan, const collage_session_options* options,
                                    collage_session** session);
  /// NULL is allowed.
  void (*session_free)(collage_session* session);

  /// Chooses the extents of all inputs, one shape for each in the plan's order; needed before anything else where
  /// inputs are open, allowed always. Allocates when the session meets a shape for the first time. Contents of inputs
  /// and what is bound belong to a shape. Errors: input/wrong-count, input/wrong-shape, shape/outside, shape/no-case,
  /// those of session_create.
  collage_status* (*session_set_shapes)(collage_session* session, const collage_shape* shapes, size_t count);

  /// With the extents that are set now. `extents` and `symbols` live until the next call of session_input_info,
  /// session_output_info or session_set_shapes on this session; the name as long as the session.
  collage_status* (*session_input_info)(collage_session* session, size_t index, collage_tensor_info* info);
  collage_status* (*session_output_info)(collage_session* session, size_t index, collage_tensor_info* info);
  /// As plan_input_index and plan_output_index.
  collage_status* (*session_input_index)(const collage_session* session, const char* name, size_t* index);
  collage_status* (*session_output_index)(const collage_session* session, const char* name, size_t* index);

  /// The session's own memory of an input, aligned to 64 bytes, to be written before a run; it stays at its address,
  /// also when another shape is set and then this one again (of shapes that have no plan of their own, among the last
  /// 64). Errors: session/no-shape, input/bound.
  collage_status* (*session_input)(collage_session* session, size_t index, void** data, size_t* bytes);
  /// Copies `bytes` bytes at `data` to the session's own memory of an input. Errors: api/wrong-bytes unless there are
  /// as many as the input has; those of session_input.
  collage_status* (*session_copy_input)(collage_session* session, size_t index, const void* data, size_t bytes);
  /// What the last run gave; `data` and `extents` live until the next call on this session that changes anything.
  /// Errors: session/not-run unless a run succeeded since a shape was set or memory was bound; api/no-bytes for what is
  /// no tensor of numbers.
  collage_status* (*session_output)(collage_session* session, size_t index, collage_tensor* tensor);
  /// Copies what the last run gave to `data`, which has room for `bytes` bytes. Errors: api/wrong-bytes when they are
  /// too few; those of session_output.
  collage_status* (*session_copy_output)(collage_session* session, size_t index, void* data, size_t bytes);

  /// From now on runs read an input at, or write an output to, the caller's memory, without a copy, as long as this
  /// shape is set: `data` is aligned to 64 bytes, has `bytes` bytes and lives during runs. When a run begins, the
  /// memory of an output is that of no other input or output. With NULL it is the session's own memory again; `bytes`
  /// does not count then. May allocate. Errors: runtime/unaligned, api/wrong-bytes when they are too few,
  /// session/no-shape, runtime/no-port for an output whose shape only a run knows.
  collage_status* (*session_bind_input)(collage_session* session, size_t index, const void* data, size_t bytes);
  collage_status* (*session_bind_output)(collage_session* session, size_t index, void* data, size_t bytes);

  /// Reads the inputs, computes the outputs. Allocates nothing and takes no lock itself. The floating-point mode of the
  /// calling thread changes no result and is the same afterwards. After an error outputs are unspecified. Errors:
  /// session/no-shape, session/pool-failed when parallel_for threw or left out tasks, runtime/bad-operand for values
  /// that the model does not allow (an index out of range, a division by 0), runtime/overlap when the memory of an
  /// output is that of another port, too, backend/*.
  collage_status* (*session_run)(collage_session* session);

  // ---- Members that came later; a library has them if `size` of its table says so.

  /// As session_run, with an early end, which is asked for before each step and each iteration of a loop, and between
  /// the operators inside of ONNX Runtime and OpenVINO. The session can run again afterwards; a cancelled handle stays
  /// so. A run that was about to be done may succeed. `options` may be NULL. A handle or a limit costs locks that
  /// nobody holds for long; the first run with a limit starts a thread, which sleeps until session_free. Errors:
  /// session/cancelled, of kind COLLAGE_INTERRUPTED; session/deadline, of kind COLLAGE_LIMIT; those of session_run.
  collage_status* (*session_run_with)(collage_session* session, const collage_run_options* options);

  /// A handle that asks calls to end early. It may be given to functions of collage_tune.h, too.
  collage_status* (*cancel_create)(collage_cancel** cancel);
  /// From any thread, but not from inside a signal handler. NULL is allowed.
  void (*cancel_now)(const collage_cancel* cancel);
  void (*cancel_free)(collage_cancel* cancel);  ///< calls that were given it may still be under way. NULL is allowed.

  // ---- Values that are no tensors of numbers: strings, sequences, optionals, maps.

  /// The whole type: "f32[1,3]", "str[N]", "seq(f32[?])", "opt(...)", "map(i64,f32[])". Lives as long as the plan.
  collage_status* (*plan_input_type)(const collage_plan* plan, size_t index, const char** type);
  collage_status* (*plan_output_type)(const collage_plan* plan, size_t index, const char** type);

  /// Copies strings, row-major, as many as the input has now, into an input of strings; they stay until they are
  /// replaced. Errors: api/wrong-count; api/wrong-type for an input of another type; input/not-utf8, input/too-large.
  collage_status* (*session_set_strings)(collage_session* session, size_t index, const collage_string* strings,
                                         size_t count);
  /// What the last run gave; texts and extents live until the next call on this session that changes anything, or the
  /// next session_output_strings of this output. Errors: session/not-run; api/wrong-type for an output of another type.
  collage_status* (*session_output_strings)(collage_session* session, size_t index, collage_strings* strings);
  /// Likewise for values of any type, `json` having `bytes` bytes: nested lists for tensors, lists for sequences, null
  /// for an optional without a value, an object for a map. Inputs that lie in bytes are written. Errors:
  /// tensor/malformed, tensor/unsupported-type (complex numbers, elements of few bits); those of session_set_strings
  /// and session_input.
  collage_status* (*session_set_json)(collage_session* session, size_t index, const char* json, size_t bytes);
  /// The text ends with a zero and lives as the texts of session_output_strings. Errors: session/not-run,
  /// tensor/unsupported-type, tensor/not-utf8.
  collage_status* (*session_output_json)(collage_session* session, size_t index, const char** json, size_t* bytes);
} collage_api;

/// The table of this version, which lives as long as the program; NULL when the library has no such version.
COLLAGE_EXPORT const collage_api* collage_get_api(uint32_t version);

// NOLINTEND(readability-identifier-naming,modernize-*)

#ifdef __cplusplus
}
#endif

#endif
