// Failures that are values. An Error says that the model, the caller, a file or a third-party library failed. A Refusal
// (region/refusal.h) says that a backend does not support something. A broken invariant is a bug: COLLAGE_CHECK prints
// it and stops the process.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace collage {

/// What the process returns to its caller; documented in docs/CLI.md.
enum class ExitCode : int {
  kGood = 0,
  kDifference = 1,    ///< a check found a difference
  kUsage = 2,         ///< wrong command line
  kBadInput = 3,      ///< bad model, plan or input, also an unbound dimension
  kUnsupported = 4,   ///< operator or backend not available
  kLimit = 5,         ///< memory, size or time budget exceeded
  kIo = 6,            ///< a file could not be read or written
  kBug = 70,          ///< a bug in Collage
  kInterrupted = 130  ///< stopped by a signal
};

/// One failure, described completely: where it happened, what was seen, what would have been allowed.
struct Error {
  std::string code;     ///< stable "area/kebab-code", for example "import/unknown-operator"
  std::string where;    ///< file, node, value or option
  std::string saw;      ///< what was found there
  std::string allowed;  ///< what would have been accepted; may be empty
  ExitCode exit = ExitCode::kBug;

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

/// "error[area/code]: WHERE: saw X; allowed Y", on one line.
[[nodiscard]] std::string to_string(const Error& error);

/// Shorthand for returning a failure from a function that returns Result<T>.
[[nodiscard]] std::unexpected<Error> fail(ExitCode exit, std::string code, std::string where, std::string saw,
                                          std::string allowed = {});

/// Stops the process with a message; used by COLLAGE_CHECK only.
[[noreturn]] void stop_on_bug(const char* file, int line, const char* condition, const std::string& detail);

}  // namespace collage

/// A broken invariant is a bug: always checked, stops with the values given.
#define COLLAGE_CHECK(condition, ...)                                                                   \
  do {                                                                                                  \
    if (!(condition)) ::collage::stop_on_bug(__FILE__, __LINE__, #condition, std::string{__VA_ARGS__}); \
  } while (false)

#define COLLAGE_CONCAT_INNER(a, b) a##b
#define COLLAGE_CONCAT(a, b) COLLAGE_CONCAT_INNER(a, b)

/// `COLLAGE_TRY(auto x, f());` binds the value of a Result or returns its error from the enclosing function.
#define COLLAGE_TRY(target, ...) COLLAGE_TRY_INNER(COLLAGE_CONCAT(try_result_, __LINE__), target, __VA_ARGS__)
#define COLLAGE_TRY_INNER(temporary, target, ...)                       \
  auto temporary = (__VA_ARGS__);                                       \
  if (!temporary) return std::unexpected(std::move(temporary).error()); \
  target = std::move(temporary).value()

/// `COLLAGE_TRY_VOID(f());` returns the error of a Result<void> (or a Result whose value is not needed).
#define COLLAGE_TRY_VOID(...)                                                                                   \
  do {                                                                                                          \
    if (auto try_result_ = (__VA_ARGS__); !try_result_) return std::unexpected(std::move(try_result_).error()); \
  } while (false)
