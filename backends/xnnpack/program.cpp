#include "program.h"

#include <array>
#include <cmath>

#include "backends/common/fields/json_fields.h"
#include "base/json.h"
#include "base/json_numbers.h"
#include "check_program.h"

namespace collage::xnnpack {
namespace {

using json_fields::enum_of;
using json_fields::get;
using json_fields::put;
using json_fields::word_of;
using nlohmann::json;

constexpr const char* kSchema = "xnnpack-program/1";
constexpr std::array kRoles = {"input", "output", "constant", "temporary", "literal"};
constexpr std::array kOpKinds = {"convolution",
                                 "depthwise_convolution",
                                 "deconvolution",
                                 "fully_connected",
                                 "batch_matmul",
                                 "max_pooling",
                                 "average_pooling",
                                 "reduction",
                                 "unary",
                                 "binary",
                                 "softmax",
                                 "transpose",
                                 "reshape",
                                 "concat",
                                 "pad",
                                 "resize"};

json json_of(const TensorInfo& tensor) {
  json object = {{"role", word_of(kRoles, tensor.role)}, {"extents", tensor.extents}};
  put(object, "index", tensor.index);
  if (tensor.type != ElementType::kFloat32) object["type"] = name_of(tensor.type);
  put(object, "scales", tensor.scales);
  put(object, "channel_axis", tensor.channel_axis, -1);
  put(object, "zero", tensor.zero);
  put(object, "numbers", tensor.numbers);
  put(object, "gathered", tensor.gathered);
  put(object, "steps", tensor.steps);
  put(object, "scale", tensor.scale, 1.F);
  return object;
}

ElementType type_of(const std::string& name) {
  const auto type = element_type_of(name);
  const bool is_known = type == ElementType::kInt8 || type == ElementType::kUint8 || type == ElementType::kInt32;
  if (!is_known) throw std::runtime_error("no element type " + name);
  return *type;
}

TensorInfo tensor_of(const json& object) {
  TensorInfo tensor;
  tensor.role = enum_of<Role>(kRoles, object.at("role"));
  object.at("extents").get_to(tensor.extents);
  get(object, "index", tensor.index);
  if (object.contains("type")) tensor.type = type_of(object.at("type").get<std::string>());
  get(object, "scales", tensor.scales);
  get(object, "channel_axis", tensor.channel_axis);
  get(object, "zero", tensor.zero);
  get(object, "numbers", tensor.numbers);
  get(object, "gathered", tensor.gathered);
  get(object, "steps", tensor.steps);
  get(object, "scale", tensor.scale);
  return tensor;
}

json json_of(const Op& op) {
  json object = {{"kind", word_of(kOpKinds, op.kind)}, {"inputs", op.inputs}, {"output", op.output}};
  put(object, "algorithm", op.algorithm);
  put(object, "kernel", op.kernel);
  put(object, "strides", op.strides);
  put(object, "dilations", op.dilations);
  put(object, "begin", op.begin);
  put(object, "end", op.end);
  put(object, "adjustment", op.adjustment);
  put(object, "groups", op.groups, std::int64_t{1});
  put(object, "axes", op.axes);
  put(object, "transposed", op.transposed);
  put(object, "keeps_axes", op.keeps_axes);
  put(object, "alpha", op.alpha);
  // JSON has no infinity: a missing bound is one.
  if (std::isfinite(op.least)) object["least"] = op.least;
  if (std::isfinite(op.most)) object["most"] = op.most;
  return object;
}

Op op_of(const json& object) {
  Op op;
  op.kind = enum_of<OpKind>(kOpKinds, object.at("kind"));
  object.at("inputs").get_to(op.inputs);
  object.at("output").get_to(op.output);
  get(object, "algorithm", op.algorithm);
  get(object, "kernel", op.kernel);
  get(object, "strides", op.strides);
  get(object, "dilations", op.dilations);
  get(object, "begin", op.begin);
  get(object, "end", op.end);
  get(object, "adjustment", op.adjustment);
  get(object, "groups", op.groups);
  get(object, "axes", op.axes);
  get(object, "transposed", op.transposed);
  get(object, "keeps_axes", op.keeps_axes);
  get(object, "alpha", op.alpha);
  get(object, "least", op.least);
  get(object, "most", op.most);
  return op;
}

}  // namespace

std::unexpected<Error> bad_artifact(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "xnnpack", std::move(saw), "an artifact of this backend");
}

std::string to_json(const Program& program) {
  json object = {{"schema", kSchema}, {"tensors", json::array()}, {"ops", json::array()}};
  for (const TensorInfo& tensor : program.tensors) object["tensors"].push_back(json_of(tensor));
  for (const Op& op : program.ops) object["ops"].push_back(json_of(op));
  put(object, "prepared", program.is_prepared);
  return object.dump();
}

Result<Program> parse_program(std::string_view text) {
  try {
    const json object = parsed_json(text);
    if (object.at("schema") != kSchema) throw std::runtime_error("unknown schema");
    Program program;
    for (const json& tensor : object.at("tensors")) program.tensors.push_back(tensor_of(tensor));
    for (const json& op : object.at("ops")) program.ops.push_back(op_of(op));
    get(object, "prepared", program.is_prepared);
    COLLAGE_TRY_VOID(check_program(program));
    return program;
  } catch (const std::exception& exception) {
    return bad_artifact(exception.what());
  }
}

}  // namespace collage::xnnpack
