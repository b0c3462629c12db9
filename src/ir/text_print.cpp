// Prints a graph as text, for golden tests, `--dump` and messages. White space is free; the grammar is
// clang-format off
//   graph    = "graph" NAME? "(" value,* ")" "->" "(" REF,* ")" "{" opset? capture* constant* loose* node* order? "}"
//   value    = REF (":" TYPE)?               a type left out is unknown
//   opset    = "opset" DOMAIN VERSION ,*     the domain "" is written ai.onnx
//   capture  = "capture" value               bodies only
//   constant = "constant" REF (":" TYPE)? "=" TENSOR   the type only where it is not the tensor's
//   loose    = "value" value                 a value that nothing makes
//   node     = outputs "=" OPERATOR "(" input,* ")" ("captures" "(" REF,* ")")? ("{" ATTRIBUTE "=" attr ,* "}")? "NAME"?
//   outputs  = (value | "_"),+ or "()"       "_" is an output or input left out
//   order    = "order" REF,*                 the values by id, where that is not the order of mention
// clang-format on
// REF is % and a name. Inputs, captures, constants, loose values and node outputs get their ids in this order, as
// normalised() gives them; "order" keeps any other numbering. For example y = Relu(x + w):
//   graph g(%x: f32[2]) -> (%y) { opset ai.onnx 26 constant %w = f32[2]{1,2}
//     %s: f32[2] = Add(%x, %w) "add" %y: f32[2] = Relu(%s) "relu" }
#include "ir/text_print.h"

#include <algorithm>

#include "ir/text_names.h"

namespace collage {
namespace {

std::string domain_text(const std::string& domain) {
  if (domain.empty()) return "ai.onnx";
  return domain == "ai.onnx" ? quoted(domain) : name_text(domain);
}

class Printer {
 public:
  Printer(const Graph& graph, int depth, std::string& text)
      : graph_(graph),
        indent_(static_cast<std::size_t>(depth) * 2, ' '),
        depth_(depth),
        text_(text),
        mentioned_(graph.values.size(), false) {}

  void run() {
    print_head();
    print_opsets();
    for (const ValueId id : graph_.captures) line("capture " + declared(id));
    print_constants();
    print_loose();
    for (const Node& node : graph_.nodes) print_node(node);
    print_order();
    text_ += indent_ + "}";
  }

 private:
  void line(const std::string& content) { text_ += indent_ + "  " + content + '\n'; }

  [[nodiscard]] std::string ref(ValueId id) const {
    if (!id.valid()) return "_";
    // Deliberately not parsable: a broken graph can be printed, but not read back.
    if (id.index >= graph_.values.size()) return "%!" + std::to_string(id.index);
    return '%' + name_text(graph_.value(id).name);
  }

  [[nodiscard]] std::string refs(const std::vector<ValueId>& ids) const {
    std::string text;
    for (std::size_t i = 0; i < ids.size(); ++i) text += (i > 0 ? ", " : "") + ref(ids[i]);
    return text;
  }

  void mention(ValueId id) {
    if (id.index >= mentioned_.size() || mentioned_[id.index]) return;
    mentioned_[id.index] = true;
    order_.push_back(id);
  }

  /// "%name: type"; the type of an unknown value is left out.
  std::string declared(ValueId id) {
    mention(id);
    if (id.index >= graph_.values.size() || graph_.value(id).type == ValueType{}) return ref(id);
    return ref(id) + ": " + to_string(graph_.value(id).type);
  }

  std::string declared_list(const std::vector<ValueId>& ids) {
    std::string text;
    for (std::size_t i = 0; i < ids.size(); ++i) text += (i > 0 ? ", " : "") + declared(ids[i]);
    return text;
  }

  void print_head() {
    text_ += "graph";
    if (!graph_.name.empty()) text_ += ' ' + name_text(graph_.name);
    text_ += '(' + declared_list(graph_.inputs) + ") -> (" + refs(graph_.outputs) + ") {\n";
  }

  void print_opsets() {
    if (graph_.opsets.empty()) return;
    std::string content;
    for (const auto& [domain, version] : graph_.opsets)
      content += (content.empty() ? "opset " : ", ") + domain_text(domain) + ' ' + std::to_string(version);
    line(content);
  }

  void print_constants() {
    for (std::uint32_t v = 0; v < graph_.values.size(); ++v) {
      const Value& value = graph_.values[v];
      if (!value.constant) continue;
      mention(ValueId{v});
      const bool usual = value.type == value.constant->value_type();
      line("constant " + ref(ValueId{v}) + (usual ? "" : ": " + to_string(value.type)) + " = " +
           to_text(*value.constant));
    }
  }

  void print_loose() {
    std::vector<bool> made = mentioned_;
    for (const Node& node : graph_.nodes)
      for (const ValueId id : node.outputs)
        if (id.index < made.size()) made[id.index] = true;
    for (std::uint32_t v = 0; v < graph_.values.size(); ++v)
      if (!made[v]) line("value " + declared(ValueId{v}));
  }

  void print_node(const Node& node) {
    text_ += indent_ + "  ";
    text_ += node.outputs.empty() ? "()" : declared_list(node.outputs);
    text_ += " = " + operator_text(node) + '(' + refs(node.inputs) + ')';
    if (!node.captures.empty()) text_ += " captures(" + refs(node.captures) + ')';
    if (!node.attributes.empty()) {
      text_ += " {";
      for (std::size_t i = 0; i < node.attributes.size(); ++i) {
        text_ += (i > 0 ? ", " : "") + name_text(node.attributes[i].name) + '=';
        std::visit([&](const auto& value) { print(value); }, node.attributes[i].value);
      }
      text_ += '}';
    }
    text_ += ' ' + quoted(node.name) + '\n';
  }

  void print_order() {
    const bool canonical = std::is_sorted(order_.begin(), order_.end());
    if (canonical) return;
    std::vector<ValueId> ids(graph_.values.size());
    for (std::uint32_t v = 0; v < ids.size(); ++v) ids[v] = ValueId{v};
    line("order " + refs(ids));
  }

  void print(float value) { text_ += float_text(value); }
  void print(std::int64_t value) { text_ += std::to_string(value); }
  void print(const std::string& value) { text_ += quoted(value); }
  void print(const Tensor& value) { text_ += to_text(value); }
  void print(const Body& value) {
    if (value.graph)
      Printer(*value.graph, depth_ + 2, text_).run();
    else
      text_ += "graph";
  }

  /// The type of a list follows from its elements; an empty list names its type.
  template <class T>
  void print(const std::vector<T>& values) {
    if (values.empty()) {
      text_ += std::string(empty_list_name(T{})) + "[]";
      return;
    }
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ',';
      print(values[i]);
    }
    text_ += ']';
  }

  static std::string_view empty_list_name(float) { return "floats"; }
  static std::string_view empty_list_name(std::int64_t) { return "ints"; }
  static std::string_view empty_list_name(const std::string&) { return "strings"; }
  static std::string_view empty_list_name(const Tensor&) { return "tensors"; }
  static std::string_view empty_list_name(const Body&) { return "graphs"; }

  const Graph& graph_;
  std::string indent_;
  int depth_;
  std::string& text_;
  std::vector<bool> mentioned_;
  std::vector<ValueId> order_;
};

}  // namespace

std::string operator_text(const Node& node) {
  const std::string op = name_text(node.op_type);
  return node.domain.empty() ? op : name_text(node.domain) + "::" + op;
}

std::string to_text(const Graph& graph) {
  std::string text;
  Printer(graph, 0, text).run();
  return text + '\n';
}

}  // namespace collage
