// Seeded random graphs for property tests: every feature of the IR turns up, no operator has to mean anything.
// The graph is called "random_<seed>", so that whatever prints it says how to get it back.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "tests/support/dice.h"

namespace collage {

struct RandomGraphOptions {
  std::size_t max_nodes = 24;
  int max_body_depth = 2;
  bool shuffled_ids = true;   ///< number the values in no particular order
  bool unusual_names = true;  ///< names that text forms must quote
};

/// Makes graphs that verify() accepts.
class RandomGraphs {
 public:
  RandomGraphs(std::uint64_t seed, RandomGraphOptions options) : seed_(seed), options_(options), dice_(seed) {}

  Graph graph() {
    Graph graph = filled({}, {}, 0);
    graph.name = "random_" + std::to_string(seed_);
    return graph;
  }

  Tensor tensor() {
    static const std::vector<ElementType> types = {
        ElementType::kFloat32,   ElementType::kFloat32,    ElementType::kFloat64, ElementType::kFloat16,
        ElementType::kBfloat16,  ElementType::kInt64,      ElementType::kInt32,   ElementType::kUint8,
        ElementType::kInt8,      ElementType::kUint16,     ElementType::kInt16,   ElementType::kUint32,
        ElementType::kUint64,    ElementType::kBool,       ElementType::kInt4,    ElementType::kUint2,
        ElementType::kComplex64, ElementType::kFloat8E5M2, ElementType::kString};
    static const std::vector<Extents> shapes = {{}, {0}, {1}, {3}, {2, 3}, {1, 16}, {17}, {4, 5}, {65}, {2, 0, 3}};
    const ElementType type = dice_.pick(types);
    Tensor tensor{.type = type, .extents = dice_.pick(shapes), .data = {}, .strings = {}};
    if (type == ElementType::kString) {
      for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.strings.push_back(name("s", i));
      return tensor;
    }
    tensor.data = Buffer::make(byte_count(type, tensor.extents), [&](std::span<std::byte> bytes) {
      for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(type == ElementType::kBool ? dice_.below(2) : dice_.below(256));
    });
    return tensor;
  }

  ValueType type() {
    static const std::vector<std::string> types = {"f32[2,3]",
                                                   "f32[1,8,4,4]",
                                                   "i64[]",
                                                   "f16[N,3]",
                                                   "bf16[?,\"batch size\"]",
                                                   "u8[*]",
                                                   "seq(f32[N])",
                                                   "opt(seq(i64[?]))",
                                                   "?",
                                                   "bool[N=4]",
                                                   "str[2]",
                                                   "f32[0]"};
    return *parse_value_type(dice_.pick(types));
  }

 private:
  std::string name(const std::string& stem, std::int64_t i) {
    static const std::vector<std::string> marks = {" ", "/", ":", "%", "\"", "\\", "\n", "\x01", "\xc3\xa9", "x"};
    std::string result = stem;
    if (options_.unusual_names && dice_.one_in(6)) result += dice_.pick(marks);
    return result + std::to_string(i);
  }

  /// A graph; `outer` are the names and types that it may capture.
  Graph filled(const std::vector<std::pair<std::string, ValueType>>& outer, const std::string& prefix, int depth) {
    Graph graph;
    graph.name = prefix;
    if (depth == 0) graph.opsets = {{"", 26}, {"com.microsoft", 1}};
    std::vector<ValueId> known;
    for (std::size_t i = 0; i < 1 + dice_.below(3); ++i) {
      graph.inputs.push_back(add_value(graph, name(prefix + "in", static_cast<std::int64_t>(i)), type()));
      known.push_back(graph.inputs.back());
    }
    for (const auto& [outer_name, outer_type] : outer) {
      if (!dice_.one_in(3)) continue;
      graph.captures.push_back(add_value(graph, outer_name, outer_type));
      known.push_back(graph.captures.back());
    }
    const std::size_t nodes = dice_.below(depth == 0 ? options_.max_nodes + 1 : 4);
    for (std::size_t n = 0; n < nodes; ++n) add_random_node(graph, known, prefix, n, depth);
    for (std::size_t i = 0; i < 1 + dice_.below(3); ++i) graph.outputs.push_back(dice_.pick(known));
    if (options_.shuffled_ids) shuffle_ids(graph);
    return graph;
  }

  void add_random_node(Graph& graph, std::vector<ValueId>& known, const std::string& prefix, std::size_t n, int depth) {
    static const std::vector<std::string> ops = {"Relu", "Add", "Conv", "Split", "Concat", "odd op"};
    static const std::vector<std::string> domains = {"", "", "", "com.microsoft", "my domain"};
    const auto number = static_cast<std::int64_t>(n);
    Node node;
    node.name = name(prefix + "n", number);
    node.op_type = dice_.pick(ops);
    node.domain = dice_.pick(domains);
    if (dice_.one_in(3)) known.push_back(add_constant(graph, name(prefix + "c", number), tensor()));
    for (std::size_t i = 0; i < dice_.below(4); ++i)
      node.inputs.push_back(dice_.one_in(8) ? ValueId{} : dice_.pick(known));
    if (depth < options_.max_body_depth && dice_.one_in(5)) add_bodies(graph, known, node, prefix, number, depth);
    add_attributes(node);
    for (std::size_t i = 0; i < dice_.below(4); ++i)
      node.outputs.push_back(
          dice_.one_in(8) ? ValueId{} : add_value(graph, name(prefix + "v" + std::to_string(i) + "_", number), type()));
    for (const ValueId id : node.outputs)
      if (id.valid()) known.push_back(id);
    add_node(graph, std::move(node));
  }

  void add_bodies(const Graph& graph, const std::vector<ValueId>& known, Node& node, const std::string& prefix,
                  std::int64_t number, int depth) {
    node.op_type = "If";
    std::vector<std::pair<std::string, ValueType>> outer;
    for (const ValueId id : known) outer.emplace_back(graph.value(id).name, graph.value(id).type);
    std::vector<Body> bodies;
    for (const char* branch : {"t", "e"})
      bodies.push_back(Body{
          std::make_shared<const Graph>(filled(outer, prefix + branch + std::to_string(number) + "_", depth + 1))});
    for (const ValueId id : known) {
      bool is_read = false;
      for (const Body& body : bodies)
        for (const ValueId inner : body.graph->captures)
          is_read |= body.graph->value(inner).name == graph.value(id).name;
      if (is_read) node.captures.push_back(id);
    }
    if (dice_.one_in(2)) {
      node.attributes = {{"then_branch", bodies[0]}, {"else_branch", bodies[1]}};
    } else {
      node.attributes = {{"branches", bodies}};
    }
  }

  void add_attributes(Node& node) {
    const auto add = [&](const char* name, AttributeValue value) {
      if (dice_.one_in(8)) node.attributes.push_back({name, std::move(value)});
    };
    const auto some_float = [&] { return static_cast<float>(dice_.below(1000)) / 7.0F - 60.0F; };
    add("alpha", some_float());
    add("whole", 2.0F);
    add("axis", static_cast<std::int64_t>(dice_.next()));
    add("mode", name("text", 1));
    add("value", tensor());
    add("scales", std::vector<float>{some_float(), 0.0F, 1e30F});
    add("pads", std::vector<std::int64_t>{1, -1, 0, 3});
    add("labels", std::vector<std::string>{"a", "", name("b", 2)});
    add("tensors", std::vector<Tensor>{tensor(), tensor()});
    add("no_floats", std::vector<float>{});
    add("no_ints", std::vector<std::int64_t>{});
    add("no_strings", std::vector<std::string>{});
    add("no_tensors", std::vector<Tensor>{});
    add("no_graphs", std::vector<Body>{});
  }

  void shuffle_ids(Graph& graph) {
    std::vector<ValueId> moved(graph.values.size());
    for (std::uint32_t v = 0; v < moved.size(); ++v) moved[v] = ValueId{v};
    for (std::size_t v = moved.size(); v > 1; --v) std::swap(moved[v - 1], moved[dice_.below(v)]);
    std::vector<Value> values(graph.values.size());
    for (std::size_t v = 0; v < values.size(); ++v) values[moved[v].index] = std::move(graph.values[v]);
    graph.values = std::move(values);
    const auto renumber = [&](std::vector<ValueId>& ids) {
      for (ValueId& id : ids)
        if (id.valid()) id = moved[id.index];
    };
    for (auto* ids : {&graph.inputs, &graph.outputs, &graph.captures}) renumber(*ids);
    for (Node& node : graph.nodes)
      for (auto* ids : {&node.inputs, &node.outputs, &node.captures}) renumber(*ids);
  }

  std::uint64_t seed_;
  RandomGraphOptions options_;
  Dice dice_;
};

[[nodiscard]] inline Graph random_graph(std::uint64_t seed, RandomGraphOptions options = {}) {
  return RandomGraphs(seed, options).graph();
}

}  // namespace collage
