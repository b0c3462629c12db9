#include "status.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace collage::python {
namespace {

[[noreturn]] void throw_error(const nb::object& error) {
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

}  // namespace

const collage_api& api() {
  static const collage_api* const table = collage_get_api(COLLAGE_API_VERSION);
  if (table == nullptr || table->size < sizeof(collage_api))
    throw nb::import_error("libcollage.so is of another version than collage._native");
  return *table;
}

void check(collage_status* status) {
  if (status == nullptr) return;
  const collage_api& c = api();
  const nb::object error = nb::module_::import_("collage.errors")
                               .attr("error_of")(c.status_kind(status), c.status_code(status), c.status_where(status),
                                                 c.status_saw(status), c.status_allowed(status));
  c.status_free(status);
  throw_error(error);
}

void raise(int kind, const char* code, const std::string& where, const std::string& saw, const std::string& allowed) {
  throw_error(nb::module_::import_("collage.errors").attr("error_of")(kind, code, where, saw, allowed));
}

}  // namespace collage::python
