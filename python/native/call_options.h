// Options of a call of the tuner as a dict of Python, read as values of C that live as long as this object.
// In:  a dict; what is absent or None is the default: null, 0, an empty list. Out: texts, numbers, lists of texts.
//      Values of another type throw UsageError api/wrong-option with the name of the option.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <string>
#include <type_traits>
#include <vector>

#include "api/c_tune/collage_tune.h"
#include "array_view.h"

namespace collage::python {

class CallOptions {
 public:
  explicit CallOptions(nanobind::dict given) : given_(std::move(given)) {}

  [[nodiscard]] const char* text(const char* key);
  [[nodiscard]] collage_texts texts(const char* key);
  template <class Number>
  [[nodiscard]] Number number(const char* key) const {
    const nanobind::object value = get(key);
    Number number{};
    if (!value.is_none() && !nanobind::try_cast(value, number))
      throw_wrong(key, value, std::is_same_v<Number, bool> ? "True or False" : "a number in its range");
    return number;
  }
  /// Bytes of any object that shows some.
  void bytes(const char* key, const void*& data, std::size_t& count);
  [[nodiscard]] nanobind::object get(const char* key) const;

 private:
  [[noreturn]] static void throw_wrong(const char* key, nanobind::handle value, const char* allowed);
  const char* kept_text(const char* key, nanobind::handle value, const char* allowed);

  nanobind::dict given_;
  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> lists_;
  std::deque<ArrayView> views_;
};

}  // namespace collage::python
