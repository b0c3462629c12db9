#include "region/fusion_class.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace collage {
namespace {

using Table = std::unordered_map<std::string_view, FusionClass>;

/// Element-wise operators take and give one shape; those with several operands broadcast.
const Table& common_table() {
  static const Table table = [] {
    Table filled;
    const auto add = [&filled](FusionClass fusion_class, std::initializer_list<std::string_view> names) {
      for (const std::string_view name : names) filled.emplace(name, fusion_class);
    };
    add(FusionClass::kElementwise, {"Abs",
                                    "Acos",
                                    "Acosh",
                                    "Asin",
                                    "Asinh",
                                    "Atan",
                                    "Atanh",
                                    "BitwiseNot",
                                    "Cast",
                                    "Ceil",
                                    "Celu",
                                    "Clip",
                                    "Cos",
                                    "Cosh",
                                    "Elu",
                                    "Erf",
                                    "Exp",
                                    "Floor",
                                    "Gelu",
                                    "HardSigmoid",
                                    "HardSwish",
                                    "Identity",
                                    "IsInf",
                                    "IsNaN",
                                    "LeakyRelu",
                                    "Log",
                                    "Mish",
                                    "Neg",
                                    "Not",
                                    "Reciprocal",
                                    "Relu",
                                    "Round",
                                    "Selu",
                                    "Shrink",
                                    "Sigmoid",
                                    "Sign",
                                    "Sin",
                                    "Sinh",
                                    "Softplus",
                                    "Softsign",
                                    "Sqrt",
                                    "Swish",
                                    "Tan",
                                    "Tanh",
                                    "ThresholdedRelu",
                                    "com.microsoft::FastGelu",
                                    "com.microsoft::QuickGelu"});
    add(FusionClass::kBroadcast, {"Add",
                                  "And",
                                  "BitShift",
                                  "BitwiseAnd",
                                  "BitwiseOr",
                                  "BitwiseXor",
                                  "CastLike",
                                  "DequantizeLinear",
                                  "Div",
                                  "Equal",
                                  "Expand",
                                  "Greater",
                                  "GreaterOrEqual",
                                  "Less",
                                  "LessOrEqual",
                                  "Max",
                                  "Mean",
                                  "Min",
                                  "Mod",
                                  "Mul",
                                  "Or",
                                  "PRelu",
                                  "Pow",
                                  "QuantizeLinear",
                                  "Sub",
                                  "Sum",
                                  "Unsqueeze",
                                  "Where",
                                  "Xor"});
    add(FusionClass::kInjective,
        {"CenterCropPad", "Concat", "DepthToSpace", "Flatten", "Gather", "GatherElements", "GatherND", "Pad", "Reshape",
         "ReverseSequence", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Trilu"});
    add(FusionClass::kReduce, {"ArgMax", "ArgMin", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
                               "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"});
    add(FusionClass::kAnchor, {"AveragePool",
                               "BatchNormalization",
                               "Conv",
                               "ConvInteger",
                               "ConvTranspose",
                               "Einsum",
                               "Gemm",
                               "GlobalAveragePool",
                               "GlobalLpPool",
                               "GlobalMaxPool",
                               "GroupNormalization",
                               "InstanceNormalization",
                               "LayerNormalization",
                               "LogSoftmax",
                               "LpNormalization",
                               "LpPool",
                               "LRN",
                               "MatMul",
                               "MatMulInteger",
                               "MaxPool",
                               "MeanVarianceNormalization",
                               "QLinearConv",
                               "QLinearMatMul",
                               "RMSNormalization",
                               "Resize",
                               "Softmax",
                               "com.microsoft::FusedConv",
                               "com.microsoft::FusedMatMul"});
    return filled;
  }();
  return table;
}

constexpr std::array<std::string_view, 6> kNames = {"elementwise", "broadcast", "injective",
                                                    "reduce",      "anchor",    "opaque"};

}  // namespace

std::string_view name_of(FusionClass fusion_class) { return kNames.at(static_cast<std::size_t>(fusion_class)); }

std::optional<FusionClass> fusion_class_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<FusionClass>(found - kNames.begin());
}

std::string qualified_name(const Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type;
}

FusionClass fusion_class_of(const Node& node) {
  const auto found = common_table().find(qualified_name(node));
  return found == common_table().end() ? FusionClass::kOpaque : found->second;
}

FusionClass fusion_class_of(const Graph& graph, const NodeSet& nodes) {
  FusionClass greatest = FusionClass::kElementwise;
  for (const std::size_t n : nodes.members()) greatest = std::max(greatest, fusion_class_of(graph.nodes[n]));
  return greatest;
}

bool can_be_repeated(const Node& node) {
  return node.outputs.size() == 1 && node.outputs[0].valid() && node.captures.empty() && bodies_of(node).empty() &&
         fusion_class_of(node) <= FusionClass::kInjective;
}

}  // namespace collage
