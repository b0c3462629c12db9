#include "api/c/status.h"

#include <exception>
#include <new>
#include <utility>

namespace collage::c_api {
namespace {

static_assert(COLLAGE_GOOD == static_cast<int>(ExitCode::kGood));
static_assert(COLLAGE_DIFFERENCE == static_cast<int>(ExitCode::kDifference));
static_assert(COLLAGE_USAGE == static_cast<int>(ExitCode::kUsage));
static_assert(COLLAGE_BAD_INPUT == static_cast<int>(ExitCode::kBadInput));
static_assert(COLLAGE_UNSUPPORTED == static_cast<int>(ExitCode::kUnsupported));
static_assert(COLLAGE_LIMIT == static_cast<int>(ExitCode::kLimit));
static_assert(COLLAGE_IO == static_cast<int>(ExitCode::kIo));
static_assert(COLLAGE_BUG == static_cast<int>(ExitCode::kBug));
static_assert(COLLAGE_INTERRUPTED == static_cast<int>(ExitCode::kInterrupted));

/// A status on the heap with the texts that it points to.
struct OwnedStatus : collage_status {
  explicit OwnedStatus(Error of) : error(std::move(of)), line(to_string(error)) {
    code = error.code.c_str();
    message = line.c_str();
    where = error.where.c_str();
    saw = error.saw.c_str();
    allowed = error.allowed.c_str();
    kind = static_cast<std::int32_t>(error.exit);
    is_owned = true;
  }
  Error error;
  std::string line;
};

/// There is no memory to make this one when it is needed. Nobody writes it.
constinit collage_status out_of_memory = {
    .code = "api/out-of-memory",
    .message = "error[api/out-of-memory]: Collage: saw an allocation that failed; allowed less memory in use",
    .where = "Collage",
    .saw = "an allocation that failed",
    .allowed = "less memory in use",
    .kind = COLLAGE_LIMIT,
};

Error thrown(const char* function, std::string saw) {
  return {.code = "api/exception",
          .where = function,
          .saw = std::move(saw),
          .allowed = "no exception",
          .exit = ExitCode::kBug};
}

}  // namespace

collage_status* status_of(Error error) noexcept {
  try {
    return new OwnedStatus(std::move(error));
  } catch (...) {
    return &out_of_memory;
  }
}

collage_status* status_of_exception(const char* function) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return &out_of_memory;
  } catch (const std::exception& exception) {
    try {
      return status_of(thrown(function, exception.what()));
    } catch (...) {
      return &out_of_memory;
    }
  } catch (...) {
    try {
      return status_of(thrown(function, "an exception of unknown type"));
    } catch (...) {
      return &out_of_memory;
    }
  }
}

const char* status_code(const collage_status* status) noexcept { return status == nullptr ? "" : status->code; }
const char* status_message(const collage_status* status) noexcept { return status == nullptr ? "" : status->message; }
const char* status_where(const collage_status* status) noexcept { return status == nullptr ? "" : status->where; }
const char* status_saw(const collage_status* status) noexcept { return status == nullptr ? "" : status->saw; }
const char* status_allowed(const collage_status* status) noexcept { return status == nullptr ? "" : status->allowed; }
std::int32_t status_kind(const collage_status* status) noexcept {
  return status == nullptr ? COLLAGE_GOOD : status->kind;
}

void status_free(collage_status* status) noexcept {
  if (status != nullptr && status->is_owned) delete static_cast<OwnedStatus*>(status);
}

Result<void> check_index(std::size_t index, std::size_t count, const char* kind) {
  if (index < count) return {};
  return fail(ExitCode::kUsage, "api/wrong-index", kind, "index " + std::to_string(index),
              "an index below " + std::to_string(count));
}

}  // namespace collage::c_api
