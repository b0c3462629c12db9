#include "session.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "cancel.h"
#include "numpy.h"
#include "plan.h"
#include "status.h"

namespace nb = nanobind;

namespace collage::python {
namespace {

/// Smaller arrays are copied: binding other memory costs about as much as the copy of so many bytes.
constexpr std::size_t kBindFrom = 64 * 1024;
constexpr std::uintptr_t kAlignment = 64;
/// A nanosecond, a year: time limits outside are taken for these.
constexpr double kLeastSeconds = 1e-9;
constexpr double kMostSeconds = 31'536'000;

bool can_bind(const ArrayView& array) {
  return array.bytes() >= kBindFrom && reinterpret_cast<std::uintptr_t>(array.data()) % kAlignment == 0;
}

bool overlaps(const ArrayView& a, const ArrayView& b) {
  return a.data() < b.data() + b.bytes() && b.data() < a.data() + a.bytes();
}

collage_run_options run_options(nb::handle timeout, nb::handle cancel) {
  collage_run_options options{};
  options.size = sizeof options;
  const Cancel* given = nullptr;
  if (!cancel.is_none() && !nb::try_cast(cancel, given))
    raise(COLLAGE_USAGE, "session/option", "cancel", nb::repr(cancel).c_str(), "a collage.Cancel");
  if (given != nullptr) options.cancel = given->handle();
  if (timeout.is_none()) return options;
  double seconds = 0;
  if (!nb::try_cast(timeout, seconds) || !(seconds > 0))
    raise(COLLAGE_USAGE, "session/option", "timeout", nb::repr(timeout).c_str(), "a positive number of seconds");
  options.time_limit_ns = static_cast<std::int64_t>(std::clamp(seconds, kLeastSeconds, kMostSeconds) * 1e9);
  return options;
}

template <class Ask>
collage_tensor_info info_of(Ask ask, collage_session* session, std::size_t index) {
  collage_tensor_info info{};
  info.size = sizeof info;
  check(ask(session, index, &info));
  return info;
}

/// The type as text when the port is no array of numbers.
template <class Ask>
std::string held_type_of(Ask ask, const Plan& plan, std::size_t index) {
  const char* type = "";
  check(ask(plan.handle(), index, &type));
  const std::string_view text = type;
  const bool is_held =
      text.starts_with("str[") || text.starts_with("seq(") || text.starts_with("opt(") || text.starts_with("map(");
  return is_held ? std::string(text) : std::string();
}

/// Of the package's module for such values.
nb::object values_function(const char* name) { return nb::module_::import_("collage.values").attr(name); }

}  // namespace

void Session::Free::operator()(collage_session* session) const { api().session_free(session); }

Session::Use::Use(Session& session) : session_(session) {
  if (session.in_use_.exchange(true, std::memory_order_acquire))
    raise(COLLAGE_USAGE, "session/in-use", "session", "a call while another one is under way",
          "one call at a time; make a session for each thread");
}

Session::Use::~Use() {
  session_.drop_arrays();
  session_.in_use_.store(false, std::memory_order_release);
}

Session::Session(const Plan& plan) {
  collage_session* made = nullptr;
  collage_status* status = nullptr;
  const collage_api& c = api();
  {
    const nb::gil_scoped_release released;
    status = c.session_create(plan.handle(), nullptr, &made);
  }
  check(status);
  handle_.reset(made);
  read_names(plan);
  has_shape_ = !is_open_;
  read_ports();
}

void Session::read_names(const Plan& plan) {
  const collage_api& c = api();
  std::size_t count = 0;
  check(c.plan_input_count(plan.handle(), &count));
  inputs_.resize(count);
  check(c.plan_output_count(plan.handle(), &count));
  outputs_.resize(count);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const collage_tensor_info info = info_of(c.session_input_info, handle_.get(), i);
    inputs_[i].name = info.name;
    inputs_[i].key = nb::str(info.name);
    inputs_[i].facts = &facts_of(info.element_type);
    inputs_[i].held_type = held_type_of(c.plan_input_type, plan, i);
    is_open_ |= std::any_of(info.extents, info.extents + std::max(info.rank, 0), [](auto e) { return e < 0; });
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const collage_tensor_info info = info_of(c.session_output_info, handle_.get(), i);
    outputs_[i].name = info.name;
    outputs_[i].key = nb::str(info.name);
    outputs_[i].facts = &facts_of(info.element_type);
    outputs_[i].held_type = held_type_of(c.plan_output_type, plan, i);
  }
}

void Session::read_ports() {
  if (!has_shape_) return;
  const collage_api& c = api();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    const collage_tensor_info info = info_of(c.session_input_info, handle_.get(), i);
    input.extents.assign(info.extents, info.extents + std::max(info.rank, 0));
    input.bytes = info.bytes;
    input.bound = nullptr;
    if (!input.held_type.empty()) continue;
    void* own = nullptr;
    check(c.session_input(handle_.get(), i, &own, &input.bytes));
    input.own = static_cast<std::byte*>(own);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    const collage_tensor_info info = info_of(c.session_output_info, handle_.get(), i);
    const std::size_t rank = static_cast<std::size_t>(std::max(info.rank, 0));
    output.extents.assign(info.extents, info.extents + rank);
    output.bytes = info.bytes;
    output.bound = nullptr;
    const bool is_known = info.rank >= 0 && std::ranges::all_of(output.extents, [](auto e) { return e >= 0; });
    output.shape = is_known && output.held_type.empty() ? nb::object(shape_tuple(output.extents)) : nb::object();
  }
}

nb::object Session::run(nb::handle feed, nb::handle out, nb::handle timeout, nb::handle cancel) {
  const Use use(*this);
  const collage_run_options options = run_options(timeout, cancel);
  const bool by_name = nb::isinstance<nb::dict>(feed);
  read_feed(feed);
  if (!out.is_none()) read_out(out);
  const bool may_end_early = options.time_limit_ns != 0 || options.cancel != nullptr;
  execute(may_end_early ? &options : nullptr);
  if (by_name) {
    nb::dict results;
    for (Output& output : outputs_) results[output.key] = output.result;
    return results;
  }
  nb::list results;
  for (Output& output : outputs_) results.append(output.result);
  return results;
}

nb::list Session::run_list(nb::dict feed, nb::handle positions) {
  const Use use(*this);
  read_mapping(std::move(feed));
  execute();
  nb::list results;
  if (positions.is_none()) {
    for (Output& output : outputs_) results.append(output.result);
  } else {
    for (const nb::handle position : positions) results.append(outputs_.at(nb::cast<std::size_t>(position)).result);
  }
  return results;
}

void Session::choose_shapes() {
  const bool is_set = has_shape_ && std::ranges::all_of(inputs_, [](const Input& input) {
                        return !input.held_type.empty() ? std::ranges::equal(input.extents, input.held_extents)
                                                        : std::ranges::equal(input.extents, input.array.extents());
                      });
  if (is_set) return;
  if (!is_open_) {
    for (const Input& input : inputs_)
      if (input.held_type.empty() && !std::ranges::equal(input.extents, input.array.extents()))
        raise(COLLAGE_BAD_INPUT, "input/wrong-shape", "input " + input.name, text_of(input.array.extents()),
              text_of(input.extents));
  }
  std::vector<std::vector<std::int64_t>> extents;
  std::vector<collage_shape> shapes;
  for (const Input& input : inputs_) {
    if (!input.held_type.empty()) {
      extents.push_back(input.held_extents);
      continue;
    }
    const auto given = input.array.extents();
    extents.emplace_back(given.begin(), given.end());
  }
  for (const auto& one : extents) shapes.push_back({one.data(), one.size()});
  apply_shapes(shapes);
}

void Session::apply_shapes(const std::vector<collage_shape>& shapes) {
  unbind_all();
  collage_status* status = nullptr;
  const collage_api& c = api();
  {
    const nb::gil_scoped_release released;
    status = c.session_set_shapes(handle_.get(), shapes.data(), shapes.size());
  }
  check(status);
  has_shape_ = true;
  read_ports();
}

/// Memory of a caller stays bound to the shape that was set then; it may be gone when that shape is set again.
void Session::unbind_all() {
  if (!has_shape_) return;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].bound != nullptr) {
      check(api().session_bind_input(handle_.get(), i, nullptr, 0));
      inputs_[i].bound = nullptr;
    }
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i].bound != nullptr) {
      check(api().session_bind_output(handle_.get(), i, nullptr, 0));
      outputs_[i].bound = nullptr;
    }
}

void Session::place_input(std::size_t index) {
  const collage_api& c = api();
  Input& input = inputs_[index];
  if (!input.held_type.empty())
    return check(c.session_set_json(handle_.get(), index, input.json.data(), input.json.size()));
  if (input.array.bytes() != input.bytes)
    raise(COLLAGE_BAD_INPUT, "input/wrong-shape", "input " + input.name, std::to_string(input.array.bytes()) + " bytes",
          std::to_string(input.bytes) + " bytes");
  if (input.bound != nullptr && input.bound == input.array.data()) return;
  const bool is_alone = std::ranges::none_of(
      inputs_, [&](const Input& other) { return &other != &input && overlaps(input.array, other.array); });
  if (can_bind(input.array) && is_alone) {
    check(c.session_bind_input(handle_.get(), index, input.array.data(), input.array.bytes()));
    input.bound = input.array.data();
    return;
  }
  if (input.bound == nullptr) return;
  check(c.session_bind_input(handle_.get(), index, nullptr, 0));
  input.bound = nullptr;
  void* own = nullptr;
  check(c.session_input(handle_.get(), index, &own, &input.bytes));
  input.own = static_cast<std::byte*>(own);
}

/// Makes the array that the output goes to where its shape is known, and binds it or the session's own memory.
void Session::place_output(std::size_t index) {
  Output& output = outputs_[index];
  if (!output.shape.is_valid()) return;
  output.result = output.given.is_valid() ? output.given : new_array(output, output.shape, output.bytes);
  output.array = output.given.is_valid()
                     ? ArrayView::writable(output.given, *output.facts, {"output", output.name.c_str()})
                     : ArrayView::own(output.result);
  if (output.given.is_valid() && !std::ranges::equal(output.array.extents(), output.extents))
    raise(COLLAGE_BAD_INPUT, "output/wrong-shape", "output " + output.name, text_of(output.array.extents()),
          text_of(output.extents));
  const bool is_alone =
      std::ranges::none_of(inputs_, [&](const Input& input) { return overlaps(output.array, input.array); }) &&
      std::none_of(outputs_.begin(), outputs_.begin() + static_cast<std::ptrdiff_t>(index),
                   [&](const Output& other) { return overlaps(output.array, other.array); });
  void* const wanted = output.given.is_valid() && is_alone && can_bind(output.array) ? output.array.data() : nullptr;
  if (wanted == output.bound) return;
  check(api().session_bind_output(handle_.get(), index, wanted, wanted == nullptr ? 0 : output.array.bytes()));
  output.bound = wanted;
}

void Session::execute(const collage_run_options* options) {
  choose_shapes();
  for (std::size_t i = 0; i < inputs_.size(); ++i) place_input(i);
  for (std::size_t i = 0; i < outputs_.size(); ++i) place_output(i);
  collage_status* status = nullptr;
  const collage_api& c = api();
  {
    const nb::gil_scoped_release released;
    for (const Input& input : inputs_)
      if (input.bound == nullptr && input.bytes > 0) std::memcpy(input.own, input.array.data(), input.bytes);
    status = options == nullptr ? c.session_run(handle_.get()) : c.session_run_with(handle_.get(), options);
    for (std::size_t i = 0; status == nullptr && i < outputs_.size(); ++i) {
      const Output& output = outputs_[i];
      if (output.shape.is_valid() && output.bound == nullptr)
        status = c.session_copy_output(handle_.get(), i, output.array.data(), output.array.bytes());
    }
  }
  check(status);
  for (std::size_t i = 0; i < outputs_.size(); ++i) take_output(i);
}

void Session::take_output(std::size_t index) {
  Output& output = outputs_[index];
  if (!output.held_type.empty()) {
    output.result = held_output(index);
    return;
  }
  const nb::object shape = output.shape.is_valid() ? output.shape : copy_late_output(index);
  if (output.given.is_valid() || output.facts->formats[0] != '\0') return;
  output.result = nb::module_::import_("collage.arrays")
                      .attr("typed")(output.result, output.facts->type, shape, "output " + output.name);
}

nb::object Session::held_output(std::size_t index) {
  const Output& output = outputs_[index];
  if (output.given.is_valid())
    raise(COLLAGE_USAGE, "api/wrong-array", "output " + output.name, "an array for " + output.held_type,
          "no array: it is made by the run");
  const collage_api& c = api();
  if (output.held_type.starts_with("str[")) {
    collage_strings given{};
    given.size = sizeof given;
    check(c.session_output_strings(handle_.get(), index, &given));
    nb::list texts;
    for (std::size_t i = 0; i < given.count; ++i)
      texts.append(nb::steal(PyUnicode_DecodeUTF8(given.strings[i].data,
                                                  static_cast<Py_ssize_t>(given.strings[i].bytes), "surrogateescape")));
    const std::vector<Py_ssize_t> extents(given.extents, given.extents + given.rank);
    return values_function("strings")(texts, shape_tuple(extents));
  }
  const char* json = nullptr;
  std::size_t bytes = 0;
  check(c.session_output_json(handle_.get(), index, &json, &bytes));
  return values_function("decode")(nb::str(json, bytes), output.held_type);
}

nb::object Session::copy_late_output(std::size_t index) {
  Output& output = outputs_[index];
  collage_tensor tensor{};
  tensor.size = sizeof tensor;
  check(api().session_output(handle_.get(), index, &tensor));
  const std::vector<Py_ssize_t> extents(tensor.extents, tensor.extents + tensor.rank);
  const nb::object shape = shape_tuple(extents);
  if (output.given.is_valid()) {
    output.array = ArrayView::writable(output.given, *output.facts, {"output", output.name.c_str()});
    if (!std::ranges::equal(output.array.extents(), extents))
      raise(COLLAGE_BAD_INPUT, "output/wrong-shape", "output " + output.name, text_of(output.array.extents()),
            text_of(extents));
    output.result = output.given;
  } else {
    output.result = new_array(output, shape, tensor.bytes);
    output.array = ArrayView::own(output.result);
  }
  if (tensor.bytes > 0) std::memcpy(output.array.data(), tensor.data, tensor.bytes);
  return shape;
}

nb::object Session::new_array(Output& output, nb::handle shape, std::size_t bytes) {
  if (output.facts->formats[0] == '\0')
    return empty_array(shape_tuple({static_cast<Py_ssize_t>(bytes)}), nb::str("uint8"));
  if (!output.dtype.is_valid()) output.dtype = numpy_dtype(output.facts->name);
  return empty_array(shape, output.dtype);
}

void Session::drop_arrays() {
  for (Input& input : inputs_) {
    input.array = ArrayView();
    input.json.clear();
  }
  for (Output& output : outputs_) {
    output.array = ArrayView();
    output.given.reset();
    output.result.reset();
  }
}

nb::list Session::inputs() {
  const Use use(*this);
  nb::list ports;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    ports.append(port_of(info_of(api().session_input_info, handle_.get(), i)));
  return ports;
}

nb::list Session::outputs() {
  const Use use(*this);
  nb::list ports;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    ports.append(port_of(info_of(api().session_output_info, handle_.get(), i)));
  return ports;
}

}  // namespace collage::python
