// Computes the structure key of a region: equal for regions that compute the same on the same shapes, in any graph.
// In:  a region. Out: a hash of its canonical text, in which values and dimension symbols are numbered in the order of
//       first use. Types of values inside the region are left out, because they follow from the rest.
#include <functional>
#include <set>

#include "base/hash.h"
#include "ir/text_names.h"
#include "ir/text_print.h"
#include "region/region.h"

namespace collage {
namespace {

NodeSet all_nodes(const Graph& graph) {
  NodeSet nodes(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) nodes.insert(n);
  return nodes;
}

/// Of tensors in attributes; larger ones are weights.
constexpr std::int64_t kMaxContents = kMaxStructuralElements;

/// Numbers symbols of dimensions; shared by a region and its bodies, which speak of the same dimensions.
class SymbolNumbers {
 public:
  std::string type_text(ValueType type) {
    rename(type);
    return to_string(type);
  }

 private:
  void rename(ValueType& type) {
    if (type.shape)
      for (Dim& dim : *type.shape) rename(dim);
    for (ValueType& inner : type.inner) rename(inner);
  }

  void rename(Dim& dim) {
    if (dim.is_static())
      dim.symbol.clear();
    else if (!dim.symbol.empty())
      dim.symbol = "d" + std::to_string(numbers_.emplace(dim.symbol, numbers_.size()).first->second);
  }

  std::map<std::string, std::size_t> numbers_;
};

std::string tensor_text(const Tensor& tensor) {
  return tensor.size() > kMaxContents ? to_string(tensor.value_type()) : to_text(tensor, kMaxContents);
}

/// Writes the nodes of one graph with values numbered by first mention.
class Writer {
 public:
  Writer(const Graph& graph, const NodeSet& nodes, SymbolNumbers& symbols, std::string& text)
      : graph_(graph),
        symbols_(symbols),
        text_(text),
        numbers_(graph.values.size(), -1),
        is_structural_(structural_constants(graph, nodes)) {}

  void declare(std::string_view what, const std::vector<ValueId>& ids) {
    for (const ValueId id : ids) {
      text_ += what;
      text_ += ' ' + number(id) + ':' + symbols_.type_text(graph_.value(id).type) + '\n';
    }
  }

  void node(const Node& node) {
    constants(node.inputs);
    constants(node.captures);
    list(node.outputs);
    text_ += '=' + operator_text(node);
    list(node.inputs);
    text_ += "captures";
    list(node.captures);
    for (const Attribute& attribute : node.attributes) {
      text_ += name_text(attribute.name) + '=';
      std::visit([&](const auto& value) { print(node, value); }, attribute.value);
      text_ += ';';
    }
    text_ += '\n';
  }

  /// A body: `outer` numbers the captured values in the graph around it.
  void body(const std::function<std::string(const std::string&)>& outer) {
    for (const ValueId id : graph_.outputs) is_structural_[id.index] = true;
    declare("in", graph_.inputs);
    for (const ValueId id : graph_.captures)
      text_ += "capture " + number(id) + '=' + outer(graph_.value(id).name) + '\n';
    for (const Node& each : graph_.nodes) node(each);
    constants(graph_.outputs);
    declare("out", graph_.outputs);
  }

 private:
  std::string number(ValueId id) {
    if (!id.valid()) return "_";
    std::int64_t& number = numbers_[id.index];
    if (number < 0) number = next_++;
    return std::to_string(number);
  }

  void list(const std::vector<ValueId>& ids) {
    text_ += '(';
    for (const ValueId id : ids) text_ += number(id) + ',';
    text_ += ')';
  }

  /// States constants where they are first read.
  void constants(const std::vector<ValueId>& ids) {
    for (const ValueId id : ids)
      if (const Tensor* tensor = constant_of(graph_, id); tensor != nullptr && numbers_[id.index] < 0)
        text_ += "const " + number(id) + '=' +
                 (is_structural_[id.index] ? tensor_text(*tensor) : to_string(tensor->value_type())) + '\n';
  }

  void print(const Node&, float value) { text_ += float_text(value); }
  void print(const Node&, std::int64_t value) { text_ += std::to_string(value); }
  void print(const Node&, const std::string& value) { text_ += quoted(value); }
  void print(const Node&, const Tensor& value) { text_ += tensor_text(value); }

  void print(const Node& node, const Body& value) {
    if (!value.graph) return;
    text_ += "{\n";
    Writer(*value.graph, all_nodes(*value.graph), symbols_, text_).body([&](const std::string& name) {
      for (const ValueId id : node.captures)
        if (graph_.value(id).name == name) return number(id);
      return std::string("?");
    });
    text_ += '}';
  }

  template <class T>
  void print(const Node& node, const std::vector<T>& values) {
    text_ += '[';
    for (const T& value : values) {
      print(node, value);
      text_ += ',';
    }
    text_ += ']';
  }

  const Graph& graph_;
  SymbolNumbers& symbols_;
  std::string& text_;
  std::vector<std::int64_t> numbers_;
  std::vector<bool> is_structural_;  ///< by value
  std::int64_t next_ = 0;
};

void collect_domains(const Node& node, std::set<std::string>& domains) {
  domains.insert(node.domain);
  for (const Graph* body : bodies_of(node))
    for (const Node& inner : body->nodes) collect_domains(inner, domains);
}

/// Versions of the operator sets in use; the others cannot change what the region means.
std::string opsets_text(const Graph& graph, const NodeSet& nodes) {
  std::set<std::string> domains;
  for (const std::size_t n : nodes.members()) collect_domains(graph.nodes[n], domains);
  std::string text;
  for (const std::string& domain : domains)
    if (const auto found = graph.opsets.find(domain); found != graph.opsets.end())
      text += "opset " + quoted(domain) + ' ' + std::to_string(found->second) + '\n';
  return text;
}

}  // namespace

std::string structure_key(const Graph& graph, const Region& region) {
  std::string text = opsets_text(graph, region.nodes);
  SymbolNumbers symbols;
  Writer writer(graph, region.nodes, symbols, text);
  writer.declare("in", region.inputs);
  for (const std::size_t n : region.nodes.members()) writer.node(graph.nodes[n]);
  writer.declare("out", region.outputs);
  return hash_hex(text);
}

std::string measured_key(const Graph& graph, const Region& region) {
  std::string text = structure_key(graph, region);
  std::string extents;
  for (const auto* ids : {&region.inputs, &region.outputs})
    for (const ValueId id : *ids) {
      const ValueType& type = graph.value(id).type;
      if (const auto recorded = type.known_extents(); recorded && type.is_open())
        extents += to_string(ValueType::tensor(type.element, *recorded)) + ";";
    }
  return extents.empty() ? text : hash_hex(text + extents);
}

}  // namespace collage
