// Parses the text form of graphs; text_print.cpp has the grammar.
// In:  untrusted text. Out: the graph as written (verify() checks it), or error ir/parse.
// How: one pass numbers values where they are declared and collects the names that are read; the names are then
//       resolved.
#include <unordered_map>

#include "ir/graph.h"
#include "ir/move_values.h"
#include "ir/text_attributes.h"
#include "ir/text_scan.h"

namespace collage {
namespace {

// Deeper bodies are malformed text: the limit keeps it from exhausting the stack.
constexpr int kMaxDepth = 24;

using Constants = std::map<std::string, Tensor>;
using ParsedNames = std::vector<std::optional<std::string>>;  ///< as read; nothing where "_" stands

struct ParsedNode {
  Node node;
  ParsedNames inputs;
  ParsedNames captures;
};

class GraphParser {
 public:
  GraphParser(Scanner& scanner, const Constants& constants, int depth)
      : scanner_(scanner), constants_(constants), depth_(depth) {}

  /// Reads from after the word "graph".
  Result<Graph> run() {
    if (depth_ > kMaxDepth) return scanner_.wrong("bodies at most " + std::to_string(kMaxDepth) + " deep");
    COLLAGE_TRY_VOID(read_head());
    while (!scanner_.take("}")) COLLAGE_TRY_VOID(read_statement());
    COLLAGE_TRY_VOID(finish_nodes());
    COLLAGE_TRY(graph_.outputs, resolved(output_names_));
    COLLAGE_TRY_VOID(apply_order());
    return std::move(graph_);
  }

 private:
  Result<std::string> read_ref() {
    COLLAGE_TRY_VOID(scanner_.expect("%"));
    return scanner_.name();
  }

  /// "( %a, _, %b )" up to and with the closing parenthesis.
  Result<ParsedNames> read_refs(bool may_omit) {
    ParsedNames names;
    COLLAGE_TRY_VOID(scanner_.expect("("));
    if (scanner_.take(")")) return names;
    do {
      if (may_omit && scanner_.take_word("_")) {
        names.emplace_back(std::nullopt);
        continue;
      }
      COLLAGE_TRY(std::string name, read_ref());
      names.emplace_back(std::move(name));
    } while (scanner_.take(","));
    COLLAGE_TRY_VOID(scanner_.expect(")"));
    return names;
  }

  Result<ValueId> declare(std::string name, ValueType type, std::optional<Tensor> constant = std::nullopt) {
    const ValueId id{static_cast<std::uint32_t>(graph_.values.size())};
    if (!ids_.emplace(name, id).second) return scanner_.wrong("one declaration of %" + name + " before this");
    graph_.values.push_back(Value{.name = std::move(name), .type = std::move(type), .constant = std::move(constant)});
    return id;
  }

  /// "%name" or "%name: type".
  Result<ValueId> read_declaration() {
    COLLAGE_TRY(std::string name, read_ref());
    ValueType type;
    if (scanner_.take(":")) {
      COLLAGE_TRY(type, scanner_.type());
    }
    return declare(std::move(name), std::move(type));
  }

  Result<void> read_head() {
    if (scanner_.peek() != '(') {
      COLLAGE_TRY(graph_.name, scanner_.name());
    }
    COLLAGE_TRY_VOID(scanner_.expect("("));
    if (!scanner_.take(")")) {
      do {
        COLLAGE_TRY(const ValueId id, read_declaration());
        graph_.inputs.push_back(id);
      } while (scanner_.take(","));
      COLLAGE_TRY_VOID(scanner_.expect(")"));
    }
    COLLAGE_TRY_VOID(scanner_.expect("->"));
    COLLAGE_TRY(output_names_, read_refs(false));
    return scanner_.expect("{");
  }

  Result<void> read_statement() {
    if (scanner_.take_word("opset")) return read_opsets();
    if (scanner_.take_word("constant")) return read_constant();
    if (scanner_.take_word("order")) return read_order();
    if (scanner_.take_word("capture")) {
      COLLAGE_TRY(const ValueId id, read_declaration());
      graph_.captures.push_back(id);
      return {};
    }
    if (scanner_.take_word("value")) {
      COLLAGE_TRY_VOID(read_declaration());
      return {};
    }
    return read_node();
  }

  Result<void> read_opsets() {
    do {
      const bool is_quoted = scanner_.peek() == '"';
      COLLAGE_TRY(std::string domain, scanner_.name());
      if (!is_quoted && domain == "ai.onnx") domain.clear();
      COLLAGE_TRY(const std::int64_t version, scanner_.integer());
      if (!graph_.opsets.emplace(std::move(domain), version).second)
        return scanner_.wrong("one version for each domain before this");
    } while (scanner_.take(","));
    return {};
  }

  Result<void> read_constant() {
    COLLAGE_TRY(std::string name, read_ref());
    std::optional<ValueType> type;
    if (scanner_.take(":")) {
      COLLAGE_TRY(type, scanner_.type());
    }
    COLLAGE_TRY_VOID(scanner_.expect("="));
    COLLAGE_TRY(Tensor tensor, scanner_.tensor(constants_));
    if (!type) type = tensor.value_type();
    COLLAGE_TRY_VOID(declare(std::move(name), std::move(*type), std::move(tensor)));
    return {};
  }

  Result<void> read_order() {
    if (order_names_) return scanner_.wrong("one order");
    order_names_.emplace();
    do {
      COLLAGE_TRY(std::string name, read_ref());
      order_names_->emplace_back(std::move(name));
    } while (scanner_.take(","));
    return {};
  }

  Result<void> read_node() {
    ParsedNode parsed;
    COLLAGE_TRY_VOID(read_node_outputs(parsed.node));
    COLLAGE_TRY_VOID(scanner_.expect("="));
    COLLAGE_TRY(parsed.node.op_type, scanner_.name());
    if (scanner_.take("::")) {
      parsed.node.domain = std::move(parsed.node.op_type);
      COLLAGE_TRY(parsed.node.op_type, scanner_.name());
    }
    COLLAGE_TRY(parsed.inputs, read_refs(true));
    if (scanner_.take_word("captures")) {
      COLLAGE_TRY(parsed.captures, read_refs(false));
    }
    if (scanner_.take("{")) {
      COLLAGE_TRY(parsed.node.attributes,
                  read_attributes(scanner_, {.constants = constants_, .read_body = [this] { return read_body(); }}));
    }
    if (scanner_.peek() == '"') {
      COLLAGE_TRY(parsed.node.name, scanner_.string());
    }
    nodes_.push_back(std::move(parsed));
    return {};
  }

  Result<void> read_node_outputs(Node& node) {
    if (scanner_.take("(")) return scanner_.expect(")");
    do {
      if (scanner_.take_word("_")) {
        node.outputs.push_back(ValueId{});
        continue;
      }
      if (scanner_.peek() != '%') return scanner_.wrong("a declaration, a node or '}'");
      COLLAGE_TRY(const ValueId id, read_declaration());
      node.outputs.push_back(id);
    } while (scanner_.take(","));
    return {};
  }

  /// A bare "graph" is a body without a graph.
  Result<Body> read_body() {
    scanner_.take_word("graph");
    const char next = scanner_.peek();
    if (next == ',' || next == '}' || next == ']') return Body{};
    COLLAGE_TRY(Graph graph, GraphParser(scanner_, constants_, depth_ + 1).run());
    return Body{.graph = std::make_shared<const Graph>(std::move(graph))};
  }

  Result<std::vector<ValueId>> resolved(const ParsedNames& names) {
    std::vector<ValueId> ids;
    ids.reserve(names.size());
    for (const std::optional<std::string>& name : names) {
      if (!name) {
        ids.push_back(ValueId{});
        continue;
      }
      const auto found = ids_.find(*name);
      if (found == ids_.end()) return scanner_.wrong("a declaration of %" + *name + " before this");
      ids.push_back(found->second);
    }
    return ids;
  }

  Result<void> finish_nodes() {
    for (ParsedNode& parsed : nodes_) {
      COLLAGE_TRY(parsed.node.inputs, resolved(parsed.inputs));
      COLLAGE_TRY(parsed.node.captures, resolved(parsed.captures));
      add_node(graph_, std::move(parsed.node));
    }
    return {};
  }

  Result<void> apply_order() {
    if (!order_names_) return {};
    COLLAGE_TRY(const std::vector<ValueId> order, resolved(*order_names_));
    std::vector<std::optional<std::uint32_t>> place(graph_.values.size());
    std::uint32_t next = 0;
    for (const ValueId id : order) {
      if (place[id.index]) return scanner_.wrong("each value once in the order before this");
      place[id.index] = next++;
    }
    if (next != graph_.values.size()) return scanner_.wrong("every value in the order before this");
    std::vector<std::uint32_t> to;
    for (const auto& one : place) to.push_back(*one);
    move_values(graph_, to);
    return {};
  }

  Scanner& scanner_;
  const Constants& constants_;
  int depth_;
  Graph graph_;
  ParsedNames output_names_;
  std::optional<ParsedNames> order_names_;
  std::vector<ParsedNode> nodes_;
  std::unordered_map<std::string, ValueId> ids_;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text, const std::map<std::string, Tensor>& constants) {
  Scanner scanner(text);
  if (!scanner.take_word("graph")) return scanner.wrong("the word graph");
  COLLAGE_TRY(Graph graph, GraphParser(scanner, constants, 0).run());
  if (!scanner.at_end()) return scanner.wrong("the end of the text");
  return graph;
}

}  // namespace collage
