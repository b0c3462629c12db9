#include "synthetic.h"

#include <algorithm>
#include <set>

#include "base/hash.h"

namespace collage::bench {
namespace {

const std::string kSteps = "BatchNormalization|Relu|Clip|LeakyRelu|Sigmoid|Add|Mul*";

bool is_elementwise(const Node& node) {
  static const std::set<std::string> kinds = {
      "Relu", "Clip", "LeakyRelu", "Sigmoid",           "Tanh", "Erf", "Add", "Sub", "Mul",
      "Div",  "Pow",  "Sqrt",      "BatchNormalization"};
  return kinds.contains(node.op_type);
}

bool is_heavy(const Node& node) {
  return node.op_type == "Conv" || node.op_type == "MatMul" || node.op_type == "Gemm" ||
         node.op_type == "ConvTranspose";
}

Variant variant(const Region& region, const std::string& name, const Format& format) {
  return {.name = name,
          .input_formats = std::vector<Format>(region.inputs.size(), format),
          .output_formats = std::vector<Format>(region.outputs.size(), format)};
}

std::expected<std::vector<Variant>, Refusal> any(const Region& region) {
  return std::vector{variant(region, "default", plain())};
}

/// What the library runs: one heavy operator and element-wise ones after it, pooling, joins; four dimensions may also
/// be channels_last or blocked.
std::expected<std::vector<Variant>, Refusal> library(const Graph& graph, const Region& region) {
  std::size_t heavy = 0;
  bool is_image = !region.inputs.empty();
  for (const std::size_t n : region.nodes.members()) {
    const Node& node = graph.nodes[n];
    heavy += is_heavy(node);
    const bool joins = node.op_type == "Concat" || node.op_type.ends_with("Pool");
    if (!is_heavy(node) && !is_elementwise(node) && !joins) return std::unexpected(Refusal{});
  }
  for (const auto* list : {&region.inputs, &region.outputs})
    for (const ValueId id : *list) is_image = is_image && can_be_channels_last(graph.value(id).type);
  if (heavy > 1) return std::unexpected(Refusal{});
  std::vector variants = {variant(region, "plain", plain())};
  if (!is_image) return variants;
  variants.push_back(variant(region, "last", channels_last()));
  variants.push_back(variant(region, "blocked", Format{"library:blocked"}));
  return variants;
}

std::expected<std::vector<Variant>, Refusal> compiler(const Graph& graph, const Region& region) {
  for (const std::size_t n : region.nodes.members())
    if (!is_elementwise(graph.nodes[n])) return std::unexpected(Refusal{});
  return any(region);
}

std::int64_t elements(const Graph& graph, ValueId id) {
  return id.valid() && graph.value(id).type.is_static() ? element_count(graph.value(id).type.extents()) : 0;
}

/// Multiply-adds of a node, one per element for the light ones.
double work(const Graph& graph, const Node& node) {
  const auto out = static_cast<double>(elements(graph, node.outputs[0]));
  if (!is_heavy(node)) return out;
  const auto weights = static_cast<double>(elements(graph, input_of(node, 1)));
  const Extents shape = graph.value(node.outputs[0]).type.extents();
  const auto channels = static_cast<double>(node.op_type == "Conv" ? shape[1] : shape.back());
  return out * weights / channels;
}

double jitter(const std::string& text, double spread) {
  const auto bits = static_cast<double>(hash_text(text) % 1000);
  return 1 + spread * (bits / 500 - 1);
}

double speed(const Candidate& candidate) {
  if (candidate.backend == "library") return candidate.variant.name == "plain" ? 0.8 : 1.1;
  if (candidate.backend == "engine_a") return 1.0;
  if (candidate.backend == "engine_b") return 0.95;
  return 0.7;
}

}  // namespace

std::vector<Proposer> proposers(const Graph& graph) {
  const Pattern heavy{"heavy", "Conv|MatMul|Gemm|ConvTranspose -> " + kSteps};
  const Pattern light{"light", "Relu|Add|Mul|BatchNormalization -> " + kSteps};
  PartitionRules engine{.patterns = {heavy}, .growth = Growth::kAny};
  return {{"library", {.patterns = {heavy, light}}, [&graph](const Region& r) { return library(graph, r); }},
          {"compiler", {.growth = Growth::kLikeNative}, [&graph](const Region& r) { return compiler(graph, r); }},
          {"engine_a", engine, [](const Region& r) { return any(r); }},
          {"engine_b", engine, [](const Region& r) { return any(r); }}};
}

std::int64_t cost_ns(const Graph& graph, const Region& region, const Candidate& candidate) {
  constexpr double kWorkPerNs = 40;
  constexpr double kBytesPerNs = 10;
  double ns = 0;
  std::string what = candidate.backend + candidate.variant.name;
  const std::vector<std::size_t> nodes = region.nodes.members();
  for (const std::size_t n : nodes) {
    const Node& node = graph.nodes[n];
    if (nodes.size() <= 8) what += node.op_type + std::to_string(elements(graph, node.outputs[0]));
    ns += work(graph, node) / kWorkPerNs;
  }
  for (const auto* list : {&region.inputs, &region.outputs})
    for (const ValueId id : *list) ns += 4 * static_cast<double>(elements(graph, id)) / kBytesPerNs;
  return 300 + static_cast<std::int64_t>(ns * jitter(what, 0.25) / speed(candidate));
}

std::vector<SearchCandidate> priced(const Graph& graph, const CandidatePool& pool) {
  std::vector<SearchCandidate> candidates;
  candidates.reserve(pool.candidates.size());
  for (const Candidate& candidate : pool.candidates) {
    const Region& region = pool.regions[candidate.region];
    const std::int64_t ns = cost_ns(graph, region, candidate);
    candidates.push_back({.region = &region,
                          .backend = candidate.backend,
                          .variant = candidate.variant,
                          .cost = Measured{ns, ns, ns, 1}});
  }
  return candidates;
}

BoundaryTable boundaries(const Graph& graph) {
  return [&graph](ValueId value, const Place&, const Place&) -> std::optional<BoundaryChoice> {
    const std::int64_t ns = 200 + 8 * elements(graph, value) / 10;
    return BoundaryChoice{.backend = "converter", .cost = Measured{ns, ns, ns, 1}};
  };
}

Graph residual_chain(std::size_t nodes) {
  Graph graph;
  const Buffer zeros = Buffer::make(std::size_t{64} << 20, [](std::span<std::byte>) {});
  std::size_t made = 0;
  const auto emit = [&](const std::string& op, std::vector<ValueId> inputs, const ValueType& type) {
    const ValueId out = add_value(graph, "v" + std::to_string(made++), type);
    add_node(graph, {.name = "",
                     .domain = "",
                     .op_type = op,
                     .inputs = std::move(inputs),
                     .outputs = {out},
                     .captures = {},
                     .attributes = {}});
    return out;
  };
  ValueId x = add_value(graph, "x", ValueType::tensor(ElementType::kFloat32, {1, 64, 28, 28}));
  graph.inputs = {x};
  for (std::int64_t block = 0; made < nodes; ++block) {
    const ValueType inner = ValueType::tensor(ElementType::kFloat32, {1, 16 + block, 28, 28});
    const ValueType outer = graph.value(x).type;
    const auto conv_bn = [&](ValueId from, const Extents& extents, const ValueType& type) {
      const std::size_t bytes = static_cast<std::size_t>(element_count(extents)) * sizeof(float);
      const Tensor tensor{
          .type = ElementType::kFloat32, .extents = extents, .data = zeros.slice(0, bytes), .strings = {}};
      return emit("BatchNormalization", {emit("Conv", {from, add_constant(graph, "", tensor)}, type)}, type);
    };
    const ValueId y = emit("Relu", {conv_bn(x, {16 + block, 64, 1, 1}, inner)}, inner);
    const ValueId z = conv_bn(y, {64, 16 + block, 3, 3}, outer);
    x = emit("Relu", {emit("Add", {z, x}, outer)}, outer);
  }
  graph.outputs = {x};
  return graph;
}

}  // namespace collage::bench
