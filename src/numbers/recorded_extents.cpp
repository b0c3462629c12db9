#include "numbers/recorded_extents.h"

namespace collage {

Result<void> note_recorded_extents(const Record& record, Graph& graph) {
  for (Value& value : graph.values) {
    if (!value.type.is_open() || !record.contains(value.name)) continue;
    COLLAGE_TRY(const Tensor tensor, record.tensor(value.name));
    Shape& shape = *value.type.shape;
    for (std::size_t d = 0; d < shape.size() && d < tensor.extents.size(); ++d) shape[d].recorded = tensor.extents[d];
  }
  return {};
}

std::vector<std::string> values_without_elements(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value& value : graph.values)
    if (const auto extents = value.type.known_extents();
        extents && value.type.is_open() && element_count(*extents) == 0)
      names.push_back(value.name);
  return names;
}

}  // namespace collage
