#include "onnx/proto.h"

#include <algorithm>

namespace collage {

std::string first_line(std::string_view message) {
  constexpr std::size_t kLongest = 300;
  // ONNX's assertions: "FILE:LINE: FUNCTION: Assertion `...` failed: MESSAGE"; the message is what a user can read.
  constexpr std::string_view kFailed = "` failed: ";
  if (const std::size_t at = message.find(kFailed); at != std::string_view::npos)
    message.remove_prefix(at + kFailed.size());
  while (!message.empty() && (message.front() == '\n' || message.front() == ' ')) message.remove_prefix(1);
  std::string line(message.substr(0, std::min(message.find('\n'), kLongest)));
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < 0x20; }, ' ');
  return line.empty() ? "no message" : line;
}

const pb::AttributeProto* attribute_of(const pb::NodeProto& node, std::string_view name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

std::int64_t int_attribute(const pb::NodeProto& node, std::string_view name, std::int64_t fallback) {
  const auto* attribute = attribute_of(node, name);
  return attribute ? attribute->i() : fallback;
}

float float_attribute(const pb::NodeProto& node, std::string_view name, float fallback) {
  const auto* attribute = attribute_of(node, name);
  return attribute ? attribute->f() : fallback;
}

std::string string_attribute(const pb::NodeProto& node, std::string_view name, std::string fallback) {
  const auto* attribute = attribute_of(node, name);
  return attribute ? attribute->s() : fallback;
}

std::vector<std::int64_t> ints_attribute(const pb::NodeProto& node, std::string_view name) {
  const auto* attribute = attribute_of(node, name);
  if (!attribute) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}

void remove_attribute(pb::NodeProto& node, std::string_view name) {
  auto& attributes = *node.mutable_attribute();
  for (int i = attributes.size() - 1; i >= 0; --i)
    if (attributes[i].name() == name) attributes.DeleteSubrange(i, 1);
}

void set_int(pb::NodeProto& node, std::string_view name, std::int64_t value) {
  remove_attribute(node, name);
  auto* attribute = node.add_attribute();
  attribute->set_name(std::string(name));
  attribute->set_type(pb::AttributeProto::INT);
  attribute->set_i(value);
}

void set_string(pb::NodeProto& node, std::string_view name, std::string_view value) {
  remove_attribute(node, name);
  auto* attribute = node.add_attribute();
  attribute->set_name(std::string(name));
  attribute->set_type(pb::AttributeProto::STRING);
  attribute->set_s(std::string(value));
}

std::string describe(const pb::NodeProto& node) {
  std::string name = node.name();
  if (name.empty() && node.output_size() > 0)
    name = "of '" + node.output(0) + "'";
  else
    name = "'" + name + "'";
  return "node " + name + " (" + (node.domain().empty() ? "" : node.domain() + "::") + node.op_type() + ")";
}

void for_each_graph(pb::GraphProto& graph, const std::function<void(pb::GraphProto&)>& visit) {
  visit(graph);
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) for_each_graph(*attribute.mutable_g(), visit);
      for (auto& body : *attribute.mutable_graphs()) for_each_graph(body, visit);
    }
  }
}

void for_each_graph(const pb::GraphProto& graph, const std::function<void(const pb::GraphProto&)>& visit) {
  visit(graph);
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) for_each_graph(attribute.g(), visit);
      for (const auto& body : attribute.graphs()) for_each_graph(body, visit);
    }
  }
}

void for_each_tensor(pb::GraphProto& graph, const std::function<void(pb::TensorProto&)>& visit) {
  for_each_graph(graph, [&](pb::GraphProto& one) {
    for (auto& tensor : *one.mutable_initializer()) visit(tensor);
    for (auto& node : *one.mutable_node()) {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_t()) visit(*attribute.mutable_t());
        for (auto& tensor : *attribute.mutable_tensors()) visit(tensor);
      }
    }
  });
}

void rename_values(pb::GraphProto& graph, const Renames& renames) {
  if (renames.empty()) return;
  const auto rename = [&](std::string* name) {
    if (const auto found = renames.find(*name); found != renames.end()) *name = found->second;
  };
  for_each_graph(graph, [&](pb::GraphProto& one) {
    for (auto& value : *one.mutable_input()) rename(value.mutable_name());
    for (auto& value : *one.mutable_output()) rename(value.mutable_name());
    for (auto& value : *one.mutable_value_info()) rename(value.mutable_name());
    for (auto& tensor : *one.mutable_initializer()) rename(tensor.mutable_name());
    for (auto& node : *one.mutable_node()) {
      for (auto& name : *node.mutable_input()) rename(&name);
      for (auto& name : *node.mutable_output()) rename(&name);
    }
  });
}

std::int64_t opset_of(const pb::ModelProto& model, std::string_view domain) {
  for (const auto& opset : model.opset_import())
    if (opset.domain() == domain) return opset.version();
  return -1;
}

void set_opset(pb::ModelProto& model, std::string_view domain, std::int64_t version) {
  for (auto& opset : *model.mutable_opset_import()) {
    if (opset.domain() != domain) continue;
    opset.set_version(version);
    return;
  }
  auto* opset = model.add_opset_import();
  opset->set_domain(std::string(domain));
  opset->set_version(version);
}

Names::Names(const pb::GraphProto& graph) {
  for_each_graph(graph, [&](const pb::GraphProto& one) {
    for (const auto& input : one.input()) names_.take(input.name());
    for (const auto& tensor : one.initializer()) names_.take(tensor.name());
    for (const auto& node : one.node())
      for (const auto& output : node.output()) names_.take(output);
  });
}

std::string UniqueNames::fresh(std::string_view stem) {
  std::string name(stem);
  if (taken_.insert(name).second) return name;
  int& number = counted_[name];
  do name = std::string(stem) + "_" + std::to_string(++number);
  while (!taken_.insert(name).second);
  return name;
}

pb::TensorProto int64_tensor(std::string name, const std::vector<std::int64_t>& dims,
                             const std::vector<std::int64_t>& values) {
  pb::TensorProto tensor;
  tensor.set_name(std::move(name));
  tensor.set_data_type(pb::TensorProto::INT64);
  for (std::int64_t dim : dims) tensor.add_dims(dim);
  for (std::int64_t value : values) tensor.add_int64_data(value);
  return tensor;
}

pb::TensorProto float_tensor(std::string name, const std::vector<std::int64_t>& dims,
                             const std::vector<float>& values) {
  pb::TensorProto tensor;
  tensor.set_name(std::move(name));
  tensor.set_data_type(pb::TensorProto::FLOAT);
  for (std::int64_t dim : dims) tensor.add_dims(dim);
  for (float value : values) tensor.add_float_data(value);
  return tensor;
}

}  // namespace collage
