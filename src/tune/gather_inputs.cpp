#include "tune/gather_inputs.h"

#include "measure/inputs.h"
#include "onnx/tensor_file.h"

namespace collage {
namespace {

std::string names_of(const Graph& graph) {
  std::string names;
  for (ValueId id : graph.inputs) names += (names.empty() ? "" : ", ") + graph.value(id).name;
  return names;
}

Result<Tensor> read_input(const Value& input, const std::string& path) {
  COLLAGE_TRY(Tensor tensor, path.ends_with(".pb") ? read_tensor_pb(path) : read_npy(path));
  const std::string where = "input " + input.name + " (" + path + ")";
  if (tensor.type != input.type.element)
    return fail(ExitCode::kBadInput, "input/wrong-type", where, std::string(name_of(tensor.type)),
                std::string(name_of(input.type.element)));
  if (input.type.is_static() && tensor.extents != input.type.extents())
    return fail(ExitCode::kBadInput, "input/wrong-shape", where, to_string(tensor.value_type()), to_string(input.type));
  return tensor;
}

}  // namespace

Result<std::vector<Tensor>> gather_inputs(const Graph& graph, const GatherOptions& options) {
  COLLAGE_TRY(std::vector<Tensor> inputs, make_inputs(graph, {.seed = options.seed, .ranges = options.ranges}));
  for (const auto& [name, path] : options.files) {
    std::size_t index = 0;
    while (index < graph.inputs.size() && graph.value(graph.inputs[index]).name != name) ++index;
    if (index == graph.inputs.size())
      return fail(ExitCode::kBadInput, "input/unknown-name", "--input " + name, name, names_of(graph));
    COLLAGE_TRY(inputs[index], read_input(graph.value(graph.inputs[index]), path));
  }
  return inputs;
}

}  // namespace collage
