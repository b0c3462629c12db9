// Options of a call of the tuner as a dict of Python, read as values of C that live as long as this object.
// In:  a dict; what is absent or None is the default: null, 0, an empty list. Out: texts, numbers, lists of texts.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <string>
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
    return value.is_none() ? Number{} : nanobind::cast<Number>(value);
  }
  /// Bytes of any object that shows some.
  void bytes(const char* key, const void*& data, std::size_t& count);
  [[nodiscard]] nanobind::object get(const char* key) const;

 private:
  nanobind::dict given_;
  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> lists_;
  std::deque<ArrayView> views_;
};

}  // namespace collage::python
