#include "backends/common/engine/engine_support.h"

#include <algorithm>
#include <optional>

namespace collage {
namespace {

/// Nodes from which on a region is offered with all ends alike only.
constexpr std::size_t kLongRegion = 8;

std::string qualified(const Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type;
}

bool is_ok(const EngineLimits& limits, const ValueType& type) {
  if (type.kind == ValueKind::kSequence || type.kind == ValueKind::kOptional || type.kind == ValueKind::kMap)
    return limits.takes_containers && std::all_of(type.inner.begin(), type.inner.end(),
                                                  [&](const ValueType& inner) { return is_ok(limits, inner); });
  return type.element == ElementType::kUndefined || limits.takes_inside(type.element);
}

std::optional<Refusal> judge_node(const EngineLimits& limits, const Graph& graph, const Node& node);

/// The refusal of the first node in `graph` that gets one: for bodies.
std::optional<Refusal> judge_body(const EngineLimits& limits, const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (auto refusal = judge_node(limits, graph, node)) return refusal;
  return std::nullopt;
}

std::optional<Refusal> judge_node(const EngineLimits& limits, const Graph& graph, const Node& node) {
  const std::string_view domain = node.domain == "ai.onnx" ? std::string_view{} : std::string_view(node.domain);
  if (!limits.knows_operator(domain, node.op_type))
    return Refusal{.reason = RefusalReason::kOperator, .detail = qualified(node)};
  for (const auto* ids : {&node.inputs, &node.outputs})
    for (const ValueId id : *ids)
      if (id.valid() && !is_ok(limits, graph.value(id).type))
        return Refusal{.reason = RefusalReason::kType,
                       .detail = graph.value(id).name + " is " + to_string(graph.value(id).type)};
  if (limits.fault_of != nullptr)
    if (auto refusal = limits.fault_of(graph, node)) return refusal;
  for (const Attribute& attribute : node.attributes) {
    if (const auto* body = std::get_if<Body>(&attribute.value)) {
      if (auto refusal = judge_body(limits, *body->graph)) return refusal;
    } else if (const auto* bodies = std::get_if<std::vector<Body>>(&attribute.value)) {
      for (const Body& one : *bodies)
        if (auto refusal = judge_body(limits, *one.graph)) return refusal;
    }
  }
  return std::nullopt;
}

/// A sequence, or a tensor of unknown rank, may leave the region only as an output of the graph.
bool is_free_output(const Graph& graph, const Region& region, ValueId id) {
  if (std::find(graph.outputs.begin(), graph.outputs.end(), id) == graph.outputs.end()) return false;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (region.nodes.contains(n)) continue;
    for (const auto* ids : {&graph.nodes[n].inputs, &graph.nodes[n].captures})
      if (std::find(ids->begin(), ids->end(), id) != ids->end()) return false;
  }
  return true;
}

std::optional<Refusal> judge_port(const EngineLimits& limits, const Graph& graph, const Region& region, ValueId id,
                                  bool is_output) {
  const Value& value = graph.value(id);
  const std::string detail = value.name + " is " + to_string(value.type);
  if (value.type.is_held() && limits.takes_held) return std::nullopt;
  if (value.type.kind != ValueKind::kTensor || value.type.element == ElementType::kUndefined ||
      !limits.takes_port(value.type.element))
    return Refusal{.reason = RefusalReason::kType, .detail = "port " + detail};
  if (!value.type.is_static() && !value.type.is_open() && !(is_output && is_free_output(graph, region, id)))
    return Refusal{.reason = RefusalReason::kShape, .detail = "port " + detail};
  return std::nullopt;
}

std::optional<Refusal> judge(const EngineLimits& limits, const Graph& graph, const Region& region) {
  if (const auto opset = graph.opsets.find(""); opset != graph.opsets.end() && opset->second > limits.max_opset)
    return Refusal{.reason = RefusalReason::kOperator,
                   .detail = "operator set " + std::to_string(opset->second) + " is newer than " +
                             std::to_string(limits.max_opset)};
  if (region.outputs.empty()) return Refusal{.reason = RefusalReason::kStructure, .detail = "nothing leaves it"};
  for (const std::size_t n : region.nodes.members())
    if (auto refusal = judge_node(limits, graph, graph.nodes[n])) return refusal;
  for (const ValueId id : region.inputs)
    if (auto refusal = judge_port(limits, graph, region, id, false)) return refusal;
  for (const ValueId id : region.outputs)
    if (auto refusal = judge_port(limits, graph, region, id, true)) return refusal;
  return std::nullopt;
}

Format last_format(const EngineLimits& limits, const ValueType& type) {
  if (!type.is_static() || !can_be_channels_last(type)) return plain();
  const std::size_t rank = type.extents().size();
  if (rank < limits.min_channels_last_rank || rank > limits.max_channels_last_rank) return plain();
  return bits_of(type.element) % 8 != 0 || same_bytes(type, plain(), channels_last()) ? plain() : channels_last();
}

bool has_channels_last(const std::vector<Format>& formats) {
  return std::any_of(formats.begin(), formats.end(), [](const Format& f) { return f.is_channels_last(); });
}

bool stays_plain(const EngineLimits& limits, const Graph& graph, const Region& region) {
  const std::vector<std::size_t> members = region.nodes.members();
  return limits.keeps_plain != nullptr && std::any_of(members.begin(), members.end(), [&](std::size_t n) {
           return limits.keeps_plain(graph, graph.nodes[n]);
         });
}

}  // namespace

std::expected<std::vector<Variant>, Refusal> engine_support(const EngineLimits& limits, const Graph& graph,
                                                            const Region& region) {
  if (auto refusal = judge(limits, graph, region)) return std::unexpected(*std::move(refusal));
  const auto last_formats = [&](const std::vector<ValueId>& ids) {
    std::vector<Format> formats;
    for (const ValueId id : ids) formats.push_back(last_format(limits, graph.value(id).type));
    return formats;
  };
  const std::vector<Format> plain_in(region.inputs.size());
  const std::vector<Format> plain_out(region.outputs.size());
  const std::vector<Format> last_in = last_formats(region.inputs);
  const std::vector<Format> last_out = last_formats(region.outputs);

  std::vector<Variant> variants = {{.name = "default", .input_formats = plain_in, .output_formats = plain_out}};
  if (stays_plain(limits, graph, region)) return variants;
  if (has_channels_last(last_in) || has_channels_last(last_out))
    variants.push_back({.name = "channels_last", .input_formats = last_in, .output_formats = last_out});
  // Beside a long run the conversion of one end counts for nothing.
  const bool is_long = region.nodes.count() > kLongRegion;
  if (limits.mixes_formats && !is_long && has_channels_last(last_in) && has_channels_last(last_out)) {
    variants.push_back({.name = "channels_last_in", .input_formats = last_in, .output_formats = plain_out});
    variants.push_back({.name = "channels_last_out", .input_formats = plain_in, .output_formats = last_out});
  }
  return variants;
}

PartitionRules engine_rules() {
  const std::string unary =
      "Relu|LeakyRelu|PRelu|Elu|Selu|Celu|Sigmoid|HardSigmoid|HardSwish|Swish|Mish|Tanh|Gelu|Erf|Softplus|Softsign|"
      "ThresholdedRelu|Clip|Abs|Neg|Exp|Log|Sqrt|Reciprocal|Floor|Ceil|Round|Not|Cast|com.microsoft::FastGelu|"
      "com.microsoft::QuickGelu";
  const std::string binary = "Add|Sub|Mul|Div|Pow|Min|Max|Sum|Where|Greater|Less|Equal|And|Or";
  const std::string element = unary + "|" + binary;
  const std::string elements = element + "*";
  const std::string conv = "Conv|ConvTranspose|com.microsoft::FusedConv";
  const std::string views = "Reshape|Transpose|Squeeze|Unsqueeze|Flatten*";
  const std::string normal =
      "LayerNormalization|RMSNormalization|InstanceNormalization|GroupNormalization|LpNormalization|"
      "com.microsoft::SkipLayerNormalization|com.microsoft::SimplifiedLayerNormalization";
  const std::string pools = "MaxPool|AveragePool|GlobalAveragePool";
  PartitionRules rules;
  rules.patterns = {
      {"conv", conv + " -> BatchNormalization? -> " + elements},
      {"pad-conv", "Pad -> Conv -> BatchNormalization? -> " + elements},
      {"conv-pool", "Conv -> BatchNormalization? -> " + elements + " -> " + pools + "|ReduceMean"},
      {"conv-conv", "Conv -> " + elements + " -> Conv -> " + elements},
      {"matmul", "MatMul|Gemm|Einsum|com.microsoft::FusedMatMul -> " + elements},
      {"matmul-view", "MatMul|Gemm -> Add? -> " + views},
      {"head", "GlobalAveragePool|ReduceMean -> " + views + " -> MatMul|Gemm -> " + elements + " -> Softmax?"},
      {"mlp", "MatMul|Gemm -> " + elements + " -> MatMul|Gemm -> " + elements},
      {"attention", "MatMul -> " + binary + "* -> Softmax -> MatMul"},
      {"softmax", elements + " -> Softmax|LogSoftmax"},
      {"norm", normal + " -> " + elements},
      {"spelt-out-norm",
       "ReduceMean -> Sub -> Pow|Mul -> ReduceMean -> Add -> Sqrt|Pow|Reciprocal* -> Div|Mul -> Mul? -> Add?"},
      {"batch-norm", "BatchNormalization -> " + elements},
      {"resize", "Resize -> " + elements},
      {"pool", pools + " -> " + elements},
      {"elements", element + " -> " + elements},
      {"quantized", "DequantizeLinear -> Conv|MatMul|Gemm|Add|Mul -> " + elements + " -> QuantizeLinear?"},
      {"integer", "ConvInteger|MatMulInteger -> " + elements},
  };
  rules.growth = Growth::kAny;
  rules.max_splits = 2;
  rules.more = {combine(operators_named({"MatMul", "Gemm", "Conv"}), {GrowParallel{}}, 0)};
  // A dequantiser read by several nodes is part of the integer kernel of each of them.
  rules.repeats = RepeatStyle::kListed;
  rules.repeated = {"DequantizeLinear", "Expand", "Cast"};
  return rules;
}

std::string one_line(std::string_view message) {
  constexpr std::size_t kMost = 300;
  // OpenVINO puts a chain of "Exception from FILE:LINE: " before what happened.
  constexpr std::string_view kChain = "Exception from ";
  while (message.starts_with(kChain)) {
    const std::size_t end = message.find_first_of(" \n", kChain.size());
    if (end == std::string_view::npos) break;
    message.remove_prefix(end + 1);
  }
  std::string line;
  for (const char c : message) {
    const bool is_blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!is_blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.size() > kMost) line = line.substr(0, kMost - 3) + "...";
  return line;
}

std::unexpected<Error> library_failed(const std::string& where, std::string_view message) {
  return fail(ExitCode::kUnsupported, "backend/library-failed", where, one_line(message));
}

}  // namespace collage
