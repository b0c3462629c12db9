#include "api/tune/reference_model.h"

#include "backend/roles.h"
#include "numbers/quantisers.h"
#include "numbers/rounding_slack.h"

namespace collage {
namespace {

Result<WholeModel> load(Backend& engine, const SourceModel& source, std::vector<std::string>& notes) {
  auto on_file = WholeModel::create(engine, source.graph, source.model_bytes(), {});
  if (on_file) return std::move(*on_file);
  notes.push_back("the reference refuses the file and runs the imported graph: " + on_file.error().saw);
  return WholeModel::create(engine, source.graph, std::nullopt, {});
}

Result<std::vector<Tensor>> outputs_of(WholeModel& model, const std::vector<Tensor>& inputs) {
  COLLAGE_TRY_VOID(model.set_inputs(inputs));
  COLLAGE_TRY_VOID(model.run());
  return model.outputs();
}

}  // namespace

Result<ReferenceModel> ReferenceModel::create(Registry& registry, const SourceModel& source,
                                              std::vector<std::string>& notes) {
  COLLAGE_TRY(Backend * engine, registry.get(kReferenceEngine));
  COLLAGE_TRY(WholeModel model, load(*engine, source, notes));
  ReferenceModel reference(std::move(model));
  const auto twin = nudged_twin(source.graph);
  if (!twin) return reference;
  if (auto nudged = WholeModel::create(*engine, *twin, std::nullopt, {})) reference.nudged_ = std::move(*nudged);
  const Uses uses = uses_of(source.graph);
  for (const ValueId id : source.graph.outputs)
    reference.is_rounded_.push_back(is_after_quantiser(source.graph, uses, id));
  return reference;
}

Result<ReferenceOutputs> ReferenceModel::run(const std::vector<Tensor>& inputs) {
  COLLAGE_TRY(std::vector<Tensor> tensors, outputs_of(model_, inputs));
  ReferenceOutputs outputs{.tensors = std::move(tensors), .slacks = {}};
  outputs.slacks.resize(outputs.tensors.size());
  if (!nudged_) return outputs;
  COLLAGE_TRY(const std::vector<Tensor> nudged, outputs_of(*nudged_, inputs));
  for (std::size_t o = 0; o < nudged.size(); ++o)
    outputs.slacks[o] = rounding_slack(outputs.tensors[o], nudged[o], is_rounded_[o]);
  return outputs;
}

}  // namespace collage
