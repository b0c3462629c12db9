// The Python interpreter that this process runs, if it runs one.
// In:  nothing. Out: the functions of Python's stable interface that this backend calls, looked up by name, so that the
//       module neither links nor starts a Python.
// Threads: an object is used and released while the lock of the interpreter (the GIL) is held: Gil takes it.
// Source: Python's limited API, PEP 384; all of these are in it since 3.3.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <utility>

struct _object;  // Python's PyObject; never looked into

namespace collage::python {

using PyObject = ::_object;

/// Named as in Python, where their documentation is.
struct Interpreter {
  int (*Py_IsInitialized)();
  int (*PyGILState_Ensure)();
  void (*PyGILState_Release)(int);
  void (*Py_IncRef)(PyObject*);
  void (*Py_DecRef)(PyObject*);
  PyObject* (*PyImport_ImportModule)(const char*);
  PyObject* (*PyObject_GetAttrString)(PyObject*, const char*);
  PyObject* (*PyObject_CallObject)(PyObject*, PyObject* arguments);
  PyObject* (*PyObject_Str)(PyObject*);
  PyObject* (*PyTuple_New)(std::ptrdiff_t);
  int (*PyTuple_SetItem)(PyObject*, std::ptrdiff_t, PyObject*);
  PyObject* (*PyLong_FromLong)(long);
  PyObject* (*PyUnicode_FromStringAndSize)(const char*, std::ptrdiff_t);
  PyObject* (*PyUnicode_AsEncodedString)(PyObject*, const char* encoding, const char* errors);
  int (*PyBytes_AsStringAndSize)(PyObject*, char**, std::ptrdiff_t*);
  PyObject* (*PyMemoryView_FromMemory)(char*, std::ptrdiff_t, int flags);
  void (*PyErr_Fetch)(PyObject** type, PyObject** value, PyObject** traceback);
  void (*PyErr_Clear)();
};

/// The one that runs in this process; else why there is none.
[[nodiscard]] std::expected<std::shared_ptr<const Interpreter>, std::string> find_interpreter();

/// Holds the lock of the interpreter. A thread may hold it several times.
class Gil {
 public:
  explicit Gil(const Interpreter& python) : python_(python), state_(python.PyGILState_Ensure()) {}
  ~Gil() { python_.PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  const Interpreter& python_;
  int state_;
};

/// Owns one reference. Made and used under the lock; released under it too, for which the destructor takes it. After
/// the interpreter has ended nothing is released.
class Object {
 public:
  Object() = default;
  Object(std::shared_ptr<const Interpreter> python, PyObject* object) : python_(std::move(python)), object_(object) {}
  Object(Object&& other) noexcept : python_(std::move(other.python_)), object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object&& other) noexcept;
  ~Object() { release(); }

  [[nodiscard]] PyObject* get() const { return object_; }
  /// Gives the reference away.
  [[nodiscard]] PyObject* take() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  void release();

  std::shared_ptr<const Interpreter> python_;
  PyObject* object_ = nullptr;
};

}  // namespace collage::python
