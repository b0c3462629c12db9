#include "call_options.h"

#include "status.h"

namespace nb = nanobind;

namespace collage::python {

nb::object CallOptions::get(const char* key) const { return given_.attr("get")(key); }

const char* CallOptions::text(const char* key) {
  const nb::object value = get(key);
  if (value.is_none()) return nullptr;
  return kept_text(key, value, "a text");
}

const char* CallOptions::kept_text(const char* key, nb::handle value, const char* allowed) {
  if (!nb::isinstance<nb::str>(value)) throw_wrong(key, value, allowed);
  return texts_.emplace_back(nb::borrow<nb::str>(value).c_str()).c_str();
}

void CallOptions::throw_wrong(const char* key, nb::handle value, const char* allowed) {
  raise(COLLAGE_USAGE, "api/wrong-option", std::string("option ") + key, nb::repr(value).c_str(), allowed);
}

collage_texts CallOptions::texts(const char* key) {
  const nb::object value = get(key);
  if (value.is_none()) return {};
  std::vector<const char*>& items = lists_.emplace_back();
  for (const nb::handle item : value) items.push_back(kept_text(key, item, "texts"));
  return {items.data(), items.size()};
}

void CallOptions::bytes(const char* key, const void*& data, std::size_t& count) {
  const nb::object value = get(key);
  if (value.is_none()) return;
  const ArrayView& view = views_.emplace_back(ArrayView::readable(value, facts_of(COLLAGE_UINT8), {"argument", key}));
  data = view.data();
  count = view.bytes();
}

}  // namespace collage::python
