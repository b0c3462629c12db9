#include "onnx/export.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "onnx/proto.h"
#include "onnx/tensor_proto.h"
#include "onnx/type_proto.h"
#include "onnx/value_order.h"

namespace collage {
namespace {

/// The first IR version that has the element type.
std::int64_t ir_version_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat4E2M1:
      return 11;
    case ElementType::kFloat8E8M0:
      return 12;
    case ElementType::kUint2:
    case ElementType::kInt2:
      return 13;
    default:
      return 0;
  }
}

void add_metadata(auto& message, const std::string& key, const std::string& value) {
  auto* entry = message.add_metadata_props();
  entry->set_key(key);
  entry->set_value(value);
}

/// `order` as positions in `reference`; the identity when both hold the same in the same order. Ids that `reference`
/// lacks (captures that nothing reads) are left out.
ValueOrder positions(const std::vector<ValueId>& order, const std::vector<ValueId>& reference) {
  std::unordered_map<std::uint32_t, std::uint32_t> at;
  for (std::uint32_t i = 0; i < reference.size(); ++i) at[reference[i].index] = i;
  ValueOrder result;
  for (const ValueId id : order)
    if (const auto found = at.find(id.index); found != at.end()) result.push_back(found->second);
  return result;
}

class GraphWriter {
 public:
  GraphWriter(const Graph& graph, const ExportOptions& options, bool is_body, std::int64_t& ir_version)
      : graph_(graph), options_(options), is_body_(is_body), ir_version_(ir_version) {}

  void write(pb::GraphProto& message) {
    message.set_name(graph_.name.empty() ? "graph" : graph_.name);
    for (const ValueId id : graph_.inputs) {
      place(id);
      write_value_info(graph_.value(id).name, graph_.value(id).type, *message.add_input());
    }
    const std::vector<ValueId> read = captures_by_reading();
    for (const ValueId id : read) place(id);
    for (std::uint32_t v = 0; v < graph_.values.size(); ++v)
      if (graph_.values[v].constant) write_constant(ValueId{v}, message);
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) write_node(NodeId{n}, message);
    write_outputs(message);
    if (options_.value_info) write_inner_types(message);
    if (options_.keep_ids) note_order(read, message);
  }

 private:
  void place(ValueId id) {
    placed_.push_back(id);
    const ValueType& type = graph_.value(id).type;
    ir_version_ = std::max(ir_version_, ir_version_of(type.element));
  }

  /// Captures in the order in which a reader of the file meets them: node by node, inputs before bodies.
  [[nodiscard]] std::vector<ValueId> captures_by_reading() const {
    std::unordered_set<std::uint32_t> left;
    for (const ValueId id : graph_.captures) left.insert(id.index);
    std::vector<ValueId> order;
    const auto read = [&](ValueId id) {
      if (id.valid() && left.erase(id.index) != 0) order.push_back(id);
    };
    for (const Node& node : graph_.nodes) {
      for (const ValueId id : node.inputs) read(id);
      for (const ValueId id : captures_of_bodies(node)) read(id);
    }
    for (const ValueId id : graph_.outputs) read(id);
    return order;
  }

  /// What the node's bodies read of this graph, in the order in which a reader meets it.
  [[nodiscard]] std::vector<ValueId> captures_of_bodies(const Node& node) const {
    std::unordered_map<std::string_view, ValueId> by_name;
    for (const ValueId id : node.captures) by_name.emplace(graph_.value(id).name, id);
    std::vector<ValueId> order;
    std::unordered_set<std::string_view> seen;
    for (const Graph* body : bodies_of(node)) {
      std::vector<ValueId> inner = GraphWriter(*body, options_, true, ir_version_).captures_by_reading();
      for (const ValueId id : inner) {
        const auto found = by_name.find(body->value(id).name);
        if (found != by_name.end() && seen.insert(found->first).second) order.push_back(found->second);
      }
    }
    return order;
  }

  /// The order in which a reader lists a node's captures: each body's own list, one after the other.
  [[nodiscard]] std::vector<ValueId> captures_as_listed(const Node& node) const {
    std::unordered_map<std::string_view, ValueId> by_name;
    for (const ValueId id : node.captures) by_name.emplace(graph_.value(id).name, id);
    std::vector<ValueId> order;
    std::unordered_set<std::string_view> seen;
    for (const Graph* body : bodies_of(node))
      for (const ValueId id : body->captures) {
        const auto found = by_name.find(body->value(id).name);
        if (found != by_name.end() && seen.insert(found->first).second) order.push_back(found->second);
      }
    return order;
  }

  void write_constant(ValueId id, pb::GraphProto& message) {
    place(id);
    const Value& value = graph_.value(id);
    const Tensor& tensor = *value.constant;
    auto& written = *message.add_initializer();
    std::optional<ExternalLocation> external;
    if (!is_body_ && options_.external && tensor.type != ElementType::kString &&
        tensor.data.size() > options_.inline_limit)
      external = options_.external(id);
    if (!external) return write_tensor(tensor, value.name, written);
    write_tensor_header(tensor, value.name, written);
    written.set_data_location(pb::TensorProto::EXTERNAL);
    const auto add = [&](const char* key, const std::string& text) {
      auto* entry = written.add_external_data();
      entry->set_key(key);
      entry->set_value(text);
    };
    add("location", external->file);
    add("offset", std::to_string(external->offset));
    add("length", std::to_string(tensor.data.size()));
  }

  void write_node(NodeId id, pb::GraphProto& message) {
    const Node& node = graph_.node(id);
    auto& written = *message.add_node();
    written.set_name(node.name);
    written.set_op_type(node.op_type);
    if (!node.domain.empty()) written.set_domain(node.domain);
    for (const ValueId input : node.inputs) written.add_input(input.valid() ? graph_.value(input).name : "");
    for (const ValueId output : node.outputs) {
      written.add_output(output.valid() ? graph_.value(output).name : "");
      if (output.valid()) place(output);
    }
    for (const Attribute& attribute : node.attributes) write_attribute(attribute, *written.add_attribute());
    if (!is_body_ && options_.node_metadata)
      for (const auto& [key, value] : options_.node_metadata(id)) add_metadata(written, key, value);
    if (!options_.keep_ids || node.captures.empty()) return;
    const ValueOrder order = positions(node.captures, captures_as_listed(node));
    if (!is_identity(order)) add_metadata(written, kCapturesKey, to_text(order));
  }

  void write_attribute(const Attribute& attribute, pb::AttributeProto& message) {
    message.set_name(attribute.name);
    std::visit([&](const auto& value) { write_attribute_value(value, message); }, attribute.value);
  }

  static void write_attribute_value(float value, pb::AttributeProto& message) {
    message.set_type(pb::AttributeProto::FLOAT);
    message.set_f(value);
  }
  static void write_attribute_value(std::int64_t value, pb::AttributeProto& message) {
    message.set_type(pb::AttributeProto::INT);
    message.set_i(value);
  }
  static void write_attribute_value(const std::string& value, pb::AttributeProto& message) {
    message.set_type(pb::AttributeProto::STRING);
    message.set_s(value);
  }
  static void write_attribute_value(const Tensor& value, pb::AttributeProto& message) {
    message.set_type(pb::AttributeProto::TENSOR);
    write_tensor(value, "", *message.mutable_t());
  }
  void write_attribute_value(const Body& value, pb::AttributeProto& message) {
    message.set_type(pb::AttributeProto::GRAPH);
    GraphWriter(*value.graph, options_, true, ir_version_).write(*message.mutable_g());
  }
  static void write_attribute_value(const std::vector<float>& values, pb::AttributeProto& message) {
    message.set_type(pb::AttributeProto::FLOATS);
    message.mutable_floats()->Add(values.begin(), values.end());
  }
  static void write_attribute_value(const std::vector<std::int64_t>& values, pb::AttributeProto& message) {
    message.set_type(pb::AttributeProto::INTS);
    message.mutable_ints()->Add(values.begin(), values.end());
  }
  static void write_attribute_value(const std::vector<std::string>& values, pb::AttributeProto& message) {
    message.set_type(pb::AttributeProto::STRINGS);
    for (const std::string& value : values) message.add_strings(value);
  }
  static void write_attribute_value(const std::vector<Tensor>& values, pb::AttributeProto& message) {
    message.set_type(pb::AttributeProto::TENSORS);
    for (const Tensor& value : values) write_tensor(value, "", *message.add_tensors());
  }
  void write_attribute_value(const std::vector<Body>& values, pb::AttributeProto& message) {
    message.set_type(pb::AttributeProto::GRAPHS);
    for (const Body& value : values)
      GraphWriter(*value.graph, options_, true, ir_version_).write(*message.add_graphs());
  }

  /// A body may not return an outer value by itself (ONNX Runtime refuses that): an Identity of the file's own does.
  void write_outputs(pb::GraphProto& message) {
    std::unordered_set<std::uint32_t> captured;
    for (const ValueId id : graph_.captures) captured.insert(id.index);
    for (const ValueId id : graph_.outputs) {
      const Value& value = graph_.value(id);
      if (!captured.contains(id.index)) {
        write_value_info(value.name, value.type, *message.add_output());
        continue;
      }
      const std::string name = fresh_name(value.name + "_returned");
      auto& alias = *message.add_node();
      alias.set_name(name);
      alias.set_op_type("Identity");
      alias.add_input(value.name);
      alias.add_output(name);
      add_metadata(alias, kAliasKey, "1");
      write_value_info(name, value.type, *message.add_output());
    }
  }

  std::string fresh_name(const std::string& stem) {
    if (!has_names_)
      for (const Value& value : graph_.values) names_.take(value.name);
    has_names_ = true;
    return names_.fresh(stem);
  }

  void write_inner_types(pb::GraphProto& message) const {
    std::unordered_set<std::uint32_t> outputs;
    for (const ValueId id : graph_.outputs) outputs.insert(id.index);
    for (const Node& node : graph_.nodes)
      for (const ValueId id : node.outputs)
        if (id.valid() && !outputs.contains(id.index) && graph_.value(id).type.kind != ValueKind::kUnknown)
          write_value_info(graph_.value(id).name, graph_.value(id).type, *message.add_value_info());
  }

  /// Ids are noted by rank: values that nothing makes are not in the file and leave no gaps.
  void note_order(const std::vector<ValueId>& read_captures, pb::GraphProto& message) const {
    const ValueOrder captures = positions(graph_.captures, read_captures);
    if (!is_identity(captures)) add_metadata(message, kCapturesKey, to_text(captures));
    std::vector<ValueId> sorted = placed_;
    std::ranges::sort(sorted);
    const ValueOrder ids = positions(placed_, sorted);
    if (!is_identity(ids)) add_metadata(message, kIdsKey, to_text(ids));
  }

  const Graph& graph_;
  const ExportOptions& options_;
  bool is_body_;
  std::int64_t& ir_version_;
  std::vector<ValueId> placed_;  ///< values in the order of the file
  bool has_names_ = false;
  UniqueNames names_;
};

}  // namespace

std::string export_graph(const Graph& graph, const ExportOptions& options) {
  pb::ModelProto model;
  model.set_producer_name("collage");
  std::int64_t ir_version = options.ir_version;
  GraphWriter(graph, options, false, ir_version).write(*model.mutable_graph());
  model.set_ir_version(ir_version);
  for (const auto& [domain, version] : graph.opsets) {
    auto* opset = model.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    COLLAGE_CHECK(model.SerializeToCodedStream(&coded), "a model over 2 GiB: large constants belong outside");
  }
  return bytes;
}

}  // namespace collage
