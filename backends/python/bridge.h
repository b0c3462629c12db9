// Calls of the Python side, collage/extend/_bridge.py, which knows the user's modules.
// In:  names, JSON texts, memory. Out: texts and objects, or what was raised, as text.
// Cost: a call takes the lock of the interpreter and some microseconds.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "interpreter.h"

namespace collage::python {

/// Memory as Python sees it: in place, and read-only unless `writable`.
struct Memory {
  const void* data = nullptr;
  std::size_t bytes = 0;
  bool writable = false;
};

using Argument = std::variant<long, std::string_view, std::span<const Memory>, PyObject*>;

/// A copy may be used by several threads at once.
class Bridge {
 public:
  /// Imports the Python side. The text says why that does not work.
  [[nodiscard]] static std::expected<Bridge, std::string> open();

  /// Calls a function of the Python side.
  [[nodiscard]] std::expected<Object, std::string> call(const char* function,
                                                        std::span<const Argument> arguments) const;
  /// The same for a function that returns a text.
  [[nodiscard]] std::expected<std::string, std::string> text(const char* function,
                                                             std::span<const Argument> arguments) const;
  /// Calls an object without arguments; what it returns is dropped.
  [[nodiscard]] std::expected<void, std::string> run(const Object& callable) const;

 private:
  Bridge(std::shared_ptr<const Interpreter> python, std::shared_ptr<Object> module)
      : python_(std::move(python)), module_(std::move(module)) {}

  [[nodiscard]] Object own(PyObject* object) const { return {python_, object}; }
  [[nodiscard]] Object made(const Argument& argument) const;
  [[nodiscard]] Object tuple(std::span<const Argument> arguments) const;
  [[nodiscard]] Object views(std::span<const Memory> memories) const;
  [[nodiscard]] std::expected<std::string, std::string> text_of(PyObject* object) const;
  [[nodiscard]] std::string raised() const;

  std::shared_ptr<const Interpreter> python_;
  std::shared_ptr<Object> module_;
};

}  // namespace collage::python
