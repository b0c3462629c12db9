#include "cancel.h"
#include "session.h"

namespace nb = nanobind;

namespace collage::python {
namespace {

constexpr const char* kSession = R"(The memory of one caller, with every kernel of a plan bound to it.

Made by Plan.session(). One thread at a time may use a session: a call while another one is under way
raises UsageError session/in-use. Different sessions of a plan may run at the same time; the
interpreter's lock is free during a run.)";

constexpr const char* kRun = R"(Computes the outputs of the model.

feed
    Arrays by name (a dict), by position (a list or tuple), or one array where the model has one
    input. Any object with the buffer protocol or __dlpack__ is an array; nested lists of numbers
    are converted. Element types must be those of the inputs. Large row-major arrays that are
    aligned to 64 bytes (empty_inputs gives such) are read in place, all others copied.
out
    Arrays that outputs are written to, in the same forms; what is absent or None is made anew.
    Large arrays that are aligned to 64 bytes (empty_outputs) are written in place.

timeout
    Seconds after which the run ends with LimitError session/deadline.
cancel
    A Cancel: the run ends with CancelledError when another thread calls its now(). Both are looked at
    before each step, in each iteration of a loop, and inside of ONNX Runtime and OpenVINO.

Returns a dict by name if feed is a dict, else a list. New arrays belong to the caller.
Inputs with open dimensions take their extents from the feed; a shape that was met before costs
next to nothing.

Raises BadInputError (missing or unknown names, wrong shapes and types; values that the model does
not allow), UsageError session/in-use.)";

constexpr const char* kSetShapes =
    R"(Makes the session ready for these extents of all inputs, before the first run with them.

shapes: tuples by name or by position. Raises BadInputError for extents that the plan does not take.)";

}  // namespace

void bind_session(nb::module_& module) {
  nb::class_<Cancel>(module, "Cancel", "Asks the calls that were given it to end early.")
      .def(nb::init<>())
      .def("now", &Cancel::now, "From any thread. Stays so: later calls with it end at once.");
  nb::class_<Session>(module, "Session", kSession)
      .def("run", &Session::run, nb::arg("feed"), nb::arg("out") = nb::none(), nb::kw_only(),
           nb::arg("timeout") = nb::none(), nb::arg("cancel") = nb::none(), kRun,
           nb::sig("def run(self, feed: collage.arrays.Arrays, out: collage.arrays.Arrays | None = None, *, "
                   "timeout: float | None = None, cancel: Cancel | None = None) -> typing.Any"))
      .def("_run_list", &Session::run_list, nb::arg("feed"), nb::arg("positions") = nb::none())
      .def("set_shapes", &Session::set_shapes, nb::arg("shapes"), kSetShapes,
           nb::sig("def set_shapes(self, shapes: collage.arrays.Shapes) -> None"))
      .def(
          "empty_inputs",
          [](nb::handle self) { return nb::module_::import_("collage.arrays").attr("aligned")(self.attr("inputs")); },
          "Arrays by name, aligned to 64 bytes, with the shapes that are set now: fed to run they are not copied.",
          nb::sig("def empty_inputs(self) -> dict[str, numpy.ndarray]"))
      .def(
          "empty_outputs",
          [](nb::handle self) { return nb::module_::import_("collage.arrays").attr("aligned")(self.attr("outputs")); },
          "Likewise for the outputs whose shapes are known before a run; for run's argument out.",
          nb::sig("def empty_outputs(self) -> dict[str, numpy.ndarray]"))
      .def_prop_ro("inputs", &Session::inputs, "Ports with the extents that are set now.",
                   nb::sig("def inputs(self) -> list[collage.arrays.Port]"))
      .def_prop_ro("outputs", &Session::outputs, "Likewise.",
                   nb::sig("def outputs(self) -> list[collage.arrays.Port]"));
}

}  // namespace collage::python
