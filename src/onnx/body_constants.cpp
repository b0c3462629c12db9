#include "onnx/body_constants.h"

#include <algorithm>
#include <map>
#include <string>

#include "onnx/small_value.h"
#include "onnx/value_order.h"

namespace collage {
namespace {

using Constants = std::map<std::string, const pb::TensorProto*>;

bool is_small_integer(const pb::TensorProto& tensor) {
  if (tensor.data_type() != pb::TensorProto::INT64 && tensor.data_type() != pb::TensorProto::INT32) return false;
  const auto count = small_count({tensor.dims().begin(), tensor.dims().end()});
  return count && *count <= kMostBodyConstant && read_small(tensor);
}

class Copier {
 public:
  explicit Copier(const pb::GraphProto& outermost) : names_(outermost) {}

  [[nodiscard]] bool has_copied() const { return has_copied_; }

  /// `outer` are the constants of the graphs around this one.
  void run(pb::GraphProto& graph, Constants outer, bool is_body) {
    hide_own(graph, outer);
    if (is_body) copy_into(graph, outer);
    for (const auto& tensor : graph.initializer())
      if (is_small_integer(tensor)) outer[tensor.name()] = &tensor;
    for (auto& node : *graph.mutable_node())
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) run(*attribute.mutable_g(), outer, true);
        for (auto& body : *attribute.mutable_graphs()) run(body, outer, true);
      }
  }

 private:
  /// Names that the graph defines mean its own values.
  static void hide_own(const pb::GraphProto& graph, Constants& outer) {
    for (const auto& input : graph.input()) outer.erase(input.name());
    for (const auto& tensor : graph.initializer()) outer.erase(tensor.name());
    for (const auto& node : graph.node())
      for (const auto& output : node.output()) outer.erase(output);
  }

  void copy_into(pb::GraphProto& body, const Constants& outer) {
    std::map<std::string, std::string> copies;
    for (auto& node : *body.mutable_node())
      for (auto& input : *node.mutable_input()) {
        const auto found = outer.find(input);
        if (found == outer.end()) continue;
        const auto [copy, is_new] = copies.try_emplace(input);
        if (is_new) {
          has_copied_ = true;
          copy->second = names_.fresh(input);
          pb::TensorProto& tensor = *body.add_initializer();
          tensor = *found->second;
          tensor.set_name(copy->second);
        }
        input = copy->second;
      }
  }

  Names names_;
  bool has_copied_ = false;
};

template <class Message>
void drop_orders(Message& message) {
  auto& entries = *message.mutable_metadata_props();
  const auto kept = std::stable_partition(entries.begin(), entries.end(), [](const auto& entry) {
    return entry.key() != kIdsKey && entry.key() != kCapturesKey;
  });
  entries.erase(kept, entries.end());
}

bool has_bodies(const pb::GraphProto& graph) {
  for (const auto& node : graph.node())
    for (const auto& attribute : node.attribute())
      if (attribute.has_g() || attribute.graphs_size() > 0) return true;
  return false;
}

}  // namespace

void copy_constants_into_bodies(pb::GraphProto& graph) {
  if (!has_bodies(graph)) return;
  Copier copier(graph);
  copier.run(graph, {}, false);
  if (!copier.has_copied()) return;
  // What an export noted of values and captures is about the graphs as they were.
  for_each_graph(graph, [](pb::GraphProto& one) {
    drop_orders(one);
    for (auto& node : *one.mutable_node()) drop_orders(node);
  });
}

}  // namespace collage
