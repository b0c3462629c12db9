// Analyses products of bytes: what the quantisers around a convolution or product say, and a chain of real numbers
// between its sums and its result.
#include <algorithm>
#include <map>

#include "analysis/heads.h"
#include "library.h"

namespace collage::onednn {
namespace {

using Done = std::expected<void, Refusal>;

bool is_rounded_product(const Node& node) { return is_op(node, "QLinearConv") || is_op(node, "QLinearMatMul"); }

/// What is read so far, and which nodes are left.
struct ByteReader {
  const Graph& graph;
  const Region& region;
  NodeSet left;
  Analysis analysis = {};
  std::map<ValueId, const Node*> dequantisers = {};  ///< by the value that they make
};

void take_dequantisers(ByteReader& reader) {
  for (const std::size_t n : reader.region.nodes.members()) {
    const Node& node = reader.graph.nodes[n];
    if (!is_op(node, "DequantizeLinear")) continue;
    reader.dequantisers[node.outputs[0]] = &node;
    reader.left.erase(n);
  }
}

/// The bytes behind a factor; its dequantiser is used up.
std::expected<Bytes, Refusal> take_bytes(ByteReader& reader, ValueId id) {
  const auto found = reader.dequantisers.find(id);
  if (found == reader.dequantisers.end())
    return refuse(RefusalReason::kStructure, "a product of bytes by real numbers");
  auto bytes = dequantised(reader.graph, *found->second);
  reader.dequantisers.erase(found);
  return bytes;
}

std::expected<std::vector<double>, Refusal> take_bias(ByteReader& reader, ValueId id) {
  const auto found = reader.dequantisers.find(id);
  if (found == reader.dequantisers.end()) return bias_of(reader.graph, id);
  const Node& node = *found->second;
  reader.dequantisers.erase(found);
  const Tensor* scale = constant_of(reader.graph, node.inputs[1]);
  const auto scales = scale != nullptr ? floats_of(*scale) : std::nullopt;
  if (!scales || input_of(node, 2).valid()) return refuse(RefusalReason::kStructure, "a bias with a zero point");
  return bias_of(reader.graph, node.inputs[0], *scales);
}

/// Conv, MatMul and Gemm of what dequantisers make.
Done read_wrapped(ByteReader& reader, const Node& node, ByteFacts& facts) {
  const auto source = take_bytes(reader, node.inputs[0]);
  if (!source) return std::unexpected(source.error());
  const auto weights = take_bytes(reader, node.inputs[1]);
  if (!weights) return std::unexpected(weights.error());
  facts.source = *source;
  facts.weights = *weights;
  const bool is_gemm = is_op(node, "Gemm");
  if (is_gemm && (attribute_or<float>(node, "alpha", 1.F) != 1.F || attribute_or<float>(node, "beta", 1.F) != 1.F))
    return refuse(RefusalReason::kAttribute, "factors of Gemm");
  if (const ValueId id = input_of(node, 2); id.valid()) {
    auto bias = take_bias(reader, id);
    if (!bias) return std::unexpected(bias.error());
    facts.bias = *std::move(bias);
  }
  if (!reader.dequantisers.empty())
    return refuse(RefusalReason::kStructure, "a dequantiser that the product does not read");
  return {};
}

/// QLinearConv and QLinearMatMul.
Done read_rounded(ByteReader& reader, const Node& node, ByteFacts& facts) {
  const Graph& graph = reader.graph;
  const std::int64_t axis = is_op(node, "QLinearConv") ? 0 : std::ssize(extents_of(graph, node.inputs[3])) - 1;
  const auto source = bytes_of(graph, node.inputs[0], node.inputs[1], node.inputs[2]);
  const auto weights = bytes_of(graph, node.inputs[3], node.inputs[4], node.inputs[5], axis);
  const auto result = bytes_of(graph, node.outputs[0], node.inputs[6], node.inputs[7]);
  for (const auto* one : {&source, &weights, &result})
    if (!*one) return std::unexpected(one->error());
  facts = {.source = *source, .weights = *weights, .result = *result, .bias = {}};
  const ValueId id = input_of(node, 8);
  if (!id.valid()) return {};
  std::vector<double> scales;
  for (const float scale : weights->scales)
    scales.push_back(static_cast<double>(scale) * static_cast<double>(source->scales[0]));
  auto bias = bias_of(graph, id, scales);
  if (!bias) return std::unexpected(bias.error());
  facts.bias = *std::move(bias);
  return {};
}

/// The geometry, read from a node of real numbers in the place of this one.
Done read_geometry(ByteReader& reader, const Node& node, const ByteFacts& facts) {
  Analysis& analysis = reader.analysis;
  Node real = node;
  real.inputs = {facts.source.id, facts.weights.id};
  real.op_type = is_rounded_product(node) ? node.op_type.substr(std::string_view("QLinear").size()) : node.op_type;
  analysis.source = facts.source.id;
  if (real.op_type == "Conv") {
    ConvolutionHead head;
    if (auto ok = read_convolution(reader.graph, real, facts.source.id, {}, head.facts); !ok) return ok;
    analysis.head = std::move(head);
    return {};
  }
  MatMulFacts product;
  analysis.node = &real;
  const Done done = read_matmul(reader.graph, analysis, product);
  analysis.node = nullptr;
  analysis.head = std::move(product);
  return done;
}

std::int64_t outputs_of(const Graph& graph, const Node& node) {
  const Extents result = extents_of(graph, node.outputs[0]);
  return node.op_type.ends_with("Conv") ? result[1] : result.back();
}

/// What the library multiplies: weights of i8, one scale for each output at most, a zero point only of computed
/// factors.
Done check_numbers(const Graph& graph, const Node& node, ByteFacts& facts) {
  if (!facts.source.has_one_scale()) return refuse(RefusalReason::kStructure, "scales of rows or channels");
  const bool is_convolution = node.op_type.ends_with("Conv");
  const bool outputs_first =
      is_convolution || (is_op(node, "Gemm") && attribute_or<std::int64_t>(node, "transB", 0) != 0);
  const std::int64_t axis = outputs_first ? 0 : std::ssize(extents_of(graph, facts.weights.id)) - 1;
  if (!facts.weights.has_one_scale() && facts.weights.axis != axis)
    return refuse(RefusalReason::kAttribute, "scales along another axis than the outputs");
  constexpr std::int64_t kHalf = 128;
  const bool is_fixed = is_constant(graph, facts.weights.id);
  if (facts.weights.type == ElementType::kUint8) {
    if (!is_fixed) return refuse(RefusalReason::kType, "a computed second factor of u8");
    facts.weights.zero -= kHalf;
  }
  if (is_convolution && facts.weights.zero != 0) return refuse(RefusalReason::kAttribute, "weights with a zero point");
  const std::int64_t outputs = outputs_of(graph, node);
  if (facts.bias.size() == 1) facts.bias.assign(static_cast<std::size_t>(outputs), facts.bias[0]);
  if (!facts.bias.empty() && std::ssize(facts.bias) != outputs)
    return refuse(RefusalReason::kShape, "a bias of other than each output");
  return {};
}

Done read_quantiser(ByteReader& reader, ByteFacts& facts) {
  const std::size_t n = reader.left.next();
  if (n >= reader.left.universe()) return {};
  const Node& node = reader.graph.nodes[n];
  if (!is_op(node, "QuantizeLinear") || node.inputs[0] != reader.analysis.chain.result)
    return refuse(RefusalReason::kStructure, "no chain of operators");
  auto result = quantised(reader.graph, node);
  if (!result) return std::unexpected(result.error());
  facts.result = *std::move(result);
  reader.analysis.chain.result = node.outputs[0];
  reader.left.erase(n);
  if (!reader.left.empty()) return refuse(RefusalReason::kStructure, "work behind the quantiser");
  return {};
}

/// The chain reads real numbers; a quantiser is no step of it.
Done read_rest(ByteReader& reader, ByteFacts& facts) {
  if (facts.result) {
    if (!reader.left.empty()) return refuse(RefusalReason::kStructure, "work behind " + reader.analysis.node->op_type);
    return {};
  }
  NodeSet quantisers(reader.left.universe());
  for (const std::size_t n : reader.left.members())
    if (is_op(reader.graph.nodes[n], "QuantizeLinear")) {
      quantisers.insert(n);
      reader.left.erase(n);
    }
  auto chain = read_chain(reader.graph, reader.region, reader.analysis.head_result, reader.left);
  if (!chain) return std::unexpected(chain.error());
  if (!reader.left.empty()) return refuse(RefusalReason::kStructure, "no chain of operators");
  reader.analysis.chain = *std::move(chain);
  reader.left = std::move(quantisers);
  return read_quantiser(reader, facts);
}

Done check_types(const Graph& graph, const Region& region) {
  const auto check = [&](ValueId id) -> Done {
    const ValueType& type = graph.value(id).type;
    if (!type.is_static() || element_count(type.extents()) == 0 || type.extents().size() > 6)
      return refuse(RefusalReason::kShape, to_string(type));
    if (type.element != ElementType::kFloat32 && !is_byte(type.element))
      return refuse(RefusalReason::kType, to_string(type));
    return {};
  };
  for (const ValueId id : region.inputs)
    if (auto ok = check(id); !ok) return ok;
  for (const ValueId id : region.outputs)
    if (auto ok = check(id); !ok) return ok;
  return {};
}

}  // namespace

bool has_bytes(const Graph& graph, const Region& region) {
  return std::ranges::any_of(region.nodes.members(), [&](std::size_t n) {
    const Node& node = graph.nodes[n];
    return is_op(node, "DequantizeLinear") || is_op(node, "QuantizeLinear") || is_rounded_product(node);
  });
}

std::expected<Analysis, Refusal> analyse_bytes(const Graph& graph, const Region& region) {
  if (!kIsVersion3) return refuse(RefusalReason::kOperator, "products of bytes");
  if (auto ok = check_types(graph, region); !ok) return std::unexpected(ok.error());
  ByteReader reader{.graph = graph, .region = region, .left = region.nodes};
  take_dequantisers(reader);
  const std::size_t n = reader.left.next();
  if (n >= reader.left.universe()) return refuse(RefusalReason::kOperator, "a quantiser of its own");
  const Node& node = graph.nodes[n];
  const bool is_product = is_op(node, "Conv") || is_op(node, "MatMul") || is_op(node, "Gemm");
  if (!is_product && !is_rounded_product(node)) return refuse(RefusalReason::kOperator, node.op_type);
  reader.left.erase(n);
  ByteFacts facts;
  if (auto ok = is_product ? read_wrapped(reader, node, facts) : read_rounded(reader, node, facts); !ok)
    return std::unexpected(ok.error());
  if (auto ok = check_numbers(graph, node, facts); !ok) return std::unexpected(ok.error());
  if (auto ok = read_geometry(reader, node, facts); !ok) return std::unexpected(ok.error());
  reader.analysis.node = &node;
  reader.analysis.head_result = node.outputs[0];
  reader.analysis.chain.result = node.outputs[0];
  if (auto ok = read_rest(reader, facts); !ok) return std::unexpected(ok.error());
  if (reader.analysis.chain.result != region.outputs[0])
    return refuse(RefusalReason::kStructure, "an inner value is needed outside");
  reader.analysis.bytes = std::move(facts);
  return std::move(reader.analysis);
}

}  // namespace collage::onednn
