#include "onnx/check_tensors.h"

#include <array>
#include <limits>
#include <optional>

#include "onnx/tensor_proto.h"

namespace collage {
namespace {

std::unexpected<Error> bad_payload(const std::string& where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "import/bad-tensor", where, std::move(saw), std::move(allowed));
}

/// The fields that can hold a tensor's elements.
struct Payload {
  const char* name;
  std::uint64_t elements;
};

std::array<Payload, 7> payloads_of(const pb::TensorProto& tensor) {
  return {{{"raw_data", tensor.raw_data().size()},
           {"float_data", static_cast<std::uint64_t>(tensor.float_data_size())},
           {"int32_data", static_cast<std::uint64_t>(tensor.int32_data_size())},
           {"string_data", static_cast<std::uint64_t>(tensor.string_data_size())},
           {"int64_data", static_cast<std::uint64_t>(tensor.int64_data_size())},
           {"double_data", static_cast<std::uint64_t>(tensor.double_data_size())},
           {"uint64_data", static_cast<std::uint64_t>(tensor.uint64_data_size())}}};
}

/// Where elements of this type lie when they are not in raw_data, and how many bytes of the tensor an entry holds.
struct TypedField {
  std::string_view name;
  std::uint64_t bytes;
};

TypedField typed_field_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kComplex64:
      return {"float_data", 4};
    case ElementType::kFloat64:
    case ElementType::kComplex128:
      return {"double_data", 8};
    case ElementType::kInt64:
      return {"int64_data", 8};
    case ElementType::kUint64:
      return {"uint64_data", 8};
    case ElementType::kUint32:
      return {"uint64_data", 4};
    case ElementType::kString:
      return {"string_data", 0};
    case ElementType::kInt32:
      return {"int32_data", 4};
    case ElementType::kInt16:
    case ElementType::kUint16:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return {"int32_data", 2};
    default:
      return {"int32_data", 1};
  }
}

class TensorCheck {
 public:
  explicit TensorCheck(const ImportLimits& limits) : limits_(limits) {}

  Result<void> check(const pb::TensorProto& tensor, const std::string& where) const {
    const auto type = element_type_from(tensor.data_type());
    if (!type)
      return fail(ExitCode::kUnsupported, "import/unsupported-type", where,
                  "element type number " + std::to_string(tensor.data_type()), "1 to 26");
    if (static_cast<std::uint64_t>(tensor.dims_size()) > limits_.rank)
      return over_limit(limits_, &ImportLimits::rank, where, std::to_string(tensor.dims_size()) + " dimensions");
    COLLAGE_TRY(const Extents extents, extents_of(tensor, where));
    // extents_of has seen that the product does not wrap.
    const std::uint64_t elements = static_cast<std::uint64_t>(element_count(extents));
    if (elements > limits_.elements)
      return over_limit(limits_, &ImportLimits::elements, where, std::to_string(elements) + " elements");
    return check_payload(tensor, *type, extents, elements, where);
  }

 private:
  static Result<void> check_payload(const pb::TensorProto& tensor, ElementType type, const Extents& extents,
                                    std::uint64_t elements, const std::string& where) {
    const Payload* found = nullptr;
    const auto payloads = payloads_of(tensor);
    for (const Payload& one : payloads) {
      if (one.elements == 0) continue;
      if (found != nullptr)
        return bad_payload(where, std::string("data in ") + found->name + " and in " + one.name, "data in one field");
      found = &one;
    }
    const bool is_external = tensor.data_location() == pb::TensorProto::EXTERNAL;
    if (is_external && found != nullptr)
      return bad_payload(where, std::string("data in a file and in ") + found->name, "data in one place");
    if (is_external) return {};
    const TypedField typed = typed_field_of(type);
    if (found != nullptr && found->name != std::string_view("raw_data") && found->name != typed.name)
      return bad_payload(where, std::string("data in ") + found->name, "data in " + std::string(typed.name));
    if (type == ElementType::kString) return check_strings(found, elements, where);
    const auto bytes = checked_byte_count(type, extents);
    if (!bytes) return bad_payload(where, "dimensions that overflow", "a tensor that fits into memory");
    const bool is_raw = found != nullptr && found->name == std::string_view("raw_data");
    const std::uint64_t seen = found == nullptr ? 0 : found->elements;
    const std::uint64_t wanted = is_raw ? *bytes : *bytes / typed.bytes;
    if (seen == wanted) return {};
    return bad_payload(where, std::to_string(seen) + (is_raw ? " bytes of data" : " elements of data"),
                       std::to_string(wanted) + " for its dimensions");
  }

  static Result<void> check_strings(const Payload* found, std::uint64_t elements, const std::string& where) {
    if (found != nullptr && found->name == std::string_view("raw_data"))
      return bad_payload(where, "strings in raw_data", "strings in string_data");
    const std::uint64_t seen = found == nullptr ? 0 : found->elements;
    if (seen == elements) return {};
    return bad_payload(where, std::to_string(seen) + " strings", std::to_string(elements) + " for its dimensions");
  }

  const ImportLimits& limits_;
};

/// Every tensor of a model with what to call it; bodies are as deep as the survey of the file allows.
class TensorWalk {
 public:
  explicit TensorWalk(const ImportLimits& limits) : limits_(limits), check_(limits) {}

  Result<void> walk(const pb::GraphProto& graph) const {
    for (const auto& tensor : graph.initializer())
      COLLAGE_TRY_VOID(check_.check(tensor, "initialiser '" + tensor.name() + "'"));
    for (const auto& tensor : graph.sparse_initializer())
      COLLAGE_TRY_VOID(sparse(tensor, "sparse initialiser '" + tensor.values().name() + "'"));
    return nodes(graph.node());
  }

  Result<void> nodes(const google::protobuf::RepeatedPtrField<pb::NodeProto>& all) const {
    for (const auto& node : all)
      for (const auto& attribute : node.attribute()) COLLAGE_TRY_VOID(of_attribute(node, attribute));
    return {};
  }

 private:
  Result<void> of_attribute(const pb::NodeProto& node, const pb::AttributeProto& attribute) const {
    const auto where = [&] { return describe(node) + " attribute '" + attribute.name() + "'"; };
    if (attribute.has_t()) COLLAGE_TRY_VOID(check_.check(attribute.t(), where()));
    for (const auto& tensor : attribute.tensors()) COLLAGE_TRY_VOID(check_.check(tensor, where()));
    if (attribute.has_sparse_tensor()) COLLAGE_TRY_VOID(sparse(attribute.sparse_tensor(), where()));
    for (const auto& tensor : attribute.sparse_tensors()) COLLAGE_TRY_VOID(sparse(tensor, where()));
    if (attribute.has_g()) COLLAGE_TRY_VOID(walk(attribute.g()));
    for (const auto& body : attribute.graphs()) COLLAGE_TRY_VOID(walk(body));
    return {};
  }

  /// Its order and bounds are ONNX's checker's to look at; here that its parts are tensors and its size is one.
  Result<void> sparse(const pb::SparseTensorProto& tensor, const std::string& where) const {
    COLLAGE_TRY_VOID(check_.check(tensor.values(), where));
    COLLAGE_TRY_VOID(check_.check(tensor.indices(), where));
    pb::TensorProto dense;
    *dense.mutable_dims() = tensor.dims();
    COLLAGE_TRY(const Extents extents, extents_of(dense, where));
    const std::uint64_t elements = static_cast<std::uint64_t>(element_count(extents));
    if (elements <= limits_.elements) return {};
    return over_limit(limits_, &ImportLimits::elements, where, std::to_string(elements) + " elements");
  }

  const ImportLimits& limits_;
  TensorCheck check_;
};

/// Elements of a type whose dimensions are all known; 0 when some are not.
struct SeenType {
  std::uint64_t elements = 1;
  bool is_negative = false;
  bool wraps = false;
};

SeenType seen_type(const pb::TensorShapeProto& shape) {
  SeenType seen;
  bool is_empty = false;
  for (const auto& dim : shape.dim()) {
    if (!dim.has_dim_value()) continue;  // at least 0 of them; what is known must fit anyway
    if (dim.dim_value() < 0) seen.is_negative = true;
    if (dim.dim_value() == 0) is_empty = true;
    if (dim.dim_value() <= 0) continue;
    const auto extent = static_cast<std::uint64_t>(dim.dim_value());
    if (seen.elements > std::numeric_limits<std::uint64_t>::max() / extent)
      seen.wraps = true;
    else
      seen.elements *= extent;
  }
  if (is_empty && !seen.wraps) seen.elements = 0;
  return seen;
}

Result<void> check_value(const pb::ValueInfoProto& value, const ImportLimits& limits) {
  if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return {};
  const auto& shape = value.type().tensor_type().shape();
  const std::string where = "value '" + value.name() + "'";
  if (static_cast<std::uint64_t>(shape.dim_size()) > limits.rank)
    return over_limit(limits, &ImportLimits::rank, where, std::to_string(shape.dim_size()) + " dimensions");
  const SeenType seen = seen_type(shape);
  if (seen.is_negative)
    return fail(ExitCode::kBadInput, "import/shape-inference", where, "a negative extent", "extents of at least 0");
  if (seen.wraps || seen.elements > limits.elements)
    return over_limit(limits, &ImportLimits::elements, where,
                      (seen.wraps ? std::string("more than 2^64") : std::to_string(seen.elements)) + " elements");
  return {};
}

}  // namespace

Result<void> check_tensors(const pb::ModelProto& model, const ImportLimits& limits) {
  const TensorWalk walk(limits);
  COLLAGE_TRY_VOID(walk.walk(model.graph()));
  for (const auto& function : model.functions()) COLLAGE_TRY_VOID(walk.nodes(function.node()));
  return {};
}

Result<void> check_types(const pb::GraphProto& graph, const ImportLimits& limits) {
  for (const auto* values : {&graph.input(), &graph.output(), &graph.value_info()})
    for (const auto& value : *values) COLLAGE_TRY_VOID(check_value(value, limits));
  return {};
}

}  // namespace collage
