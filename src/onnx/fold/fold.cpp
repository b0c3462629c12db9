#include "onnx/fold/fold.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <set>

#include "onnx/fold/dense.h"
#include "onnx/fold/fold_operators.h"

namespace collage {
namespace {

/// What a graph sees: known values and declared types, its own first and then those of the graphs around it.
struct Scope {
  const Scope* outer = nullptr;
  std::map<std::string, SmallValue> values;
  std::map<std::string, const pb::TypeProto*> types;
  std::set<std::string> opaque;  ///< made here, value not known: hides an outer value of the same name

  [[nodiscard]] const SmallValue* value(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->outer) {
      if (const auto found = scope->values.find(name); found != scope->values.end()) return &found->second;
      if (scope->opaque.contains(name)) return nullptr;
    }
    return nullptr;
  }
  [[nodiscard]] const pb::TypeProto* type(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->outer)
      if (const auto found = scope->types.find(name); found != scope->types.end()) return found->second;
    return nullptr;
  }
  [[nodiscard]] std::optional<std::vector<std::int64_t>> shape(const std::string& name) const {
    const pb::TypeProto* found = type(name);
    if (!found || !found->has_tensor_type() || !found->tensor_type().has_shape()) return std::nullopt;
    std::vector<std::int64_t> extents;
    for (const auto& dim : found->tensor_type().shape().dim()) {
      if (!dim.has_dim_value() || dim.dim_value() < 0) return std::nullopt;
      extents.push_back(dim.dim_value());
    }
    return extents;
  }
};

/// Types of initialisers that have none in value_info; they live as long as the walk.
pb::TypeProto type_of(const pb::TensorProto& tensor) {
  pb::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(tensor.data_type());
  auto* shape = type.mutable_tensor_type()->mutable_shape();
  for (const std::int64_t dim : tensor.dims()) shape->add_dim()->set_dim_value(dim);
  return type;
}

class Folder {
 public:
  int run(pb::GraphProto& graph, const Scope* outer) {
    Scope scope{.outer = outer, .values = {}, .types = {}, .opaque = {}};
    std::vector<pb::TypeProto> initialiser_types;
    open(graph, scope, initialiser_types);
    std::set<std::string> outputs;
    for (const auto& output : graph.output()) outputs.insert(output.name());

    int folded = 0;
    google::protobuf::RepeatedPtrField<pb::NodeProto> kept;
    for (auto& node : *graph.mutable_node()) {
      folded += run_bodies(node, scope);
      auto results = evaluate(node, scope);
      const bool makes_output =
          std::ranges::any_of(node.output(), [&](const std::string& name) { return outputs.contains(name); });
      if (!results)
        for (const auto& name : node.output()) scope.opaque.insert(name);
      if (results && !makes_output) {
        for (std::size_t i = 0; i < results->size(); ++i)
          if (const std::string& name = node.output(static_cast<int>(i)); !name.empty())
            *graph.add_initializer() = write_small((*results)[i], name);
        ++folded;
      }
      if (results)
        for (std::size_t i = 0; i < results->size(); ++i)
          scope.values.insert_or_assign(node.output(static_cast<int>(i)), std::move((*results)[i]));
      if (!results || makes_output) kept.Add()->Swap(&node);
    }
    graph.mutable_node()->Swap(&kept);
    return folded;
  }

 private:
  static void open(const pb::GraphProto& graph, Scope& scope, std::vector<pb::TypeProto>& initialiser_types) {
    for (const auto& value : graph.value_info()) scope.types[value.name()] = &value.type();
    for (const auto& value : graph.output()) scope.types.emplace(value.name(), &value.type());
    for (const auto& value : graph.input()) {
      scope.types[value.name()] = &value.type();
      scope.opaque.insert(value.name());
    }
    initialiser_types.reserve(static_cast<std::size_t>(graph.initializer_size()));
    for (const auto& tensor : graph.initializer()) {
      scope.types[tensor.name()] = &initialiser_types.emplace_back(type_of(tensor));
      if (auto value = read_small(tensor))
        scope.values.emplace(tensor.name(), std::move(*value));
      else
        scope.opaque.insert(tensor.name());
    }
  }

  int run_bodies(pb::NodeProto& node, const Scope& scope) {
    int folded = 0;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) folded += run(*attribute.mutable_g(), &scope);
      for (auto& body : *attribute.mutable_graphs()) folded += run(body, &scope);
    }
    return folded;
  }

  static std::optional<std::vector<SmallValue>> evaluate(const pb::NodeProto& node, const Scope& scope) {
    if (!is_standard(node)) return std::nullopt;
    std::vector<const SmallValue*> inputs;
    for (const auto& name : node.input()) inputs.push_back(name.empty() ? nullptr : scope.value(name));
    auto results = fold_node(
        {.node = node, .inputs = inputs, .shape_of = [&](const std::string& name) { return scope.shape(name); }});
    if (!results || results->size() != static_cast<std::size_t>(node.output_size())) return std::nullopt;
    return results;
  }
};

std::unexpected<Error> no_value(const pb::NodeProto& node) {
  return fail(ExitCode::kBadInput, "import/invalid-model", describe(node), "no value",
              "one of value, sparse_value, ...");
}

/// The tensor of a Constant node.
Result<pb::TensorProto> constant_tensor(const pb::NodeProto& node, DenseTensors& dense) {
  if (node.attribute_size() != 1) return no_value(node);
  const auto& attribute = node.attribute(0);
  const std::string& name = attribute.name();
  pb::TensorProto tensor;
  if (name == "value" && attribute.has_t()) {
    tensor = attribute.t();
  } else if (name == "sparse_value" && attribute.has_sparse_tensor()) {
    COLLAGE_TRY(tensor, dense.dense(attribute.sparse_tensor(), describe(node)));
  } else if (name == "value_int") {
    tensor = int64_tensor("", {}, {attribute.i()});
  } else if (name == "value_float") {
    tensor = float_tensor("", {}, {attribute.f()});
  } else if (name == "value_ints") {
    tensor = int64_tensor("", {attribute.ints_size()}, {attribute.ints().begin(), attribute.ints().end()});
  } else if (name == "value_floats") {
    tensor = float_tensor("", {attribute.floats_size()}, {attribute.floats().begin(), attribute.floats().end()});
  } else if (name == "value_string" || name == "value_strings") {
    tensor.set_data_type(pb::TensorProto::STRING);
    if (name == "value_strings") tensor.add_dims(attribute.strings_size());
    if (name == "value_string") tensor.add_string_data(attribute.s());
    for (const auto& text : attribute.strings()) tensor.add_string_data(text);
  } else {
    return no_value(node);
  }
  tensor.set_name(node.output(0));
  return tensor;
}

/// Those of one graph, without its bodies.
Result<void> constants_of(pb::GraphProto& graph, DenseTensors& dense) {
  for (const auto& sparse : graph.sparse_initializer()) {
    const std::string where = "sparse initialiser '" + sparse.values().name() + "'";
    COLLAGE_TRY(*graph.add_initializer(), dense.dense(sparse, where));
  }
  graph.clear_sparse_initializer();
  google::protobuf::RepeatedPtrField<pb::NodeProto> kept;
  for (auto& node : *graph.mutable_node()) {
    if (!is_standard_op(node, "Constant") || node.output_size() != 1) {
      kept.Add()->Swap(&node);
      continue;
    }
    COLLAGE_TRY(*graph.add_initializer(), constant_tensor(node, dense));
  }
  graph.mutable_node()->Swap(&kept);
  return {};
}

/// Every name that a node or an output of the graph or of a body reads. Names are unique along a scope chain, so one
/// set over all graphs keeps enough.
std::set<std::string> names_read(const pb::GraphProto& graph) {
  std::set<std::string> read;
  for_each_graph(graph, [&](const pb::GraphProto& one) {
    for (const auto& output : one.output()) read.insert(output.name());
    for (const auto& node : one.node()) read.insert(node.input().begin(), node.input().end());
  });
  return read;
}

bool may_omit(const pb::OpSchema& schema, int output) {
  const auto& outputs = schema.outputs();
  return output < static_cast<int>(outputs.size()) &&
         outputs[static_cast<std::size_t>(output)].GetOption() == pb::OpSchema::Optional;
}

}  // namespace

Result<void> constants_to_initialisers(pb::GraphProto& graph, const ImportLimits& limits) {
  DenseTensors dense(limits);
  Result<void> result;
  for_each_graph(graph, [&](pb::GraphProto& one) {
    if (result) result = constants_of(one, dense);
  });
  return result;
}

int fold_shape_arithmetic(pb::GraphProto& graph) { return Folder().run(graph, nullptr); }

void drop_unused_outputs(pb::ModelProto& model) {
  const std::set<std::string> read = names_read(model.graph());
  const std::int64_t opset = opset_of(model, "");
  for_each_graph(*model.mutable_graph(), [&](pb::GraphProto& graph) {
    for (auto& node : *graph.mutable_node()) {
      if (!is_standard(node) || node.output_size() < 2) continue;
      const auto* schema = pb::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset));
      auto& outputs = *node.mutable_output();
      while (schema && outputs.size() > 1 && !read.contains(outputs[outputs.size() - 1]) &&
             may_omit(*schema, outputs.size() - 1))
        outputs.RemoveLast();
    }
  });
}

void drop_unused_initialisers(pb::GraphProto& graph) {
  const std::set<std::string> read = names_read(graph);
  for_each_graph(graph, [&](pb::GraphProto& one) {
    auto& tensors = *one.mutable_initializer();
    const auto kept = std::stable_partition(tensors.begin(), tensors.end(),
                                            [&](const auto& tensor) { return read.contains(tensor.name()); });
    tensors.erase(kept, tensors.end());
  });
}

}  // namespace collage
