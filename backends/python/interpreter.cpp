#include "interpreter.h"

#include <dlfcn.h>

namespace collage::python {
namespace {

/// In the program or a library that it is linked with: where the interpreter of a running Python is.
template <class Function>
bool look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

bool look_up_all(Interpreter& python) {
  return look_up(python.Py_IsInitialized, "Py_IsInitialized") &&
         look_up(python.PyGILState_Ensure, "PyGILState_Ensure") &&
         look_up(python.PyGILState_Release, "PyGILState_Release") && look_up(python.Py_IncRef, "Py_IncRef") &&
         look_up(python.Py_DecRef, "Py_DecRef") && look_up(python.PyImport_ImportModule, "PyImport_ImportModule") &&
         look_up(python.PyObject_GetAttrString, "PyObject_GetAttrString") &&
         look_up(python.PyObject_CallObject, "PyObject_CallObject") && look_up(python.PyObject_Str, "PyObject_Str") &&
         look_up(python.PyTuple_New, "PyTuple_New") && look_up(python.PyTuple_SetItem, "PyTuple_SetItem") &&
         look_up(python.PyLong_FromLong, "PyLong_FromLong") &&
         look_up(python.PyUnicode_FromStringAndSize, "PyUnicode_FromStringAndSize") &&
         look_up(python.PyUnicode_AsEncodedString, "PyUnicode_AsEncodedString") &&
         look_up(python.PyBytes_AsStringAndSize, "PyBytes_AsStringAndSize") &&
         look_up(python.PyMemoryView_FromMemory, "PyMemoryView_FromMemory") &&
         look_up(python.PyErr_Fetch, "PyErr_Fetch") && look_up(python.PyErr_Clear, "PyErr_Clear");
}

}  // namespace

std::expected<std::shared_ptr<const Interpreter>, std::string> find_interpreter() {
  auto python = std::make_shared<Interpreter>();
  if (!look_up_all(*python) || python->Py_IsInitialized() == 0)
    return std::unexpected("needs Python, which this process does not run: use it from Python (import collage)");
  return python;
}

Object& Object::operator=(Object&& other) noexcept {
  if (this == &other) return *this;
  release();
  python_ = std::move(other.python_);
  object_ = std::exchange(other.object_, nullptr);
  return *this;
}

void Object::release() {
  if (object_ == nullptr || python_->Py_IsInitialized() == 0) return;
  const Gil gil(*python_);
  python_->Py_DecRef(std::exchange(object_, nullptr));
}

}  // namespace collage::python
