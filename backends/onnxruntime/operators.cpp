// Source: each operator's official ONNX tests loaded in ONNX Runtime 1.31.1 at operator set 26.
#include "backends/onnxruntime/operators.h"

#include <algorithm>
#include <array>

#include "backends/onnxruntime/faults.h"

namespace collage {
namespace {

// Sorted. Known to ONNX up to set 26 and not to this library.
constexpr std::array<std::string_view, 4> kUnknown = {"CausalConvWithState", "ImageDecoder", "LinearAttention",
                                                      "SwiGLU"};

// Sorted.
constexpr std::array<std::string_view, 9> kOlder = {"Bernoulli",     "GlobalLpPool",      "MaxRoiPool",
                                                    "Multinomial",   "RandomNormal",      "RandomNormalLike",
                                                    "RandomUniform", "RandomUniformLike", "RoiAlign"};

// Sorted. Operators that check these operands when they run, which was tested with each of them out of range.
constexpr std::array<std::string_view, 25> kChecked = {"Attention",
                                                       "ConstantOfShape",
                                                       "CumSum",
                                                       "DFT",
                                                       "Div",
                                                       "EmbedLayerNormalization",
                                                       "GRU",
                                                       "Gather",
                                                       "GatherElements",
                                                       "GatherND",
                                                       "LSTM",
                                                       "MaxUnpool",
                                                       "Mod",
                                                       "OneHot",
                                                       "RNN",
                                                       "Range",
                                                       "ReverseSequence",
                                                       "RoiAlign",
                                                       "RotaryEmbedding",
                                                       "ScatterElements",
                                                       "ScatterND",
                                                       "Slice",
                                                       "TensorScatter",
                                                       "Tile",
                                                       "TopK"};

bool knows_operator(std::string_view domain, std::string_view op_type) {
  if (domain.empty()) return !std::binary_search(kUnknown.begin(), kUnknown.end(), op_type);
  return domain == "com.microsoft" || domain == "ai.onnx.ml";
}

bool knows_or_asks(std::string_view domain, std::string_view op_type) {
  return knows_operator(domain, op_type) || is_vendor_domain(domain);
}

bool takes_port(ElementType type) { return type != ElementType::kString && bits_of(type) > 0; }

bool takes_inside(ElementType) { return true; }

constexpr EngineLimits kPlainLimits{.max_opset = 26,
                                    .knows_operator = knows_operator,
                                    .takes_port = takes_port,
                                    .takes_inside = takes_inside,
                                    .takes_containers = true,
                                    .takes_held = true,
                                    .min_channels_last_rank = 4,
                                    .max_channels_last_rank = 4,
                                    .mixes_formats = false,
                                    .fault_of = onnxruntime_fault,
                                    .keeps_plain = onnxruntime_keeps_plain};

}  // namespace

bool is_vendor_domain(std::string_view domain) {
  return !domain.empty() && !domain.starts_with("ai.onnx") && domain != "com.microsoft";
}

const EngineLimits& onnxruntime_limits_with_libraries() {
  static constexpr EngineLimits kLimits = [](EngineLimits limits) {
    limits.knows_operator = knows_or_asks;
    return limits;
  }(kPlainLimits);
  return kLimits;
}

const EngineLimits& onnxruntime_limits() { return kPlainLimits; }

bool onnxruntime_refuses(const Node& node, OperandRule rule) {
  // The processor refuses the quotient: the process dies.
  if (rule == OperandRule::kNoOverflow) return false;
  // An index beyond its axis that stays in the tensor reads another batch.
  if (node.op_type == "GatherND" && (!node.domain.empty() || attribute_or<std::int64_t>(node, "batch_dims", 0) != 0))
    return false;
  return std::binary_search(kChecked.begin(), kChecked.end(), node.op_type);
}

bool needs_opset_21(std::string_view domain, std::string_view op_type) {
  return domain.empty() && std::binary_search(kOlder.begin(), kOlder.end(), op_type);
}

}  // namespace collage
