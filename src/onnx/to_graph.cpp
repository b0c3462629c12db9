#include "onnx/to_graph.h"

#include <set>
#include <unordered_map>

#include "ir/move_values.h"
#include "onnx/attribute_proto.h"
#include "onnx/free_names.h"
#include "onnx/tensor_proto.h"
#include "onnx/type_proto.h"
#include "onnx/value_order.h"

namespace collage {
namespace {

std::unexpected<Error> invalid(std::string where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "import/invalid-model", std::move(where), std::move(saw), std::move(allowed));
}

const std::string* metadata_of(const auto& message, std::string_view key) {
  for (const auto& entry : message.metadata_props())
    if (entry.key() == key) return &entry.value();
  return nullptr;
}

Result<Tensor> read_initialiser(const pb::TensorProto& message, const TensorSources& sources) {
  const std::string where = "initialiser '" + message.name() + "'";
  if (sources.parked)
    if (const Tensor* parked = sources.parked->find(message)) return *parked;
  if (message.data_location() != pb::TensorProto::EXTERNAL || !sources.files) return to_tensor(message, where);
  const auto type = element_type_from(message.data_type());
  COLLAGE_TRY(Extents extents, extents_of(message, where));
  const auto bytes = type ? checked_byte_count(*type, extents) : std::nullopt;
  if (!bytes)
    return fail(ExitCode::kBadInput, "import/external-data", where, "a type or dimensions without a size", "numbers");
  COLLAGE_TRY(Buffer data, sources.files->bytes_of(message, *bytes, where));
  return Tensor{.type = *type, .extents = std::move(extents), .data = std::move(data), .strings = {}};
}

/// Reads one graph; bodies are read by readers of their own that ask this one for names they do not have.
class GraphReader {
 public:
  GraphReader(const TensorSources& sources, GraphReader* outer) : sources_(sources), outer_(outer) {}

  Result<Graph> read(const pb::GraphProto& message) {
    graph_.name = message.name();
    collect_types(message);
    for (const auto& input : message.input()) {
      COLLAGE_TRY(const ValueId id, define(input.name(), to_value_type(input.type())));
      graph_.inputs.push_back(id);
    }
    COLLAGE_TRY_VOID(define_captures(message));
    for (const auto& tensor : message.initializer()) {
      COLLAGE_TRY(Tensor data, read_initialiser(tensor, sources_));
      ValueType type = data.value_type();
      COLLAGE_TRY(const ValueId id, define(tensor.name(), std::move(type)));
      graph_.value(id).constant = std::move(data);
    }
    for (const auto& node : message.node()) COLLAGE_TRY_VOID(read_node(node));
    for (const auto& output : message.output()) {
      COLLAGE_TRY(const ValueId id, find(output.name(), "output of graph '" + message.name() + "'"));
      graph_.outputs.push_back(id);
    }
    COLLAGE_TRY_VOID(restore_ids(message));
    return std::move(graph_);
  }

 private:
  void collect_types(const pb::GraphProto& message) {
    for (const auto& value : message.output()) types_[value.name()] = &value.type();
    for (const auto& value : message.value_info()) types_[value.name()] = &value.type();
  }

  Result<ValueId> define(const std::string& name, ValueType type) {
    if (name.empty()) return invalid("graph '" + graph_.name + "'", "a value without a name", "named values");
    const ValueId id{static_cast<std::uint32_t>(graph_.values.size())};
    if (!ids_.emplace(name, id).second) return invalid("value '" + name + "'", "two definitions", "one in its graph");
    graph_.values.push_back({.name = name, .type = std::move(type), .constant = std::nullopt});
    return id;
  }

  Result<ValueId> find(const std::string& name, const std::string& reader) {
    if (const auto alias = aliases_.find(name); alias != aliases_.end()) return alias->second;
    const auto found = ids_.find(name);
    if (found == ids_.end())
      return invalid(reader, "a read of '" + name + "', which nothing makes before it", "inputs and earlier results");
    return found->second;
  }

  /// True when this graph or one around it has made the value by now.
  bool has(const std::string& name) { return ids_.contains(name) || (outer_ && outer_->has(name)); }

  /// The value seen from here; a body that reads it from outside gets a capture.
  ValueType type_seen_from_inside(const std::string& name) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) return graph_.value(found->second).type;
    return outer_ ? outer_->type_seen_from_inside(name) : ValueType{};
  }

  Result<void> define_captures(const pb::GraphProto& message) {
    if (!outer_) return {};
    std::vector<ValueId> captures;
    for (const std::string& name : free_names(message)) {
      if (!outer_->has(name))
        return invalid("body '" + message.name() + "'", "a read of '" + name + "', which nothing makes before it",
                       "values of the graphs around it");
      COLLAGE_TRY(const ValueId id, define(name, outer_->type_seen_from_inside(name)));
      captures.push_back(id);
    }
    COLLAGE_TRY(graph_.captures,
                reordered(captures, metadata_of(message, kCapturesKey), "body '" + message.name() + "'"));
    return {};
  }

  static Result<std::vector<ValueId>> reordered(const std::vector<ValueId>& ids, const std::string* order,
                                                const std::string& where) {
    if (!order) return ids;
    const auto permutation = parse_permutation(*order, ids.size());
    if (!permutation) return invalid(where, "a note of captures that fits none", "an order of its captures");
    std::vector<ValueId> result;
    for (const std::uint32_t i : *permutation) result.push_back(ids[i]);
    return result;
  }

  Result<void> read_node(const pb::NodeProto& message) {
    const std::string where = describe(message);
    if (metadata_of(message, kAliasKey) && message.input_size() == 1 && message.output_size() == 1) {
      COLLAGE_TRY(const ValueId id, find(message.input(0), where));
      aliases_[message.output(0)] = id;
      return {};
    }
    Node node{.name = unique_node_name(message),
              .domain = message.domain(),
              .op_type = message.op_type(),
              .inputs = {},
              .outputs = {},
              .captures = {},
              .attributes = {}};
    for (const auto& name : message.input()) {
      if (name.empty()) {
        node.inputs.push_back({});
        continue;
      }
      COLLAGE_TRY(const ValueId id, find(name, where));
      node.inputs.push_back(id);
    }
    COLLAGE_TRY(node.attributes,
                read_attributes(message, where, [this](const pb::GraphProto& body) { return read_body(body); }));
    COLLAGE_TRY_VOID(read_captures(message, node, where));
    for (const auto& name : message.output()) {
      if (name.empty()) {
        node.outputs.push_back({});
        continue;
      }
      const auto type = types_.find(name);
      COLLAGE_TRY(const ValueId id, define(name, type == types_.end() ? ValueType{} : to_value_type(*type->second)));
      node.outputs.push_back(id);
    }
    graph_.nodes.push_back(std::move(node));
    return {};
  }

  std::string unique_node_name(const pb::NodeProto& message) {
    std::string name = message.name();
    if (name.empty()) name = message.op_type() + "_" + std::to_string(graph_.nodes.size());
    return node_names_.fresh(name);
  }

  Result<void> read_captures(const pb::NodeProto& message, Node& node, const std::string& where) {
    std::vector<ValueId> captures;
    std::set<ValueId> seen;
    for (const Attribute& attribute : node.attributes) {
      std::vector<Body> bodies;
      if (const auto* body = std::get_if<Body>(&attribute.value)) bodies.push_back(*body);
      if (const auto* several = std::get_if<std::vector<Body>>(&attribute.value)) bodies = *several;
      for (const Body& body : bodies)
        for (const ValueId inner : body.graph->captures) {
          COLLAGE_TRY(const ValueId id, find(body.graph->value(inner).name, where));
          if (seen.insert(id).second) captures.push_back(id);
        }
    }
    COLLAGE_TRY(node.captures, reordered(captures, metadata_of(message, kCapturesKey), where));
    return {};
  }

  Result<Body> read_body(const pb::GraphProto& message) {
    COLLAGE_TRY(Graph body, GraphReader(sources_, this).read(message));
    return Body{std::make_shared<const Graph>(std::move(body))};
  }

  /// Puts the values where the file says they were in the graph that was written.
  Result<void> restore_ids(const pb::GraphProto& message) {
    const std::string* note = metadata_of(message, kIdsKey);
    if (!note) return {};
    const auto to = parse_permutation(*note, graph_.values.size());
    // An import may have folded values of a graph that was written here; then ids mean nothing.
    if (!to && sources_.parked != nullptr) return {};
    if (!to) return invalid("graph '" + graph_.name + "'", "a note of ids that fits no value", "one id for each value");
    move_values(graph_, *to);
    return {};
  }

  const TensorSources& sources_;
  GraphReader* outer_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> ids_;
  std::unordered_map<std::string, ValueId> aliases_;
  std::unordered_map<std::string, const pb::TypeProto*> types_;
  UniqueNames node_names_;
};

}  // namespace

Result<Graph> to_graph(const pb::ModelProto& model, const TensorSources& sources) {
  COLLAGE_TRY(Graph graph, GraphReader(sources, nullptr).read(model.graph()));
  for (const auto& opset : model.opset_import()) graph.opsets[opset.domain()] = opset.version();
  return graph;
}

}  // namespace collage
