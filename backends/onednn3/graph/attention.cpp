#include "backends/onednn3/graph/attention.h"

#include <algorithm>

#include "layout.h"
#include "library.h"

#include "base/json.h"
#include "base/json_numbers.h"

namespace collage::onednn {
namespace {

using nlohmann::json;
using Order = std::vector<std::int64_t>;

constexpr const char* kSchema = "onednn-attention/1";

std::unexpected<Refusal> not_fused(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

/// Reads the nodes of a region backwards from its result.
class AttentionReader {
 public:
  AttentionReader(const Graph& graph, const Region& region) : graph_(graph), region_(region) {}

  /// The node of the region that makes a value and that nothing else reads; counted. Null when it has another operator.
  const Node* take(ValueId id, std::string_view op_type) {
    const Node* maker = maker_of(id);
    if (maker == nullptr || !is_op(*maker, op_type)) return nullptr;
    ++taken_;
    return maker;
  }
  [[nodiscard]] bool has_taken_all() const { return taken_ == region_.nodes.count(); }

  /// The value with a Transpose in front folded into its strides.
  std::expected<Seen, Refusal> seen(ValueId id) {
    Order order = {0, 1, 2, 3};
    if (const Node* transpose = take(id, "Transpose")) {
      order = attribute_or<Order>(*transpose, "perm", {3, 2, 1, 0});
      id = transpose->inputs[0];
    }
    const auto port = std::ranges::find(region_.inputs, id) - region_.inputs.begin();
    const Extents own = graph_.value(id).type.extents();
    if (port == std::ssize(region_.inputs) || own.size() != 4)
      return not_fused(RefusalReason::kStructure, "a factor that is no input of four axes");
    Seen seen{.index = static_cast<std::uint32_t>(port)};
    const Extents strides = row_major_strides(own);
    for (const std::int64_t axis : order) {
      seen.extents.push_back(own[static_cast<std::size_t>(axis)]);
      seen.strides.push_back(strides[static_cast<std::size_t>(axis)]);
    }
    return seen;
  }

  /// An addend of up to four axes.
  std::expected<Seen, Refusal> mask(ValueId id, std::vector<ValueId>& constants) {
    Seen seen;
    if (graph_.value(id).constant) {
      seen.is_constant = true;
      constants = {id};
    } else {
      const auto port = std::ranges::find(region_.inputs, id) - region_.inputs.begin();
      if (port == std::ssize(region_.inputs))
        return not_fused(RefusalReason::kStructure, "a mask that is computed here");
      seen.index = static_cast<std::uint32_t>(port);
    }
    const Extents own = graph_.value(id).type.extents();
    if (own.size() > 4) return not_fused(RefusalReason::kShape, "a mask of more axes");
    seen.extents = Extents(4 - own.size(), 1);
    seen.extents.insert(seen.extents.end(), own.begin(), own.end());
    seen.strides = row_major_strides(seen.extents);
    return seen;
  }

 private:
  const Node* maker_of(ValueId id) const {
    const Node* maker = nullptr;
    std::size_t readers = 0;
    for (const std::size_t n : region_.nodes.members()) {
      const Node& node = graph_.nodes[n];
      if (!node.outputs.empty() && node.outputs[0] == id) maker = &node;
      readers += static_cast<std::size_t>(std::ranges::count(node.inputs, id));
    }
    const bool is_result = std::ranges::find(region_.outputs, id) != region_.outputs.end();
    return maker != nullptr && (is_result ? readers == 0 : readers == 1) ? maker : nullptr;
  }

  const Graph& graph_;
  const Region& region_;
  std::size_t taken_ = 0;
};

std::optional<float> number_of(const Graph& graph, ValueId id) {
  const Tensor* tensor = constant_of(graph, id);
  if (tensor == nullptr || tensor->type != ElementType::kFloat32 || tensor->size() != 1) return std::nullopt;
  return tensor->data.as<float>()[0];
}

/// A Mul or Div by one number, in either order for Mul; the value that is scaled.
std::optional<ValueId> take_scale(const Graph& graph, AttentionReader& reader, ValueId id, float& scale) {
  if (const Node* node = reader.take(id, "Div")) {
    const auto number = number_of(graph, node->inputs[1]);
    if (!number || *number == 0.F) return std::nullopt;
    scale = 1.F / *number;
    return node->inputs[0];
  }
  if (const Node* node = reader.take(id, "Mul"))
    for (const std::size_t side : {0U, 1U})
      if (const auto number = number_of(graph, node->inputs[side])) {
        scale = *number;
        return node->inputs[1 - side];
      }
  return std::nullopt;
}

std::expected<void, Refusal> check_attention_types(const Graph& graph, const Region& region) {
  if (region.outputs.size() != 1) return not_fused(RefusalReason::kStructure, "more than one output");
  for (const std::size_t n : region.nodes.members())
    for (const ValueId id : graph.nodes[n].outputs) {
      if (!id.valid()) continue;
      const ValueType& type = graph.value(id).type;
      if (!type.is_static() || element_count(type.extents()) == 0)
        return not_fused(RefusalReason::kShape, to_string(type));
      if (type.element != ElementType::kFloat32) return not_fused(RefusalReason::kType, to_string(type));
    }
  for (const ValueId id : region.inputs) {
    const ValueType& type = graph.value(id).type;
    if (!type.is_static() || type.element != ElementType::kFloat32)
      return not_fused(RefusalReason::kType, to_string(type));
  }
  return {};
}

bool is_broadcast(const Extents& own, const Extents& to) {
  for (std::size_t axis = 0; axis < to.size(); ++axis)
    if (own[axis] != 1 && own[axis] != to[axis]) return false;
  return true;
}

/// Of a tensor, so that the library's counts of bytes do not overflow; and of what it makes between its operations.
constexpr std::int64_t kMostElements = std::int64_t{1} << 32;

/// Whether it has four axes, and its strides lead nowhere outside of as many elements as it has.
bool stays_inside(const Seen& seen) {
  if (seen.extents.size() != 4 || seen.strides.size() != 4) return false;
  if (std::ranges::any_of(seen.extents, [](std::int64_t extent) { return extent < 1; })) return false;
  const std::int64_t elements = element_count(seen.extents);
  if (elements > kMostElements) return false;
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    std::int64_t far = 0;
    if (seen.strides[axis] < 1 || seen.strides[axis] > elements ||
        __builtin_mul_overflow(seen.extents[axis] - 1, seen.strides[axis], &far) || far >= elements)
      return false;
    last += far;
  }
  return last < elements;
}

/// Whether the extents go together; the library does not look at all of them.
bool is_consistent(const Attention& attention) {
  for (const Seen* seen : {&attention.q, &attention.k, &attention.v, &attention.mask})
    if (!stays_inside(*seen)) return false;
  const Extents &q = attention.q.extents, &k = attention.k.extents, &v = attention.v.extents;
  const Extents sums = {q[0], q[1], q[2], k[3]};
  return q[0] == k[0] && q[1] == k[1] && q[3] == k[2] && k[0] == v[0] && k[1] == v[1] && k[3] == v[2] &&
         is_broadcast(attention.mask.extents, sums) && element_count(sums) <= kMostElements;
}

json json_of(const Seen& seen) {
  return {{"index", seen.index}, {"constant", seen.is_constant}, {"extents", seen.extents}, {"strides", seen.strides}};
}

Seen seen_of(const json& object) {
  return {.index = object.at("index"),
          .is_constant = object.at("constant"),
          .extents = object.at("extents").get<Extents>(),
          .strides = object.at("strides").get<Extents>()};
}

}  // namespace

std::expected<ReadAttention, Refusal> read_attention(const Graph& graph, const Region& region) {
  constexpr std::size_t kFewestNodes = 6;
  if (region.nodes.count() < kFewestNodes) return not_fused(RefusalReason::kStructure, "no attention");
  if (auto ok = check_attention_types(graph, region); !ok) return std::unexpected(ok.error());
  const auto other = [] { return not_fused(RefusalReason::kStructure, "no attention"); };
  AttentionReader reader(graph, region);
  const Node* last = reader.take(region.outputs[0], "Transpose");
  if (last == nullptr || attribute_or<Order>(*last, "perm", {}) != Order{0, 2, 1, 3}) return other();
  const Node* second = reader.take(last->inputs[0], "MatMul");
  if (second == nullptr) return other();
  const Node* softmax = reader.take(second->inputs[0], "Softmax");
  const auto axis = softmax != nullptr ? attribute_or<std::int64_t>(*softmax, "axis", -1) : 0;
  if (softmax == nullptr || (axis != -1 && axis != 3)) return other();
  const Node* add = reader.take(softmax->inputs[0], "Add");
  if (add == nullptr) return other();
  ReadAttention read;
  for (const std::size_t side : {0U, 1U}) {
    const auto scaled = take_scale(graph, reader, add->inputs[side], read.attention.scale);
    if (!scaled) continue;
    const Node* first = reader.take(*scaled, "MatMul");
    if (first == nullptr) return other();
    const auto q = reader.seen(first->inputs[0]);
    const auto k = reader.seen(first->inputs[1]);
    const auto v = reader.seen(second->inputs[1]);
    const auto mask = reader.mask(add->inputs[1 - side], read.constants);
    for (const auto* one : {&q, &k, &v, &mask})
      if (!*one) return std::unexpected(one->error());
    read.attention.q = *q;
    read.attention.k = *k;
    read.attention.v = *v;
    read.attention.mask = *mask;
    if (!reader.has_taken_all() || !is_consistent(read.attention)) return other();
    return read;
  }
  return other();
}

std::string to_json(const Attention& attention) {
  return json{{"schema", kSchema},
              {"threads", attention.threads},
              {"scale", attention.scale},
              {"q", json_of(attention.q)},
              {"k", json_of(attention.k)},
              {"v", json_of(attention.v)},
              {"mask", json_of(attention.mask)}}
      .dump();
}

bool is_attention(std::string_view artifact) { return artifact.find(kSchema) != artifact.npos; }

Result<Attention> parse_attention(std::string_view artifact) {
  const auto bad = [](std::string what) {
    return fail(ExitCode::kBadInput, "backend/bad-artifact", kBackendKind, std::move(what),
                "an artifact of this backend");
  };
  try {
    const json object = parsed_json(artifact);
    if (object.at("schema") != kSchema) return bad("unknown schema");
    Attention attention{.q = seen_of(object.at("q")),
                        .k = seen_of(object.at("k")),
                        .v = seen_of(object.at("v")),
                        .mask = seen_of(object.at("mask")),
                        .scale = object.at("scale"),
                        .threads = object.at("threads")};
    if (!is_consistent(attention)) return bad("extents that do not go together");
    return attention;
  } catch (const std::exception& exception) {
    return bad(exception.what());
  }
}

}  // namespace collage::onednn
