#include "backend/held_value.h"

namespace collage {

std::optional<Refusal> refuse_held_ports(const Backend& backend, const Graph& graph, const Region& region) {
  if (backend.info().takes_held) return std::nullopt;
  for (const auto* ids : {&region.inputs, &region.outputs})
    for (const ValueId id : *ids)
      if (const Value& value = graph.value(id); value.type.is_held())
        return Refusal{.reason = RefusalReason::kType, .detail = "port " + value.name + " is " + to_string(value.type)};
  return std::nullopt;
}

Result<Tensor> view_of(const DynamicOutput& output) {
  if (output.held != nullptr) return output.held->plain();
  return tensor_over(output.type, output.extents, output.data);
}

Result<Tensor> copy_of(const DynamicOutput& output) {
  COLLAGE_TRY(Tensor tensor, view_of(output));
  if (output.held == nullptr) tensor.data = Buffer::copy_of(tensor.data.bytes());
  return tensor;
}

}  // namespace collage
