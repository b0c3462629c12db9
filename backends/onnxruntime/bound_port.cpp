#include "backends/onnxruntime/bound_port.h"

#include <algorithm>

#include "backends/common/engine/region_model.h"
#include "backends/onnxruntime/held_values.h"

namespace collage {
namespace {

Extents memory_extents(const Port& port) {
  Extents extents = port.type.extents();
  if (port.place.format.full().is_channels_last()) std::rotate(extents.begin() + 1, extents.begin() + 2, extents.end());
  return extents;
}

/// Stands for the memory of tensors without elements, which the library wants to be somewhere.
alignas(64) constexpr std::byte kNowhere[64] = {};

}  // namespace

BoundPort bound_port(const Port& port) {
  if (port.type.is_held())
    return {.name = port_name(port.name, port.place.format), .extents = {}, .is_static = false, .held = port.type};
  BoundPort bound{.name = port_name(port.name, port.place.format),
                  .element = stored_element(port.type, port.place.format),
                  .extents = {}};
  bound.is_static = port.type.is_static();
  if (!bound.is_static) return bound;
  bound.extents = memory_extents(port);
  bound.bytes = byte_count(bound.element, bound.extents);
  return bound;
}

Ort::Value tensor_over(const Ort::MemoryInfo& memory, const BoundPort& port, void* data) {
  if (data == nullptr && port.bytes == 0) data = const_cast<std::byte*>(kNowhere);
  return Ort::Value::CreateTensor(memory, data, port.bytes, port.extents.data(), port.extents.size(),
                                  to_onnxruntime(port.element));
}

BoundPort at_extents(const BoundPort& port, const Extents& extents) {
  if (port.is_static) return port;
  return {.name = port.name, .element = port.element, .extents = extents, .bytes = byte_count(port.element, extents)};
}

}  // namespace collage
