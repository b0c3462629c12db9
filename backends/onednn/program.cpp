#include "program.h"

#include <array>
#include <tuple>

#include "backends/common/fields/json_fields.h"
#include "base/json.h"
#include "base/json_numbers.h"
#include "check_program.h"
#include "library.h"
#include "primitives/split.h"

namespace collage::onednn {
namespace {

using json_fields::enum_of;
using json_fields::Field;
using json_fields::get;
using json_fields::put;
using json_fields::word_of;
using nlohmann::json;

constexpr std::array kRoles = {"input", "output", "constant", "temporary", "literal"};
constexpr std::array kPostKinds = {"eltwise", "binary", "sum", "prelu", "depthwise"};
constexpr std::array kOpKinds = {"convolution", "deconvolution", "matmul", "inner_product", "pooling", "eltwise",
                                 "binary",      "prelu",         "concat", "resampling",    "softmax", "layer_norm",
                                 "batch_norm",  "reduction",     "lrn",    "reorder",       "split"};

// Left out where they have their default.
constexpr std::tuple kTensorFields{
    Field{"strides", &TensorInfo::strides},     Field{"stored", &TensorInfo::stored},
    Field{"diagonal", &TensorInfo::diagonal},   Field{"offset", &TensorInfo::offset},
    Field{"positions", &TensorInfo::positions}, Field{"scale", &TensorInfo::scale},
    Field{"numbers", &TensorInfo::numbers},     Field{"split_axis", &TensorInfo::split_axis}};
constexpr std::tuple kPostFields{Field{"algorithm", &PostOp::algorithm}, Field{"alpha", &PostOp::alpha},
                                 Field{"beta", &PostOp::beta},           Field{"tensor", &PostOp::tensor},
                                 Field{"second", &PostOp::second},       Field{"kernel", &PostOp::kernel},
                                 Field{"stride", &PostOp::stride},       Field{"padding", &PostOp::padding}};
constexpr std::tuple kOpFields{Field{"algorithm", &Op::algorithm},
                               Field{"kernel", &Op::kernel},
                               Field{"strides", &Op::strides},
                               Field{"dilations", &Op::dilations},
                               Field{"begin", &Op::begin},
                               Field{"end", &Op::end},
                               Field{"axis", &Op::axis},
                               Field{"alpha", &Op::alpha},
                               Field{"beta", &Op::beta},
                               Field{"epsilon", &Op::epsilon},
                               Field{"family", &Op::family},
                               Field{"implementation", &Op::implementation},
                               Field{"only_if_apart", &Op::only_if_apart}};

json json_of(const TensorInfo& tensor) {
  json object = {{"role", word_of(kRoles, tensor.role)},
                 {"index", tensor.index},
                 {"type", collage::name_of(tensor.type)},
                 {"extents", tensor.extents},
                 {"layout", name_of(tensor.layout)}};
  put(object, tensor, kTensorFields);
  return object;
}

TensorInfo tensor_of(const json& object) {
  TensorInfo tensor;
  tensor.role = enum_of<Role>(kRoles, object.at("role"));
  tensor.index = object.at("index");
  const auto type = element_type_of(object.at("type").get<std::string>());
  const auto layout = layout_of(std::string_view(object.at("layout").get_ref<const std::string&>()));
  if (!type || !layout) throw std::runtime_error("unknown type or layout");
  tensor.type = *type;
  tensor.layout = *layout;
  object.at("extents").get_to(tensor.extents);
  get(object, tensor, kTensorFields);
  return tensor;
}

json json_of(const PostOp& post) {
  json object = {{"kind", word_of(kPostKinds, post.kind)}};
  put(object, post, kPostFields);
  return object;
}

PostOp post_of(const json& object) {
  PostOp post;
  post.kind = enum_of<PostOp::Kind>(kPostKinds, object.at("kind"));
  get(object, post, kPostFields);
  return post;
}

json json_of(const Scaling& scaling) {
  return {scaling.source,       scaling.source_zero, scaling.weights,
          scaling.weights_zero, scaling.result,      scaling.result_zero};
}

Scaling scaling_of(const json& list) {
  const auto tensors = list.get<std::array<int, 6>>();
  return {.source = tensors[0],
          .source_zero = tensors[1],
          .weights = tensors[2],
          .weights_zero = tensors[3],
          .result = tensors[4],
          .result_zero = tensors[5]};
}

json json_of(const Op& op) {
  json object = {{"kind", word_of(kOpKinds, op.kind)}, {"inputs", op.inputs}, {"output", op.output}};
  put(object, op, kOpFields);
  if (op.scaling != Scaling()) object["scaling"] = json_of(op.scaling);
  for (const PostOp& post : op.post) object["post"].push_back(json_of(post));
  return object;
}

Op op_of(const json& object) {
  Op op;
  op.kind = enum_of<OpKind>(kOpKinds, object.at("kind"));
  object.at("inputs").get_to(op.inputs);
  object.at("output").get_to(op.output);
  get(object, op, kOpFields);
  if (const auto scaling = object.find("scaling"); scaling != object.end()) op.scaling = scaling_of(*scaling);
  if (const auto posts = object.find("post"); posts != object.end())
    for (const json& post : *posts) op.post.push_back(post_of(post));
  return op;
}

}  // namespace

ElementType value_type(const TensorInfo& tensor) {
  return tensor.type == ElementType::kBfloat16 ? ElementType::kFloat32 : tensor.type;
}

bool is_dense(const TensorInfo& tensor) {
  return tensor.strides.empty() ||
         (tensor.layout == Layout::kPlain && tensor.strides == row_major_strides(tensor.extents));
}

std::size_t row_axis(const TensorInfo& tensor) {
  return tensor.layout == Layout::kChannelsLast ? 1 : tensor.extents.size() - 1;
}

Extents unsplit_extents(const TensorInfo& tensor) {
  Extents extents = tensor.extents;
  if (tensor.split_axis >= 0) extents[static_cast<std::size_t>(tensor.split_axis)] /= kSplitParts;
  return extents;
}

Op operation_of(const std::vector<PostOp>& posts, int source, int output) {
  const PostOp& first = posts[0];
  Op op{.kind = OpKind::kEltwise,
        .algorithm = first.algorithm,
        .inputs = {source},
        .output = output,
        .alpha = first.alpha,
        .beta = first.beta};
  if (first.kind != PostOp::Kind::kEltwise) {
    op.kind = first.kind == PostOp::Kind::kBinary ? OpKind::kBinary : OpKind::kPrelu;
    op.inputs.push_back(first.tensor);
  }
  op.post.assign(posts.begin() + 1, posts.end());
  return op;
}

std::string to_json(const Program& program, int threads) {
  json object = {{"schema", "onednn-program/1"}, {"threads", threads}, {"in_place", program.in_place}};
  for (const TensorInfo& tensor : program.tensors) object["tensors"].push_back(json_of(tensor));
  for (const Op& op : program.ops) object["ops"].push_back(json_of(op));
  if (program.is_prepared) object["prepared"] = true;
  return object.dump();
}

Result<StoredProgram> parse_program(std::string_view text) {
  try {
    const json object = parsed_json(text);
    StoredProgram stored;
    if (object.at("schema") != "onednn-program/1") throw std::runtime_error("unknown schema");
    stored.threads = object.at("threads");
    object.at("in_place").get_to(stored.program.in_place);
    stored.program.is_prepared = object.value("prepared", false);
    for (const json& tensor : object.at("tensors")) stored.program.tensors.push_back(tensor_of(tensor));
    for (const json& op : object.at("ops")) stored.program.ops.push_back(op_of(op));
    COLLAGE_TRY_VOID(check_program(stored.program));
    return stored;
  } catch (const std::exception& exception) {
    return fail(ExitCode::kBadInput, "backend/bad-artifact", kBackendKind, exception.what(),
                "an artifact of this backend");
  }
}

}  // namespace collage::onednn
