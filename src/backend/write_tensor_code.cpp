#include "backend/write_tensor_code.h"

#include <algorithm>

namespace collage {
namespace {

std::size_t position_of(const std::vector<ValueId>& ids, ValueId id) {
  return static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin());
}

}  // namespace

std::string add_operand(TensorCode& code, const Graph& graph, const Region& region, ValueId id, Extents extents) {
  const std::size_t port = position_of(region.inputs, id);
  const bool is_input = port < region.inputs.size();
  const std::size_t constant = position_of(code.constants, id);
  if (!is_input && constant == code.constants.size()) code.constants.push_back(id);
  code.arguments.push_back(dense_argument(is_input ? ArgumentKind::kInput : ArgumentKind::kConstant,
                                          static_cast<std::uint32_t>(is_input ? port : constant),
                                          graph.value(id).type.element, std::move(extents)));
  code.parameters.push_back("operand" + std::to_string(code.parameters.size()));
  return code.parameters.back();
}

void add_result(TensorCode& code, const Graph& graph, const Region& region, ValueId id, Extents extents) {
  code.arguments.push_back(dense_argument(ArgumentKind::kOutput,
                                          static_cast<std::uint32_t>(position_of(region.outputs, id)),
                                          graph.value(id).type.element, std::move(extents)));
}

}  // namespace collage
