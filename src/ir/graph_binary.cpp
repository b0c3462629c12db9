#include "ir/graph_binary.h"

#include <utility>
#include <variant>

#include "ir/tensor.h"

namespace collage {
namespace {

constexpr int kMostDepth = 100;

std::unexpected<Error> not_a_graph(std::string saw) {
  return fail(ExitCode::kBug, "ir/not-a-graph", "graph", std::move(saw), "what graph_to_binary() writes");
}

/// Whether elements and bytes of a tensor can be counted in 64 bits.
bool has_size(const Extents& extents) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 56;
  std::int64_t elements = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 0 || (extent > 0 && elements > kMostElements / extent)) return false;
    if (extent > 0) elements *= extent;
  }
  return true;
}

class GraphWriter {
 public:
  explicit GraphWriter(const KeepBytes& keep) : keep_(keep) {}

  Result<std::string> run(const Graph& graph) {
    COLLAGE_TRY_VOID(add(graph));
    return out_.take();
  }

 private:
  template <class T>
  void put(T value) {
    out_.write(value);
  }
  void add(const Dim& dim) {
    put(dim.extent);
    put(dim.symbol);
  }
  void add(const ValueType& type) {
    put(type.kind);
    put(type.element);
    put(type.shape.has_value());
    if (type.shape) add_all(*type.shape);
    add_all(type.inner);
  }
  Result<void> add(const Tensor& tensor) {
    put(tensor.type);
    put(tensor.extents);
    put(tensor.strings);
    COLLAGE_TRY(const BytePlace place, keep_(tensor.data));
    put(place);
    put(tensor.container.has_value());
    if (tensor.container) add(*tensor.container);
    return try_all(tensor.items);
  }
  Result<void> add(const Body& body) { return add(*body.graph); }
  void add(ValueId id) { put(id.index); }

  template <class T>
  void add_all(const std::vector<T>& list) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const T& item : list) add(item);
  }
  template <class T>
  Result<void> try_all(const std::vector<T>& list) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const T& item : list) COLLAGE_TRY_VOID(add(item));
    return {};
  }

  Result<void> add(const Attribute& attribute) {
    put(attribute.name);
    put(static_cast<std::uint32_t>(attribute.value.index()));
    return std::visit([this](const auto& value) { return add_value(value); }, attribute.value);
  }
  template <class T>
  Result<void> add_value(const T& value) {
    if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Body>) {
      return add(value);
    } else if constexpr (std::is_same_v<T, std::vector<Tensor>> || std::is_same_v<T, std::vector<Body>>) {
      return try_all(value);
    } else {
      put(value);
      return {};
    }
  }

  Result<void> add(const Node& node) {
    put(node.name);
    put(node.domain);
    put(node.op_type);
    add_all(node.inputs);
    add_all(node.outputs);
    add_all(node.captures);
    return try_all(node.attributes);
  }
  Result<void> add(const Value& value) {
    put(value.name);
    add(value.type);
    put(value.constant.has_value());
    return value.constant ? add(*value.constant) : Result<void>();
  }
  Result<void> add(const Graph& graph) {
    put(graph.name);
    put(graph.opsets);
    COLLAGE_TRY_VOID(try_all(graph.values));
    COLLAGE_TRY_VOID(try_all(graph.nodes));
    add_all(graph.inputs);
    add_all(graph.outputs);
    add_all(graph.captures);
    return {};
  }

  const KeepBytes& keep_;
  BinaryWriter out_;
};

class GraphReader {
 public:
  GraphReader(std::string_view bytes, const FindBytes& find) : in_(bytes), find_(find) {}

  Result<Graph> run() {
    Graph graph;
    COLLAGE_TRY_VOID(get(graph));
    if (!in_.is_good()) return not_a_graph("bytes behind its end");
    return graph;
  }

 private:
  template <class T>
  T take() {
    T value{};
    in_.read(value);
    return value;
  }
  /// Whether to go on: nothing was missing so far, and what is read now is not too deep in what it is part of.
  Result<void> check() const {
    if (!in_.has_all()) return not_a_graph("an end before its time");
    if (depth_ > kMostDepth) return not_a_graph("more than 100 levels");
    return {};
  }
  /// Lists grow as their items are found: a number alone reserves nothing.
  template <class T>
  Result<void> get_all(std::vector<T>& list) {
    for (auto left = take<std::uint32_t>(); left > 0; --left) {
      COLLAGE_TRY_VOID(get(list.emplace_back()));
      COLLAGE_TRY_VOID(check());
    }
    return {};
  }

  Result<void> get(ValueId& id) {
    id.index = take<std::uint32_t>();
    return {};
  }
  Result<void> get(Dim& dim) {
    in_.read(dim.extent);
    in_.read(dim.symbol);
    return {};
  }
  Result<void> get(ValueType& type) {
    ++depth_;
    COLLAGE_TRY_VOID(check());
    const auto kind = take<std::uint8_t>();
    const auto element = take<std::uint8_t>();
    if (kind > static_cast<std::uint8_t>(ValueKind::kMap) || element > static_cast<std::uint8_t>(ElementType::kInt2))
      return not_a_graph("a type that is none");
    type.kind = static_cast<ValueKind>(kind);
    type.element = static_cast<ElementType>(element);
    if (take<std::uint8_t>() != 0) COLLAGE_TRY_VOID(get_all(type.shape.emplace()));
    COLLAGE_TRY_VOID(get_all(type.inner));
    const bool has_inner = type.kind != ValueKind::kTensor && type.kind != ValueKind::kUnknown;
    if (type.inner.size() != (has_inner ? 1U : 0U)) return not_a_graph("a type of another form");
    --depth_;
    return {};
  }
  Result<void> get(Tensor& tensor) {
    const auto element = take<std::uint8_t>();
    in_.read(tensor.extents);
    in_.read(tensor.strings);
    const auto place = take<BytePlace>();
    COLLAGE_TRY_VOID(check());
    if (element > static_cast<std::uint8_t>(ElementType::kInt2)) return not_a_graph("an element type that is none");
    tensor.type = static_cast<ElementType>(element);
    if (!has_size(tensor.extents)) return not_a_graph("a tensor without a size");
    const bool has_bytes = tensor.type != ElementType::kString;
    const std::int64_t texts = has_bytes ? 0 : element_count(tensor.extents);
    if (std::ssize(tensor.strings) != texts) return not_a_graph("a tensor with another number of texts");
    if (place.bytes != (has_bytes ? byte_count(tensor.type, tensor.extents) : 0))
      return not_a_graph("a tensor of another size");
    if (place.bytes > 0) {
      COLLAGE_TRY(tensor.data, find_(place));
    }
    if (tensor.data.size() != place.bytes) return not_a_graph("a tensor without its bytes");
    ++depth_;
    if (take<std::uint8_t>() != 0) COLLAGE_TRY_VOID(get(tensor.container.emplace()));
    COLLAGE_TRY_VOID(get_all(tensor.items));
    --depth_;
    return {};
  }
  Result<void> get(Body& body) {
    auto graph = std::make_shared<Graph>();
    ++depth_;
    COLLAGE_TRY_VOID(get(*graph));
    --depth_;
    body.graph = std::move(graph);
    return {};
  }

  template <std::size_t... I>
  Result<void> get_value(AttributeValue& value, std::size_t index, std::index_sequence<I...>) {
    Result<void> result = not_a_graph("an attribute of no kind");
    ((index == I && (result = get_alternative(value.template emplace<I>()), true)) || ...);
    return result;
  }
  template <class T>
  Result<void> get_alternative(T& value) {
    if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Body>) {
      return get(value);
    } else if constexpr (std::is_same_v<T, std::vector<Tensor>> || std::is_same_v<T, std::vector<Body>>) {
      return get_all(value);
    } else {
      in_.read(value);
      return {};
    }
  }
  Result<void> get(Attribute& attribute) {
    in_.read(attribute.name);
    const auto index = take<std::uint32_t>();
    COLLAGE_TRY_VOID(check());
    return get_value(attribute.value, index, std::make_index_sequence<std::variant_size_v<AttributeValue>>());
  }

  Result<void> get(Node& node) {
    in_.read(node.name);
    in_.read(node.domain);
    in_.read(node.op_type);
    COLLAGE_TRY_VOID(get_all(node.inputs));
    COLLAGE_TRY_VOID(get_all(node.outputs));
    COLLAGE_TRY_VOID(get_all(node.captures));
    return get_all(node.attributes);
  }
  Result<void> get(Value& value) {
    in_.read(value.name);
    COLLAGE_TRY_VOID(get(value.type));
    return take<std::uint8_t>() != 0 ? get(value.constant.emplace()) : Result<void>();
  }
  Result<void> get(Graph& graph) {
    COLLAGE_TRY_VOID(check());
    in_.read(graph.name);
    in_.read(graph.opsets);
    COLLAGE_TRY_VOID(get_all(graph.values));
    COLLAGE_TRY_VOID(get_all(graph.nodes));
    COLLAGE_TRY_VOID(get_all(graph.inputs));
    COLLAGE_TRY_VOID(get_all(graph.outputs));
    COLLAGE_TRY_VOID(get_all(graph.captures));
    return check();
  }

  BinaryReader in_;
  const FindBytes& find_;
  int depth_ = 0;
};

}  // namespace

Result<std::string> graph_to_binary(const Graph& graph, const KeepBytes& keep) { return GraphWriter(keep).run(graph); }

Result<Graph> graph_from_binary(std::string_view bytes, const FindBytes& find) {
  COLLAGE_TRY(Graph graph, GraphReader(bytes, find).run());
  COLLAGE_TRY_VOID(verify(graph));
  return graph;
}

}  // namespace collage
