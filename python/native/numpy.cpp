#include "numpy.h"

namespace nb = nanobind;

namespace collage::python {
namespace {

/// Kept for the life of the process: an interpreter that ends does not need it back. The interpreter's lock guards the
/// pointer; two threads may both set it, because an import gives the lock away.
PyObject* empty_function() {
  static PyObject* function = nullptr;
  if (function == nullptr) function = nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
  return function;
}

}  // namespace

nb::object empty_array(nb::handle shape, nb::handle dtype) { return nb::handle(empty_function())(shape, dtype); }

nb::object numpy_dtype(const char* name) { return nb::module_::import_("numpy").attr("dtype")(name); }

nb::object shape_tuple(std::span<const Py_ssize_t> extents) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(extents.size())));
  for (std::size_t d = 0; d < extents.size(); ++d)
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(d), PyLong_FromSsize_t(extents[d]));
  return tuple;
}

}  // namespace collage::python
