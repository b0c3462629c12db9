// Small graphs written node by node, with values of one usual shape unless said otherwise.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace collage::testing_support {

class GraphBuilder {
 public:
  explicit GraphBuilder(Extents usual = {1, 4, 2, 2}) : usual_(std::move(usual)) { graph_.opsets[""] = 26; }

  ValueId input(const std::string& name) { return input(name, usual_); }
  ValueId input(const std::string& name, const Extents& extents) {
    graph_.inputs.push_back(add_value(graph_, name, ValueType::tensor(ElementType::kFloat32, extents)));
    return graph_.inputs.back();
  }

  /// A constant of zeros.
  ValueId weight(const std::string& name, const Extents& extents) {
    Tensor tensor{.type = ElementType::kFloat32, .extents = extents, .data = {}, .strings = {}};
    tensor.data = Buffer::make(byte_count(tensor.type, extents),
                               [](std::span<std::byte> bytes) { std::ranges::fill(bytes, std::byte{0}); });
    return add_constant(graph_, name, std::move(tensor));
  }
  ValueId constant(const std::string& name, Tensor tensor) { return add_constant(graph_, name, std::move(tensor)); }
  ValueId scalar(float value) {
    return add_constant(graph_, "", make_tensor<float>(ElementType::kFloat32, {}, {value}));
  }
  ValueId integers(const std::vector<std::int64_t>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return add_constant(graph_, "", make_tensor<std::int64_t>(ElementType::kInt64, {count}, values));
  }

  /// Appends node "n<index>" with one output "v<index>".
  ValueId add(const std::string& op_type, std::vector<ValueId> inputs) {
    return add(op_type, std::move(inputs), usual_);
  }
  ValueId add(const std::string& op_type, std::vector<ValueId> inputs, const Extents& extents,
              std::vector<Attribute> attributes = {}) {
    return add_outputs(op_type, std::move(inputs), {extents}, std::move(attributes)).front();
  }
  std::vector<ValueId> add_outputs(const std::string& op_type, std::vector<ValueId> inputs,
                                   const std::vector<Extents>& outputs, std::vector<Attribute> attributes = {}) {
    const std::string index = std::to_string(graph_.nodes.size());
    Node node{.name = "n" + index, .op_type = op_type, .inputs = std::move(inputs)};
    node.attributes = std::move(attributes);
    for (std::size_t o = 0; o < outputs.size(); ++o)
      node.outputs.push_back(add_value(graph_, "v" + index + (o == 0 ? "" : "." + std::to_string(o)),
                                       ValueType::tensor(ElementType::kFloat32, outputs[o])));
    std::vector<ValueId> made = node.outputs;
    add_node(graph_, std::move(node));
    return made;
  }

  Graph take(std::vector<ValueId> outputs) {
    graph_.outputs = std::move(outputs);
    return std::move(graph_);
  }

 private:
  Extents usual_;
  Graph graph_;
};

}  // namespace collage::testing_support
