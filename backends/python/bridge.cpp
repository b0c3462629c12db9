#include "bridge.h"

namespace collage::python {
namespace {

constexpr const char* kModule = "collage.extend._bridge";
/// PyBUF_READ and PyBUF_WRITE of Python's interface.
constexpr int kReadable = 0x100;
constexpr int kWritable = 0x200;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

}  // namespace

std::expected<Bridge, std::string> Bridge::open() {
  auto python = find_interpreter();
  if (!python) return std::unexpected(python.error());
  const Gil gil(**python);
  Bridge bridge(*python, std::make_shared<Object>());
  *bridge.module_ = bridge.own((*python)->PyImport_ImportModule(kModule));
  if (!*bridge.module_) return std::unexpected("the package collage is not here: " + bridge.raised());
  return bridge;
}

std::expected<Object, std::string> Bridge::call(const char* function, std::span<const Argument> arguments) const {
  const Gil gil(*python_);
  const Object callee = own(python_->PyObject_GetAttrString(module_->get(), function));
  if (!callee) return std::unexpected(raised());
  const Object given = tuple(arguments);
  if (!given) return std::unexpected(raised());
  Object answer = own(python_->PyObject_CallObject(callee.get(), given.get()));
  if (!answer) return std::unexpected(raised());
  return answer;
}

std::expected<std::string, std::string> Bridge::text(const char* function, std::span<const Argument> arguments) const {
  const Gil gil(*python_);
  const auto answer = call(function, arguments);
  if (!answer) return std::unexpected(answer.error());
  return text_of(answer->get());
}

std::expected<void, std::string> Bridge::run(const Object& callable) const {
  const Gil gil(*python_);
  const Object answer = own(python_->PyObject_CallObject(callable.get(), nullptr));
  if (!answer) return std::unexpected(raised());
  return {};
}

Object Bridge::made(const Argument& argument) const {
  return std::visit(Overloaded{[&](long number) { return own(python_->PyLong_FromLong(number)); },
                               [&](std::string_view text) {
                                 return own(python_->PyUnicode_FromStringAndSize(
                                     text.data(), static_cast<std::ptrdiff_t>(text.size())));
                               },
                               [&](std::span<const Memory> memories) { return views(memories); },
                               // A reference of its own, as the others are.
                               [&](PyObject* object) {
                                 python_->Py_IncRef(object);
                                 return own(object);
                               }},
                    argument);
}

Object Bridge::tuple(std::span<const Argument> arguments) const {
  Object all = own(python_->PyTuple_New(static_cast<std::ptrdiff_t>(arguments.size())));
  for (std::size_t i = 0; all && i < arguments.size(); ++i) {
    Object one = made(arguments[i]);
    if (!one) return {};
    python_->PyTuple_SetItem(all.get(), static_cast<std::ptrdiff_t>(i), one.take());
  }
  return all;
}

Object Bridge::views(std::span<const Memory> memories) const {
  // Python takes no null address, not even of nothing.
  static char nothing = 0;
  Object all = own(python_->PyTuple_New(static_cast<std::ptrdiff_t>(memories.size())));
  for (std::size_t i = 0; all && i < memories.size(); ++i) {
    const Memory& memory = memories[i];
    char* const data =
        memory.bytes == 0 ? &nothing : const_cast<char*>(static_cast<const char*>(memory.data));  // Python checks
    PyObject* const view = python_->PyMemoryView_FromMemory(data, static_cast<std::ptrdiff_t>(memory.bytes),
                                                            memory.writable ? kWritable : kReadable);
    if (view == nullptr) return {};
    python_->PyTuple_SetItem(all.get(), static_cast<std::ptrdiff_t>(i), view);
  }
  return all;
}

std::expected<std::string, std::string> Bridge::text_of(PyObject* object) const {
  const Object bytes = own(python_->PyUnicode_AsEncodedString(object, "utf-8", "replace"));
  char* data = nullptr;
  std::ptrdiff_t size = 0;
  if (!bytes || python_->PyBytes_AsStringAndSize(bytes.get(), &data, &size) != 0) return std::unexpected(raised());
  return std::string(data, static_cast<std::size_t>(size));
}

std::string Bridge::raised() const {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  python_->PyErr_Fetch(&type, &value, &traceback);
  const Object kept[] = {own(type), own(value), own(traceback)};
  PyObject* const shown = value != nullptr ? value : type;
  if (shown == nullptr) return "an error without a message";
  const Object text = own(python_->PyObject_Str(shown));
  if (!text) {
    python_->PyErr_Clear();
    return "an error that cannot be printed";
  }
  return text_of(text.get()).value_or("an error that cannot be printed");
}

}  // namespace collage::python
