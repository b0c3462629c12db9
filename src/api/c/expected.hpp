// What functions of collage.hpp return: a value or an Error. Included by collage.hpp.
#ifndef COLLAGE_EXPECTED_HPP
#define COLLAGE_EXPECTED_HPP

#include <optional>
#include <string>
#include <utility>
#include <variant>

#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_expected)
#include <expected>
#define COLLAGE_CPP_LEVEL with_std_expected
#else
#define COLLAGE_CPP_LEVEL with_own_expected
#endif

#include "collage.h"

namespace collage {
inline namespace capi {
// Sources of one program may be compiled for different versions of C++. What Expected is differs between them, so this
// is part of every name.
inline namespace COLLAGE_CPP_LEVEL {

struct Error {
  std::string code;     ///< stable "area/kebab-code"
  std::string message;  ///< all of it on one line
  std::string where;
  std::string saw;
  std::string allowed;
  int kind = COLLAGE_GOOD;  ///< COLLAGE_USAGE ...
};

#if defined(__cpp_lib_expected)
template <class T>
using Expected = std::expected<T, Error>;
using Unexpected = std::unexpected<Error>;
#else
class Unexpected {
 public:
  explicit Unexpected(Error error) : error_(std::move(error)) {}
  [[nodiscard]] Error& error() & noexcept { return error_; }

 private:
  Error error_;
};

/// A value or an error; as of std::expected, to look at the one that is not there is a mistake of the program.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Unexpected error) : state_(std::in_place_index<1>, std::move(error.error())) {}
  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  [[nodiscard]] const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  [[nodiscard]] T* operator->() noexcept { return std::get_if<0>(&state_); }
  [[nodiscard]] const T* operator->() const noexcept { return std::get_if<0>(&state_); }
  [[nodiscard]] Error& error() & noexcept { return *std::get_if<1>(&state_); }
  [[nodiscard]] const Error& error() const& noexcept { return *std::get_if<1>(&state_); }
  [[nodiscard]] Error&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Unexpected error) : error_(std::move(error.error())) {}
  [[nodiscard]] bool has_value() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] Error& error() & noexcept { return *error_; }
  [[nodiscard]] const Error& error() const& noexcept { return *error_; }
  [[nodiscard]] Error&& error() && noexcept { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};
#endif

}  // namespace COLLAGE_CPP_LEVEL
}  // namespace capi
}  // namespace collage

#endif
