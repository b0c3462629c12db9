// Tuning for Python: calls of libcollage_tuner.so, which is opened when the first of them is made.
// In:  dicts with the members of the structs of collage_tune.h, `progress` (a callable) and `cancel` (a Cancel).
// Out: reports, plans. Threads: the interpreter's lock is free during a call; `progress` is called from the same
// thread.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "api/c_tune/collage_tune.h"
#include "cancel.h"

namespace collage::python {

/// The table of the tuner. Throws UnsupportedError tuner/missing.
[[nodiscard]] const collage_tune_api& tuner();

class Report {
 public:
  explicit Report(collage_report* handle) : handle_(handle) {}
  [[nodiscard]] const char* json() const { return tuner().report_json(handle_.get()); }
  [[nodiscard]] const char* text() const { return tuner().report_text(handle_.get()); }
  [[nodiscard]] bool ok() const { return tuner().report_ok(handle_.get()) != 0; }
  /// The members of collage_tune_summary by name.
  [[nodiscard]] nanobind::dict summary() const;

 private:
  struct Free {
    void operator()(collage_report* report) const { tuner().report_free(report); }
  };
  std::unique_ptr<collage_report, Free> handle_;
};

void bind_tuner(nanobind::module_& module);

}  // namespace collage::python
