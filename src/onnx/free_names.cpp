#include "onnx/free_names.h"

#include <algorithm>
#include <unordered_set>

namespace collage {
namespace {

std::vector<const pb::GraphProto*> bodies_of(const pb::NodeProto& node) {
  std::vector<const pb::AttributeProto*> attributes;
  for (const auto& attribute : node.attribute()) attributes.push_back(&attribute);
  std::ranges::stable_sort(attributes, {}, [](const auto* attribute) { return attribute->name(); });
  std::vector<const pb::GraphProto*> bodies;
  for (const auto* attribute : attributes) {
    if (attribute->has_g()) bodies.push_back(&attribute->g());
    for (const auto& body : attribute->graphs()) bodies.push_back(&body);
  }
  return bodies;
}

}  // namespace

std::vector<std::string> free_names(const pb::GraphProto& message) {
  std::vector<std::string> names;
  std::unordered_set<std::string> made;
  std::unordered_set<std::string> seen;
  for (const auto& input : message.input()) made.insert(input.name());
  for (const auto& tensor : message.initializer()) made.insert(tensor.name());
  const auto read = [&](const std::string& name) {
    if (!name.empty() && !made.contains(name) && seen.insert(name).second) names.push_back(name);
  };
  for (const auto& node : message.node()) {
    for (const auto& name : node.input()) read(name);
    for (const pb::GraphProto* body : bodies_of(node))
      for (const auto& name : free_names(*body)) read(name);
    for (const auto& name : node.output()) made.insert(name);
  }
  for (const auto& output : message.output()) read(output.name());
  return names;
}

}  // namespace collage
