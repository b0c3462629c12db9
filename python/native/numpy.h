// The few functions of NumPy that a run calls. NumPy is imported when the first is used, not with the module.
#pragma once

#include <nanobind/nanobind.h>

#include <initializer_list>
#include <span>

namespace collage::python {

/// numpy.empty(shape, dtype)
[[nodiscard]] nanobind::object empty_array(nanobind::handle shape, nanobind::handle dtype);
[[nodiscard]] nanobind::object numpy_dtype(const char* name);

[[nodiscard]] nanobind::object shape_tuple(std::span<const Py_ssize_t> extents);
[[nodiscard]] inline nanobind::object shape_tuple(std::initializer_list<Py_ssize_t> extents) {
  return shape_tuple(std::span(extents.begin(), extents.size()));
}

}  // namespace collage::python
