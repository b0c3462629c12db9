#include "onnx/attribute_proto.h"

#include <algorithm>

#include "onnx/tensor_proto.h"

namespace collage {
namespace {

Result<AttributeValue> read_attribute(const pb::AttributeProto& message, const std::string& where,
                                      const ReadBody& read_body) {
  using Type = pb::AttributeProto;
  switch (message.type()) {
    case Type::FLOAT:
      return AttributeValue{message.f()};
    case Type::INT:
      return AttributeValue{std::int64_t{message.i()}};
    case Type::STRING:
      return AttributeValue{message.s()};
    case Type::FLOATS:
      return AttributeValue{std::vector<float>(message.floats().begin(), message.floats().end())};
    case Type::INTS:
      return AttributeValue{std::vector<std::int64_t>(message.ints().begin(), message.ints().end())};
    case Type::STRINGS:
      return AttributeValue{std::vector<std::string>(message.strings().begin(), message.strings().end())};
    case Type::TENSOR: {
      COLLAGE_TRY(Tensor tensor, to_tensor(message.t(), where));
      return AttributeValue{std::move(tensor)};
    }
    case Type::TENSORS: {
      std::vector<Tensor> tensors;
      for (const auto& one : message.tensors()) {
        COLLAGE_TRY(Tensor tensor, to_tensor(one, where));
        tensors.push_back(std::move(tensor));
      }
      return AttributeValue{std::move(tensors)};
    }
    case Type::GRAPH: {
      COLLAGE_TRY(Body body, read_body(message.g()));
      return AttributeValue{std::move(body)};
    }
    case Type::GRAPHS: {
      std::vector<Body> bodies;
      for (const auto& one : message.graphs()) {
        COLLAGE_TRY(Body body, read_body(one));
        bodies.push_back(std::move(body));
      }
      return AttributeValue{std::move(bodies)};
    }
    default:
      return fail(ExitCode::kUnsupported, "import/unsupported-attribute", where,
                  "an attribute of kind " + std::to_string(message.type()),
                  "numbers, strings, tensors, graphs and lists of them");
  }
}

}  // namespace

Result<std::vector<Attribute>> read_attributes(const pb::NodeProto& message, const std::string& where,
                                               const ReadBody& read_body) {
  std::vector<Attribute> attributes;
  for (const auto& attribute : message.attribute()) {
    COLLAGE_TRY(AttributeValue value,
                read_attribute(attribute, where + " attribute '" + attribute.name() + "'", read_body));
    attributes.push_back({.name = attribute.name(), .value = std::move(value)});
  }
  std::ranges::stable_sort(attributes, {}, &Attribute::name);
  const auto twice = std::ranges::adjacent_find(attributes, {}, &Attribute::name);
  if (twice != attributes.end())
    return fail(ExitCode::kBadInput, "import/invalid-model", where, "attribute '" + twice->name + "' twice", "once");
  return attributes;
}

}  // namespace collage
