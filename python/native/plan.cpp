#include "plan.h"

#include <array>

#include "array_view.h"
#include "session.h"
#include "status.h"

namespace nb = nanobind;

namespace collage::python {
namespace {

collage_plan_options options_for(int threads, nb::handle signed_by) {
  collage_plan_options options{};
  options.size = sizeof options;
  options.threads = threads;
  if (!signed_by.is_none()) options.signed_by = nb::cast<const char*>(signed_by);
  return options;
}

template <class Count, class Ask>
nb::list ports(const collage_plan* plan, Count count_of, Ask ask) {
  std::size_t count = 0;
  check(count_of(plan, &count));
  nb::list found;
  for (std::size_t i = 0; i < count; ++i) {
    collage_tensor_info info{};
    info.size = sizeof info;
    check(ask(plan, i, &info));
    found.append(port_of(info));
  }
  return found;
}

}  // namespace

void Plan::Free::operator()(collage_plan* plan) const { api().plan_free(plan); }

Plan Plan::load_file(const char* path, int threads, nb::handle signed_by) {
  const collage_api& c = api();
  const collage_plan_options options = options_for(threads, signed_by);
  collage_plan* plan = nullptr;
  collage_status* status = nullptr;
  {
    const nb::gil_scoped_release released;
    status = c.plan_load_file(path, &options, &plan);
  }
  check(status);
  return Plan(plan);
}

Plan Plan::load_memory(nb::handle bytes, int threads, nb::handle signed_by) {
  const collage_api& c = api();
  const ArrayView view = ArrayView::readable(bytes, facts_of(COLLAGE_UINT8), {"plan", "bytes"});
  const collage_plan_options options = options_for(threads, signed_by);
  collage_plan* plan = nullptr;
  collage_status* status = nullptr;
  {
    const nb::gil_scoped_release released;
    status = c.plan_load_memory(view.data(), view.bytes(), &options, &plan);
  }
  check(status);
  return Plan(plan);
}

nb::list Plan::inputs() const { return ports(handle(), api().plan_input_count, api().plan_input_info); }
nb::list Plan::outputs() const { return ports(handle(), api().plan_output_count, api().plan_output_info); }

int Plan::threads() const {
  std::int32_t threads = 0;
  check(api().plan_threads(handle(), &threads));
  return threads;
}

nb::tuple Plan::verdict() const {
  collage_verdict verdict{};
  verdict.size = sizeof verdict;
  check(api().plan_verdict(handle(), &verdict));
  constexpr std::array kNames = {"same", "usable", "refused"};
  nb::list reasons;
  for (std::size_t i = 0; i < verdict.reason_count; ++i) reasons.append(verdict.reasons[i]);
  return nb::make_tuple(kNames.at(static_cast<std::size_t>(verdict.kind)), reasons);
}

const char* Plan::metadata() const {
  const char* json = "";
  check(api().plan_metadata(handle(), &json));
  return json;
}

nb::object port_of(const collage_tensor_info& info) {
  nb::object shape = nb::none();
  if (info.rank >= 0) {
    nb::list extents;
    for (std::int32_t d = 0; d < info.rank; ++d) {
      if (info.extents[d] >= 0)
        extents.append(info.extents[d]);
      else if (info.symbols[d] != nullptr)
        extents.append(info.symbols[d]);
      else
        extents.append(nb::none());
    }
    shape = nb::tuple(extents);
  }
  return nb::module_::import_("collage.arrays")
      .attr("Port")(info.name, facts_of(info.element_type).name, shape, info.element_type);
}

void bind_plan(nb::module_& module) {
  nb::class_<Plan>(module, "Plan", "A plan file ready to run. May be used by many threads at once.")
      .def_static("load_file", &Plan::load_file, nb::arg("path"), nb::arg("threads") = 0,
                  nb::arg("signed_by") = nb::none(),
                  nb::sig("def load_file(path: str, threads: int = 0, signed_by: str | None = None) -> Plan"))
      .def_static(
          "load_memory", &Plan::load_memory, nb::arg("data"), nb::arg("threads") = 0, nb::arg("signed_by") = nb::none(),
          nb::sig("def load_memory(data: bytes | bytearray | memoryview, threads: int = 0, signed_by: str | None "
                  "= None) -> Plan"))
      .def_prop_ro("inputs", &Plan::inputs, nb::sig("def inputs(self) -> list[collage.arrays.Port]"))
      .def_prop_ro("outputs", &Plan::outputs, nb::sig("def outputs(self) -> list[collage.arrays.Port]"))
      .def_prop_ro("threads", &Plan::threads)
      .def_prop_ro("verdict", &Plan::verdict, nb::sig("def verdict(self) -> tuple[str, list[str]]"))
      .def_prop_ro("metadata", &Plan::metadata, "JSON of schema collage.plan-metadata/1.")
      .def(
          "session", [](const Plan& plan) { return new Session(plan); }, nb::rv_policy::take_ownership);
}

}  // namespace collage::python
