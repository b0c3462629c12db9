#include "backends/cudnn/operation_graph.h"

#include <algorithm>

namespace collage::cudnn {
namespace {

/// Of buffers, as plans lay them out.
constexpr std::int64_t kAlignment = 64;
/// Proposals that are looked at: on float32 tensors the first two dozen multiply TF32.
constexpr std::int64_t kMostProposals = 64;

Descriptor tensor_of(const Library& library, const DescribedTensor& tensor, std::size_t index) {
  Descriptor made(library, Kind::kTensor);
  made.set(Attribute::kTensorType, Type::kDataType, kFloat32);
  made.set(Attribute::kTensorExtents, Type::kInt64, tensor.extents);
  made.set(Attribute::kTensorStrides, Type::kInt64, tensor.strides);
  made.set(Attribute::kTensorId, Type::kInt64, id_of(index));
  made.set(Attribute::kTensorAlignment, Type::kInt64, kAlignment);
  made.set(Attribute::kTensorIsVirtual, Type::kBoolean, tensor.kind == SourceKind::kInside);
  made.finalise();
  return made;
}

Descriptor convolution_of(const Library& library, const Description& description) {
  Descriptor made(library, Kind::kConvolution);
  made.set(Attribute::kConvolutionPrecision, Type::kDataType, kFloat32);
  made.set(Attribute::kConvolutionMode, Type::kConvolutionMode, kCrossCorrelation);
  made.set(Attribute::kConvolutionAxes, Type::kInt64, static_cast<std::int64_t>(description.strides.size()));
  made.set(Attribute::kConvolutionStrides, Type::kInt64, description.strides);
  made.set(Attribute::kConvolutionDilations, Type::kInt64, description.dilations);
  made.set(Attribute::kConvolutionPaddingBefore, Type::kInt64, description.before);
  made.set(Attribute::kConvolutionPaddingAfter, Type::kInt64, description.after);
  made.finalise();
  return made;
}

Descriptor pointwise_of(const Library& library, const Behind& behind) {
  Descriptor made(library, Kind::kPointwise);
  made.set(Attribute::kPointwiseMode, Type::kPointwiseMode, static_cast<int>(behind.mode));
  made.set(Attribute::kPointwisePrecision, Type::kDataType, kFloat32);
  if (behind.slope != 0) made.set(Attribute::kReluSlope, Type::kDouble, static_cast<double>(behind.slope));
  made.finalise();
  return made;
}

/// The graph with all that it refers to.
class OperationGraph {
 public:
  OperationGraph(const Library& library, Handle handle, const Description& description) : library_(library) {
    for (std::size_t i = 0; i < description.tensors.size(); ++i)
      tensors_.push_back(tensor_of(library, description.tensors[i], i));
    parts_.push_back(convolution_of(library, description));
    operations_.push_back(forward_of(description));
    std::uint32_t result = description.y;
    for (const Behind& behind : description.behind) {
      parts_.push_back(pointwise_of(library, behind));
      operations_.push_back(operation_of(behind, result));
      result = behind.result;
    }
    std::vector<Handle> operations;
    for (const Descriptor& one : operations_) operations.push_back(one.handle());
    if (handle != nullptr) graph_.set(Attribute::kGraphHandle, Type::kHandle, handle);
    graph_.set(Attribute::kGraphOperations, Type::kDescriptor, operations);
    graph_.finalise();
  }

  [[nodiscard]] const Descriptor& graph() const { return graph_; }

 private:
  Descriptor forward_of(const Description& description) {
    Descriptor made(library_, Kind::kConvolutionForward);
    made.set(Attribute::kForwardConvolution, parts_.back());
    made.set(Attribute::kForwardX, tensors_[description.x]);
    made.set(Attribute::kForwardW, tensors_[description.w]);
    made.set(Attribute::kForwardY, tensors_[description.y]);
    made.set(Attribute::kForwardAlpha, Type::kFloat, 1.0F);
    made.set(Attribute::kForwardBeta, Type::kFloat, 0.0F);
    made.finalise();
    return made;
  }

  Descriptor operation_of(const Behind& behind, std::uint32_t before) {
    Descriptor made(library_, Kind::kPointwiseOperation);
    made.set(Attribute::kPointwiseDescriptor, parts_.back());
    made.set(Attribute::kPointwiseX, tensors_[before]);
    if (behind.other) made.set(Attribute::kPointwiseB, tensors_[*behind.other]);
    made.set(Attribute::kPointwiseY, tensors_[behind.result]);
    made.finalise();
    return made;
  }

  const Library& library_;
  std::vector<Descriptor> tensors_;
  std::vector<Descriptor> parts_;
  std::vector<Descriptor> operations_;
  Descriptor graph_{library_, Kind::kOperationGraph};
};

std::vector<Descriptor> proposals_of(const Library& library, const OperationGraph& graph) {
  Descriptor heuristics(library, Kind::kEngineHeuristics);
  heuristics.set(Attribute::kHeuristicsGraph, graph.graph());
  heuristics.set(Attribute::kHeuristicsMode, Type::kHeuristicsMode, kModeA);
  heuristics.finalise();
  const std::int64_t count =
      std::min(heuristics.count(Attribute::kHeuristicsResults, Type::kDescriptor), kMostProposals);
  std::vector<Descriptor> configs;
  std::vector<Handle> handles;
  for (std::int64_t i = 0; i < count; ++i) {
    configs.emplace_back(library, Kind::kEngineConfig);
    handles.push_back(configs.back().handle());
  }
  const auto filled = heuristics.get(Attribute::kHeuristicsResults, Type::kDescriptor, std::move(handles));
  while (configs.size() > filled.size()) configs.pop_back();
  return configs;
}

bool rounds_as_allowed(const Library& library, const Descriptor& config, bool rounds_inputs) {
  const Descriptor engine(library, Kind::kEngine);
  (void)config.get(Attribute::kConfigEngine, Type::kDescriptor, std::vector<Handle>{engine.handle()});
  const std::int64_t count = engine.count(Attribute::kEngineNotes, Type::kNumericalNote);
  const auto notes =
      engine.get(Attribute::kEngineNotes, Type::kNumericalNote, std::vector<int>(static_cast<std::size_t>(count)));
  const auto has = [&](Note note) { return std::ranges::find(notes, static_cast<int>(note)) != notes.end(); };
  if (has(Note::kNotDeterministic) || has(Note::kReducedSums)) return false;
  // On float32 tensors a tensor core multiplies TF32.
  return rounds_inputs || (!has(Note::kTensorCore) && !has(Note::kDownConverts));
}

/// Nothing when the library does not make it after all, or it needs more memory.
std::optional<OfferedPlan> plan_of(const Library& library, Handle handle, const Descriptor& config,
                                   std::size_t workspace_bytes) {
  Descriptor plan(library, Kind::kExecutionPlan);
  plan.set(Attribute::kPlanHandle, Type::kHandle, handle);
  plan.set(Attribute::kPlanConfig, config);
  try {
    plan.finalise();
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
  const auto bytes = plan.get(Attribute::kPlanWorkspace, Type::kInt64, std::vector<std::int64_t>(1));
  if (bytes.size() != 1 || bytes[0] < 0 || static_cast<std::size_t>(bytes[0]) > workspace_bytes) return std::nullopt;
  const std::int64_t length = plan.count(Attribute::kPlanText, Type::kChar);
  const auto text = plan.get(Attribute::kPlanText, Type::kChar, std::vector<char>(static_cast<std::size_t>(length)));
  return OfferedPlan{.text = std::string(text.begin(), text.end()),
                     .workspace_bytes = static_cast<std::size_t>(bytes[0])};
}

}  // namespace

std::optional<OfferedPlan> plan_at(const Library& library, Handle handle, const Description& description, int rank,
                                   bool rounds_inputs, std::size_t workspace_bytes) {
  const OperationGraph graph(library, handle, description);
  for (const Descriptor& config : proposals_of(library, graph)) {
    if (!rounds_as_allowed(library, config, rounds_inputs)) continue;
    auto plan = plan_of(library, handle, config, workspace_bytes);
    if (plan && rank-- == 0) return plan;
  }
  return std::nullopt;
}

}  // namespace collage::cudnn
