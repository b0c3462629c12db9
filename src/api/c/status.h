// How functions of the C interface answer: an Error becomes a status, and no exception gets out.
// In: a Result, or whatever was thrown. Out: null, or a status that the caller frees.
#pragma once

#include <cstdint>
#include <string>

#include "api/c/collage.h"
#include "base/error.h"

/// What the accessors give; the texts belong to the status.
struct collage_status {  // NOLINT(readability-identifier-naming): a name of the C interface
  const char* code = "";
  const char* message = "";
  const char* where = "";
  const char* saw = "";
  const char* allowed = "";
  std::int32_t kind = COLLAGE_GOOD;
  bool is_owned = false;  ///< made on the heap; every library of Collage has one of its own that is not
};

namespace collage::c_api {

/// The error as a status; the one of out of memory when there is none for it.
[[nodiscard]] collage_status* status_of(Error error) noexcept;
/// What is being caught, as a status; `function` is the function of the table that was called.
[[nodiscard]] collage_status* status_of_exception(const char* function) noexcept;

const char* status_code(const collage_status* status) noexcept;
const char* status_message(const collage_status* status) noexcept;
const char* status_where(const collage_status* status) noexcept;
const char* status_saw(const collage_status* status) noexcept;
const char* status_allowed(const collage_status* status) noexcept;
std::int32_t status_kind(const collage_status* status) noexcept;
void status_free(collage_status* status) noexcept;

/// Runs the work of `function`, which returns Result<void>. A success costs nothing beside the work.
template <class Work>
[[nodiscard]] collage_status* answer(const char* function, Work&& work) noexcept {
  try {
    Result<void> done = work();
    return done ? nullptr : status_of(std::move(done).error());
  } catch (...) {
    return status_of_exception(function);
  }
}

/// Error api/null-argument.
[[nodiscard]] inline Result<void> check_not_null(const void* pointer, const char* argument) {
  if (pointer != nullptr) return {};
  return fail(ExitCode::kUsage, "api/null-argument", argument, "a null pointer", "a pointer to something");
}

/// Error api/wrong-index; `kind` is "input" or "output".
[[nodiscard]] Result<void> check_index(std::size_t index, std::size_t count, const char* kind);

}  // namespace collage::c_api
