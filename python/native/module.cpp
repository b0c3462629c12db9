// The extension module collage._native: plans, sessions, the tuner. The package collage gives them to programs.
#include <nanobind/nanobind.h>

#include "plan.h"
#include "session.h"
#include "status.h"
#include "tuner.h"

NB_MODULE(_native, module) {
  nanobind::set_leak_warnings(false);  // what a program still holds when it ends is no leak
  module.doc() = "What the package collage is made of; not for programs.";
  module.attr("version") = collage::python::api().version_string();
  collage::python::bind_plan(module);
  collage::python::bind_session(module);
  collage::python::bind_tuner(module);
}
