// What a caller gives to a session: arrays of inputs, arrays for outputs, shapes; each by name or by position.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "session.h"
#include "status.h"

namespace nb = nanobind;

namespace collage::python {
namespace {

template <class Ports>
std::string names_of(const Ports& ports) {
  std::string names;
  for (const auto& port : ports) names += (names.empty() ? "" : ", ") + port.name;
  return names;
}

}  // namespace

void Session::read_feed(nb::handle feed) {
  if (nb::isinstance<nb::dict>(feed)) {
    read_mapping(nb::borrow<nb::dict>(feed));
  } else if (nb::isinstance<nb::list>(feed) || nb::isinstance<nb::tuple>(feed)) {
    read_sequence(feed);
  } else if (inputs_.size() == 1) {
    read_input(inputs_.front(), feed);
  } else {
    raise(COLLAGE_USAGE, "input/wrong-count", "feed", "one array", "a mapping with " + names_of(inputs_));
  }
}

void Session::read_mapping(nb::dict feed) {
  std::size_t found = 0;
  for (Input& input : inputs_) {
    PyObject* const object = PyDict_GetItemWithError(feed.ptr(), input.key.ptr());
    if (object == nullptr) {
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      raise(COLLAGE_BAD_INPUT, "input/missing", "input " + input.name, "no array",
            "one for each of " + names_of(inputs_));
    }
    read_input(input, object);
    ++found;
  }
  if (found == feed.size()) return;
  for (const auto [key, value] : feed)
    if (std::ranges::none_of(inputs_, [&](const Input& input) { return input.key.equal(key); }))
      raise(COLLAGE_BAD_INPUT, "input/unknown-name", "feed", nb::str(key).c_str(), names_of(inputs_));
}

void Session::read_sequence(nb::handle feed) {
  const std::size_t count = nb::len(feed);
  if (count != inputs_.size())
    raise(COLLAGE_BAD_INPUT, "input/wrong-count", "feed", std::to_string(count) + " arrays",
          std::to_string(inputs_.size()) + ": " + names_of(inputs_));
  std::size_t i = 0;
  for (const nb::handle object : feed) read_input(inputs_[i++], object);
}

void Session::read_input(Input& input, nb::handle object) {
  if (!input.held_type.empty()) {
    const nb::tuple encoded = nb::borrow<nb::tuple>(
        nb::module_::import_("collage.values").attr("encode")(object, input.held_type, "input " + input.name));
    input.json = nb::cast<std::string>(encoded[0]);
    input.held_extents.clear();
    for (const nb::handle extent : encoded[1]) input.held_extents.push_back(nb::cast<std::int64_t>(extent));
    return;
  }
  input.array = ArrayView::readable(object, *input.facts, {"input", input.name.c_str()});
}

void Session::read_out(nb::handle out) {
  const auto give = [](Output& output, nb::handle array) {
    if (!array.is_none()) output.given = nb::borrow(array);
  };
  if (nb::isinstance<nb::dict>(out)) {
    for (const auto [key, array] : nb::borrow<nb::dict>(out)) {
      const auto found = std::ranges::find_if(outputs_, [&](const Output& output) { return output.key.equal(key); });
      if (found == outputs_.end())
        raise(COLLAGE_BAD_INPUT, "output/unknown-name", "out", nb::str(key).c_str(), names_of(outputs_));
      give(*found, array);
    }
  } else if (nb::isinstance<nb::list>(out) || nb::isinstance<nb::tuple>(out)) {
    if (nb::len(out) != outputs_.size())
      raise(COLLAGE_BAD_INPUT, "output/wrong-count", "out", std::to_string(nb::len(out)) + " arrays",
            std::to_string(outputs_.size()) + ": " + names_of(outputs_));
    std::size_t i = 0;
    for (const nb::handle array : out) give(outputs_[i++], array);
  } else if (outputs_.size() == 1) {
    give(outputs_.front(), out);
  } else {
    raise(COLLAGE_USAGE, "output/wrong-count", "out", "one array",
          "a mapping or a sequence with " + names_of(outputs_));
  }
}

void Session::set_shapes(nb::handle shapes) {
  const Use use(*this);
  const bool by_name = nb::isinstance<nb::dict>(shapes);
  if (nb::len(shapes) != inputs_.size())
    raise(COLLAGE_BAD_INPUT, "input/wrong-count", "shapes", std::to_string(nb::len(shapes)),
          std::to_string(inputs_.size()) + ": " + names_of(inputs_));
  std::vector<std::vector<std::int64_t>> extents;
  for (const Input& input : inputs_) {
    if (by_name && !nb::borrow<nb::dict>(shapes).contains(input.key))
      raise(COLLAGE_BAD_INPUT, "input/missing", "input " + input.name, "no shape",
            "one for each of " + names_of(inputs_));
    const nb::object shape = by_name ? nb::object(shapes[input.key]) : nb::object(shapes[extents.size()]);
    std::vector<std::int64_t>& one = extents.emplace_back();
    for (const nb::handle extent : shape) one.push_back(nb::cast<std::int64_t>(extent));
  }
  std::vector<collage_shape> given;
  for (const auto& one : extents) given.push_back({one.data(), one.size()});
  apply_shapes(given);
}

}  // namespace collage::python
