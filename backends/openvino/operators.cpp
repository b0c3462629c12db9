// Source: each operator's official ONNX tests compiled by OpenVINO 2026.4, and the names its ONNX front end registers
// for com.microsoft.
#include "backends/openvino/operators.h"

#include <algorithm>
#include <array>

#include "backends/openvino/faults.h"

namespace collage {
namespace {

// Sorted. Standard operators without a conversion.
constexpr std::array<std::string_view, 34> kUnknown = {"Adagrad",
                                                       "Adam",
                                                       "BitCast",
                                                       "CausalConvWithState",
                                                       "ConcatFromSequence",
                                                       "CumProd",
                                                       "DeformConv",
                                                       "Det",
                                                       "FlexAttention",
                                                       "ImageDecoder",
                                                       "LinearAttention",
                                                       "MaxUnpool",
                                                       "MelWeightMatrix",
                                                       "Momentum",
                                                       "Optional",
                                                       "OptionalGetElement",
                                                       "OptionalHasElement",
                                                       "RegexFullMatch",
                                                       "STFT",
                                                       "SequenceAt",
                                                       "SequenceConstruct",
                                                       "SequenceEmpty",
                                                       "SequenceErase",
                                                       "SequenceInsert",
                                                       "SequenceLength",
                                                       "SequenceMap",
                                                       "SplitToSequence",
                                                       "StringConcat",
                                                       "StringNormalizer",
                                                       "StringSplit",
                                                       "SwiGLU",
                                                       "TensorScatter",
                                                       "TfIdfVectorizer",
                                                       "Unique"};

// Sorted. Operators of com.microsoft with a conversion.
constexpr std::array<std::string_view, 35> kContrib = {"Attention",
                                                       "BiasAdd",
                                                       "BiasGelu",
                                                       "DequantizeLinear",
                                                       "DynamicQuantizeMatMul",
                                                       "EmbedLayerNormalization",
                                                       "FastGelu",
                                                       "FusedConv",
                                                       "FusedGemm",
                                                       "FusedMatMul",
                                                       "GatherND",
                                                       "Gelu",
                                                       "GroupNorm",
                                                       "GroupQueryAttention",
                                                       "MatMulIntegerToFloat",
                                                       "MatMulNBits",
                                                       "MultiHeadAttention",
                                                       "Pad",
                                                       "QLinearAdd",
                                                       "QLinearAveragePool",
                                                       "QLinearConcat",
                                                       "QLinearGlobalAveragePool",
                                                       "QLinearLeakyRelu",
                                                       "QLinearMul",
                                                       "QLinearReduceMean",
                                                       "QLinearSigmoid",
                                                       "QLinearSoftmax",
                                                       "QLinearWhere",
                                                       "QuantizeLinear",
                                                       "QuickGelu",
                                                       "RotaryEmbedding",
                                                       "SimplifiedLayerNormalization",
                                                       "SkipLayerNormalization",
                                                       "SkipSimplifiedLayerNormalization",
                                                       "Trilu"};

bool knows_operator(std::string_view domain, std::string_view op_type) {
  if (domain.empty()) return !std::binary_search(kUnknown.begin(), kUnknown.end(), op_type);
  return domain == "com.microsoft" && std::binary_search(kContrib.begin(), kContrib.end(), op_type);
}

/// 4-bit and 8-bit floats stay inside.
bool takes_port(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kFloat64:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
    case ElementType::kUint32:
    case ElementType::kUint64:
    case ElementType::kBool:
      return true;
    default:
      return false;
  }
}

bool takes_inside(ElementType type) {
  switch (type) {
    case ElementType::kString:
    case ElementType::kComplex64:
    case ElementType::kComplex128:
    case ElementType::kFloat8E4M3Fnuz:
    case ElementType::kFloat8E5M2Fnuz:
    case ElementType::kUint2:
    case ElementType::kInt2:
      return false;
    default:
      return true;
  }
}

bool has_weights(const Node& node) {
  return is_op(node, "Conv") || is_op(node, "ConvTranspose") || is_op(node, "MatMul") || is_op(node, "Gemm");
}

bool scales_by_constant(const Graph& graph, const Node& node) {
  if (is_op(node, "BatchNormalization")) return true;
  if (!is_op(node, "Mul") && !is_op(node, "Div")) return false;
  return constant_of(graph, input_of(node, 0)) != nullptr || constant_of(graph, input_of(node, 1)) != nullptr;
}

bool reads_result_of(const Node& reader, const Node& writer) {
  return std::any_of(writer.outputs.begin(), writer.outputs.end(), [&](ValueId id) {
    return id.valid() && std::find(reader.inputs.begin(), reader.inputs.end(), id) != reader.inputs.end();
  });
}

}  // namespace

const EngineLimits& openvino_limits() {
  static constexpr EngineLimits kLimits{.max_opset = 28,
                                        .knows_operator = knows_operator,
                                        .takes_port = takes_port,
                                        .takes_inside = takes_inside,
                                        .takes_containers = false,
                                        .min_channels_last_rank = 3,
                                        .max_channels_last_rank = 5,
                                        .mixes_formats = true,
                                        .fault_of = openvino_fault,
                                        .keeps_plain = nullptr};
  return kLimits;
}

bool openvino_refuses(const Node& node, OperandRule rule) {
  static constexpr std::array<std::string_view, 5> kChecked = {"ConstantOfShape", "CumSum", "OneHot", "Slice", "TopK"};
  return node.domain.empty() && rule != OperandRule::kNoOverflow &&
         std::find(kChecked.begin(), kChecked.end(), node.op_type) != kChecked.end();
}

std::optional<Refusal> strict_refusal(const Graph& graph, const Region& region) {
  const std::vector<std::size_t> members = region.nodes.members();
  for (const std::size_t n : members)
    for (const auto* ids : {&graph.nodes[n].inputs, &graph.nodes[n].outputs})
      for (const ValueId id : *ids)
        if (id.valid() && graph.value(id).type.element == ElementType::kFloat64)
          return Refusal{.reason = RefusalReason::kAccuracy,
                         .detail = "would compute " + graph.value(id).name + " in f32"};
  for (const std::size_t w : members) {
    const Node& weighted = graph.nodes[w];
    if (!has_weights(weighted)) continue;
    for (const std::size_t s : members) {
      const Node& scale = graph.nodes[s];
      if (!scales_by_constant(graph, scale)) continue;
      if (reads_result_of(scale, weighted) || reads_result_of(weighted, scale))
        return Refusal{.reason = RefusalReason::kAccuracy,
                       .detail = "would multiply " + scale.name + " into the weights of " + weighted.name};
    }
  }
  return std::nullopt;
}

}  // namespace collage
