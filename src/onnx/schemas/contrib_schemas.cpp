#include "onnx/schemas/contrib_schemas.h"

#include <onnx/defs/shape_inference.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx/parse.h"
#include "onnx/proto.h"
#include "onnx/schemas/inference.h"
#include "onnx/schemas/quantised_schemas.h"
#include "onnx/small_value.h"

namespace collage {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";
constexpr const char* kLearning = "ai.onnx.ml";

Dimension times(std::int64_t factor, const Dimension& dim) {
  Dimension result;
  if (dim.has_dim_value()) result.set_dim_value(factor * dim.dim_value());
  return result;
}

/// Floats in the shape of the first input.
void floats_as_first(InferenceContext& context) {
  pb::updateOutputElemType(context, 0, pb::TensorProto::FLOAT);
  if (has_input_shape(context, 0)) pb::propagateShapeFromInputToOutput(context, 0, 0);
}

/// Floats, so many for each row of the first input: `columns` of the node, nothing when that cannot be told.
auto floats_by_row(std::function<std::int64_t(InferenceContext&)> columns) {
  return [columns = std::move(columns)](InferenceContext& context) {
    pb::updateOutputElemType(context, 0, pb::TensorProto::FLOAT);
    if (!has_input_shape(context, 0) || input_shape(context, 0).dim_size() != 2) return;
    pb::TensorShapeProto made;
    *made.add_dim() = input_shape(context, 0).dim(0);
    made.add_dim()->set_dim_value(columns(context));
    pb::updateOutputShape(context, 0, made);
  };
}

std::int64_t sum_of_ints(InferenceContext& context, const char* name) {
  const auto* const attribute = context.getAttribute(name);
  if (attribute == nullptr) return 0;
  return std::accumulate(attribute->ints().begin(), attribute->ints().end(), std::int64_t{0});
}

/// (x, skip, gamma, ...) -> y, mean, inverse deviation, x + skip.
void infer_skip_layer_norm(InferenceContext& context) {
  pass_through(context, 0, 0);
  pass_through(context, 0, 3);
  for (const std::size_t statistic : {std::size_t{1}, std::size_t{2}}) {
    if (!has_output(context, statistic) || !has_input_shape(context, 0)) continue;
    auto* type = context.getOutputType(statistic)->mutable_tensor_type();
    type->set_elem_type(pb::TensorProto::FLOAT);
    *type->mutable_shape() = input_shape(context, 0);
    if (const int rank = type->shape().dim_size(); rank > 0)
      type->mutable_shape()->mutable_dim(rank - 1)->set_dim_value(1);
  }
}

/// (input_ids [b, s], segment_ids, word_embedding [v, h], ...) -> [b, s, h], mask_index [b], embedding_sum [b, s, h],
/// in the element type of input `floats`.
void infer_embed_layer_norm(InferenceContext& context, std::size_t floats) {
  if (context.getNumInputs() < 3) return;
  pass_element(context, floats, 0);
  pass_element(context, floats, 2);
  if (has_output(context, 1)) pb::updateOutputElemType(context, 1, pb::TensorProto::INT32);
  if (!has_input_shape(context, 0) || !has_input_shape(context, 2)) return;
  const auto& ids = input_shape(context, 0);
  const auto& table = input_shape(context, 2);
  if (ids.dim_size() != 2 || table.dim_size() != 2) return;
  pb::TensorShapeProto out = ids;
  *out.add_dim() = table.dim(1);
  pb::updateOutputShape(context, 0, out);
  if (has_output(context, 2)) pb::updateOutputShape(context, 2, out);
  if (has_output(context, 1)) pb::updateOutputShape(context, 1, {ids.dim(0)});
}

/// The width of V in a packed [.., q + k + v] weight.
Dimension value_width(InferenceContext& context, const Dimension& packed) {
  Dimension width;
  if (const auto* sizes = context.getAttribute("qkv_hidden_sizes"); sizes && sizes->ints_size() == 3)
    width.set_dim_value(sizes->ints(2));
  else if (packed.has_dim_value())
    width.set_dim_value(packed.dim_value() / 3);
  return width;
}

/// Inputs of an attention that stand at another place where it is quantised.
struct AttentionInputs {
  std::size_t floats = 0;  ///< one in the element type of the outputs
  std::size_t past = 0;
};

/// (input [b, s, i], weights [i, 3h], ..., past [2, b, heads, p, d]) -> [b, s, h], present [2, b, heads, p+s, d].
void infer_attention(InferenceContext& context, AttentionInputs at) {
  if (context.getNumInputs() < 2) return;
  pass_element(context, at.floats, 0);
  pass_element(context, at.floats, 1);
  if (!has_input_shape(context, 0) || !has_input_shape(context, 1)) return;
  const auto& input = input_shape(context, 0);
  const auto& weights = input_shape(context, 1);
  if (input.dim_size() != 3 || weights.dim_size() != 2) return;
  pb::TensorShapeProto out;
  *out.add_dim() = input.dim(0);
  *out.add_dim() = input.dim(1);
  *out.add_dim() = value_width(context, weights.dim(1));
  pb::updateOutputShape(context, 0, out);
  if (!has_output(context, 1) || !has_input_shape(context, at.past) || input_shape(context, at.past).dim_size() != 5)
    return;
  pb::TensorShapeProto present = input_shape(context, at.past);
  auto* length = present.mutable_dim(3);
  const Dimension past = *length;
  length->Clear();
  if (int_of(context, "past_present_share_buffer", 0) != 0)
    *length = past;
  else if (past.has_dim_value() && input.dim(1).has_dim_value())
    length->set_dim_value(past.dim_value() + input.dim(1).dim_value());
  pb::updateOutputShape(context, 1, present);
}

/// (query [b, s, h], key, value [b, l, v], ...) -> [b, s, v].
void infer_multi_head_attention(InferenceContext& context) {
  if (!context.getInputType(0)) return;
  pb::propagateElemTypeFromInputToOutput(context, 0, 0);
  if (!has_input_shape(context, 0) || input_shape(context, 0).dim_size() != 3) return;
  pb::TensorShapeProto out = input_shape(context, 0);
  if (has_input_shape(context, 2)) {
    const auto& value = input_shape(context, 2);
    if (value.dim_size() == 3)
      *out.mutable_dim(2) = value.dim(2);
    else if (value.dim_size() == 4)
      *out.mutable_dim(2) = times(int_of(context, "num_heads", 0), value.dim(1));
    else
      return;
  }
  pb::updateOutputShape(context, 0, out);
}

/// MatMul whose operands may be transposed in their last two dimensions.
void infer_fused_mat_mul(InferenceContext& context) {
  pass_element(context, 0, 0);
  if (int_of(context, "transBatchA", 0) != 0 || int_of(context, "transBatchB", 0) != 0) return;
  infer_product(context, 0, 1, {.a = int_of(context, "transA", 0) != 0, .b = int_of(context, "transB", 0) != 0});
}

/// A [.., k] with packed weights of N columns -> [.., N].
void infer_mat_mul_n_bits(InferenceContext& context) {
  if (!context.getInputType(0)) return;
  pb::propagateElemTypeFromInputToOutput(context, 0, 0);
  const std::int64_t columns = int_of(context, "N", -1);
  if (columns < 0 || !has_input_shape(context, 0) || input_shape(context, 0).dim_size() == 0) return;
  pb::TensorShapeProto out = input_shape(context, 0);
  out.mutable_dim(out.dim_size() - 1)->set_dim_value(columns);
  pb::updateOutputShape(context, 0, out);
}

bool has_long_vector(const pb::DataPropagationContext& context) {
  for (std::size_t i = 0; i < context.getNumInputs(); ++i) {
    const pb::TypeProto* type = context.getInputType(i);
    if (!type || !type->tensor_type().has_shape() || type->tensor_type().shape().dim_size() != 1) continue;
    if (type->tensor_type().shape().dim(0).dim_value() > static_cast<std::int64_t>(kMostSmallElements)) return true;
  }
  return false;
}

using Types = std::vector<pb::TypeProto>;

/// What one branch of an If gives; throws when the branch does not fit the shapes that come in.
Types branch_types(InferenceContext& context, const char* branch) {
  Types types;
  auto* inferencer = context.getGraphAttributeInferencer(branch);
  if (!inferencer) fail_shape_inference("an If without ", branch);
  for (const pb::TypeProto* type : inferencer->doInferencing({}, {})) types.push_back(type ? *type : pb::TypeProto());
  return types;
}

/// Nothing when the branch does not fit. A failure of ONNX's data propagation is no evidence against the branch.
std::optional<Types> types_if_fitting(InferenceContext& context, const char* branch) {
  try {
    return branch_types(context, branch);
  } catch (const pb::InferenceError& error) {
    if (std::string_view(error.what()).contains("already exists")) throw;
    return std::nullopt;
  }
}

/// The branch a known condition takes.
const char* branch_taken(InferenceContext& context) {
  const pb::TensorProto* condition = context.getInputData(0);
  if (!condition) return nullptr;
  const auto value = read_small(*condition);
  if (!value || value->ints.size() != 1) return nullptr;
  return value->ints.front() != 0 ? "then_branch" : "else_branch";
}

/// Shape inference of If, as ONNX's own, with two additions. A known condition selects the branch. When one branch
/// cannot have valid shapes for the given inputs, every successful run takes the other one, so the node gets its types.
/// Each branch is inferred once only, because ONNX's data propagation rejects a value that it meets twice.
void infer_if(InferenceContext& context, UnfitBranches& unfit) {
  std::optional<Types> types;
  if (const char* taken = branch_taken(context)) {
    types = branch_types(context, taken);
  } else {
    types = types_if_fitting(context, "then_branch");
    if (!types) {
      types = branch_types(context, "else_branch");
      unfit[context.getDisplayName()] = "then_branch";
    } else if (const auto other = types_if_fitting(context, "else_branch")) {
      for (std::size_t i = 0; i < std::min(types->size(), other->size()); ++i)
        pb::UnionTypeInfo((*other)[i], (*types)[i]);
    } else {
      unfit[context.getDisplayName()] = "else_branch";
    }
  }
  for (std::size_t i = 0; i < std::min(types->size(), context.getNumOutputs()); ++i)
    if ((*types)[i].value_case() != pb::TypeProto::VALUE_NOT_SET) *context.getOutputType(i) = (*types)[i];
}

/// A map becomes one row with a number for each known key.
void infer_dict_vectorizer(InferenceContext& context) {
  const pb::TypeProto* const type = context.getInputType(0);
  if (type == nullptr || !type->map_type().value_type().has_tensor_type()) return;
  std::int64_t keys = 0;
  for (const char* name : {"string_vocabulary", "int64_vocabulary"})
    if (const pb::AttributeProto* const known = context.getAttribute(name))
      keys += known->strings_size() + known->ints_size();
  auto& made = *context.getOutputType(0)->mutable_tensor_type();
  made.set_elem_type(type->map_type().value_type().tensor_type().elem_type());
  made.mutable_shape()->add_dim()->set_dim_value(1);
  made.mutable_shape()->add_dim()->set_dim_value(keys);
}

}  // namespace

Schemas::Schemas(UnfitBranches& unfit) {
  const auto add = [&](const char* domain, const char* op, pb::InferenceFunction infer) {
    pb::OpSchema schema(op, __FILE__, __LINE__);
    schema.SetDomain(domain).SinceVersion(1).TypeAndShapeInferenceFunction(std::move(infer));
    ours_.emplace(std::pair(domain, op), std::move(schema));
  };
  add("", "If", [&unfit](InferenceContext& context) { infer_if(context, unfit); });
  add("", "MeanVarianceNormalization", same_as_first);  // ONNX's own trips over the default of its attribute
  add("", "GroupNormalization", same_as_first);         // ONNX gives it a body and no inference
  // ONNX has these without inference.
  add(kLearning, "Imputer", same_as_first);
  add(kLearning, "Normalizer", floats_as_first);
  add(kLearning, "Scaler", floats_as_first);
  add(kLearning, "LinearRegressor", floats_by_row([](auto& context) { return int_of(context, "targets", 1); }));
  add(kLearning, "SVMRegressor", floats_by_row([](auto&) { return 1; }));
  add(kLearning, "FeatureVectorizer",
      floats_by_row([](auto& context) { return sum_of_ints(context, "inputdimensions"); }));
  add(kLearning, "DictVectorizer", infer_dict_vectorizer);
  add(kMicrosoft, "FusedConv", same_as("Conv", 11));
  add(kMicrosoft, "FusedGemm", same_as("Gemm", 13));
  for (const char* op : {"FastGelu", "Gelu", "QuickGelu", "RotaryEmbedding", "SimplifiedLayerNormalization"})
    add(kMicrosoft, op, same_as_first);
  add(kMicrosoft, "BiasGelu", broadcast_of(0, 1));
  add(kMicrosoft, "SkipLayerNormalization", infer_skip_layer_norm);
  add(kMicrosoft, "SkipSimplifiedLayerNormalization", infer_skip_layer_norm);
  add(kMicrosoft, "EmbedLayerNormalization", [](auto& context) { infer_embed_layer_norm(context, 2); });
  add(kMicrosoft, "QEmbedLayerNormalization", [](auto& context) { infer_embed_layer_norm(context, 8); });
  add(kMicrosoft, "Attention", [](auto& context) { infer_attention(context, {.floats = 0, .past = 4}); });
  add(kMicrosoft, "QAttention", [](auto& context) { infer_attention(context, {.floats = 2, .past = 8}); });
  add(kMicrosoft, "MultiHeadAttention", infer_multi_head_attention);
  add(kMicrosoft, "FusedMatMul", infer_fused_mat_mul);
  add(kMicrosoft, "MatMulNBits", infer_mat_mul_n_bits);
  for (auto& [op, infer] : quantised_inference()) add(kMicrosoft, op.c_str(), std::move(infer));
}

const pb::OpSchema* Schemas::with_bounded_propagation(const pb::OpSchema* schema) const {
  if (!schema || !schema->has_data_propagation_function()) return schema;
  const auto [found, is_new] = bounded_.try_emplace(schema, *schema);
  if (is_new) {
    found->second.PartialDataPropagationFunction(
        [propagate = schema->GetDataPropagationFunction()](pb::DataPropagationContext& context) {
          if (!has_long_vector(context)) propagate(context);
        });
  }
  return &found->second;
}

const pb::OpSchema* Schemas::GetSchema(const std::string& key, int max_inclusive_version,
                                       const std::string& domain) const {
  const auto* registry = pb::OpSchemaRegistry::Instance();
  if (domain == kFinalDomain)
    return with_bounded_propagation(registry->GetSchema(key, static_cast<int>(kCanonicalOpset), ""));
  const auto ours = ours_.find({domain, key});
  if ((domain.empty() || domain == kLearning) && ours != ours_.end()) return &ours->second;
  if (const auto* known = registry->GetSchema(key, max_inclusive_version, domain))
    return with_bounded_propagation(known);
  return ours == ours_.end() ? nullptr : &ours->second;
}

}  // namespace collage
