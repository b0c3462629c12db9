#include "array_view.h"

#include <nanobind/stl/string.h>

#include <utility>

#include "api/c/collage.h"
#include "status.h"

namespace nb = nanobind;

namespace collage::python {
namespace {

std::string described(nb::handle object) {
  const nb::object type = nb::getattr(object, "dtype", nb::none());
  if (!type.is_none()) return std::string("an array of ") + nb::str(type).c_str();
  return std::string("an object of type ") + nb::str(nb::getattr(object.type(), "__name__")).c_str();
}

}  // namespace

ArrayView::ArrayView(ArrayView&& other) noexcept { take(other); }

ArrayView& ArrayView::operator=(ArrayView&& other) noexcept {
  if (this != &other) {
    release();
    take(other);
  }
  return *this;
}

void ArrayView::take(ArrayView& other) noexcept {
  view_ = other.view_;
  // A view of one dimension may have its extent in the struct itself.
  extents_ = other.extents_ == &other.view_.len ? &view_.len : other.extents_;
  rank_ = other.rank_;
  is_open_ = std::exchange(other.is_open_, false);
}

void ArrayView::release() {
  if (std::exchange(is_open_, false)) PyBuffer_Release(&view_);
}

bool ArrayView::open(nb::handle object, int flags) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) {
    PyErr_Clear();
    return false;
  }
  is_open_ = true;
  rank_ = view_.ndim;
  extents_ = view_.shape != nullptr ? view_.shape : &view_.len;
  return true;
}

ArrayView ArrayView::readable(nb::handle object, const ElementFacts& facts, const ArrayPlace& place) {
  ArrayView view;
  if (view.open(object, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)) {
    if (has_format(facts, view.view_.format)) return view;
    view.release();
  }
  const nb::object array = nb::module_::import_("collage.arrays").attr("readable")(object, facts.type, place.text());
  if (!view.open(array, PyBUF_C_CONTIGUOUS))
    raise(COLLAGE_BUG, "api/no-buffer", place.text(), described(array), "an array with a buffer");
  return view;
}

ArrayView ArrayView::writable(nb::handle object, const ElementFacts& facts, const ArrayPlace& place) {
  constexpr int kFlags = PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE;
  ArrayView view;
  if (facts.formats[0] == '\0') {  // NumPy shows no buffer of types that it does not have itself
    const nb::object memory = nb::module_::import_("collage.arrays").attr("writable")(object, facts.type, place.text());
    if (view.open(memory, kFlags)) return view;
  } else if (view.open(object, kFlags | PyBUF_FORMAT) && has_format(facts, view.view_.format)) {
    return view;
  }
  raise(COLLAGE_USAGE, "api/wrong-array", place.text(), described(object),
        std::string("a writable, row-major array of ") + facts.name);
}

ArrayView ArrayView::own(nb::handle object) {
  ArrayView view;
  if (PyObject_GetBuffer(object.ptr(), &view.view_, PyBUF_SIMPLE | PyBUF_WRITABLE) != 0) throw nb::python_error();
  view.is_open_ = true;
  return view;
}

std::string text_of(std::span<const Py_ssize_t> extents) {
  std::string text = "[";
  for (const Py_ssize_t extent : extents) text += (text.size() > 1 ? "," : "") + std::to_string(extent);
  return text + "]";
}

}  // namespace collage::python
