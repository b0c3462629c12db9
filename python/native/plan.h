// A plan file ready to run, as a class of Python.
// In:  a path or bytes. Out: what its inputs and outputs are, its verdict, its metadata.
// Threads: may be used by many at once.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "api/c/collage.h"

namespace collage::python {

class Plan {
 public:
  /// Takes the handle.
  explicit Plan(collage_plan* handle) : handle_(handle) {}

  /// `signed_by`: public keys in PEM, or None.
  [[nodiscard]] static Plan load_file(const char* path, int threads, nanobind::handle signed_by);
  [[nodiscard]] static Plan load_memory(nanobind::handle bytes, int threads, nanobind::handle signed_by);

  /// Lists of collage.arrays.Port.
  [[nodiscard]] nanobind::list inputs() const;
  [[nodiscard]] nanobind::list outputs() const;
  [[nodiscard]] int threads() const;
  /// ("same" | "usable" | "refused", reasons)
  [[nodiscard]] nanobind::tuple verdict() const;
  [[nodiscard]] const char* metadata() const;

  [[nodiscard]] collage_plan* handle() const { return handle_.get(); }

 private:
  struct Free {
    void operator()(collage_plan* plan) const;
  };
  std::unique_ptr<collage_plan, Free> handle_;
};

/// collage.arrays.Port of a tensor: extents that are open are their symbol, or None.
[[nodiscard]] nanobind::object port_of(const collage_tensor_info& info);

void bind_plan(nanobind::module_& module);

}  // namespace collage::python
