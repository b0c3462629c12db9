#include "call_options.h"

namespace nb = nanobind;

namespace collage::python {

nb::object CallOptions::get(const char* key) const { return given_.attr("get")(key); }

const char* CallOptions::text(const char* key) {
  const nb::object value = get(key);
  if (value.is_none()) return nullptr;
  return texts_.emplace_back(nb::cast<nb::str>(value).c_str()).c_str();
}

collage_texts CallOptions::texts(const char* key) {
  const nb::object value = get(key);
  if (value.is_none()) return {};
  std::vector<const char*>& items = lists_.emplace_back();
  for (const nb::handle item : value)
    items.push_back(texts_.emplace_back(nb::cast<nb::str>(nb::borrow(item)).c_str()).c_str());
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
