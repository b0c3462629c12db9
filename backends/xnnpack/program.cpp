#include "program.h"

#include <array>
#include <tuple>

#include "backends/common/fields/json_fields.h"
#include "base/json.h"
#include "base/json_numbers.h"
#include "check_program.h"

namespace collage::xnnpack {
namespace {

using json_fields::enum_of;
using json_fields::Field;
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

// Left out where they have their default. JSON has no infinity: a missing bound of an operation is one.
constexpr std::tuple kTensorFields{Field{"index", &TensorInfo::index},
                                   Field{"scales", &TensorInfo::scales},
                                   Field{"channel_axis", &TensorInfo::channel_axis},
                                   Field{"zero", &TensorInfo::zero},
                                   Field{"numbers", &TensorInfo::numbers},
                                   Field{"gathered", &TensorInfo::gathered},
                                   Field{"steps", &TensorInfo::steps},
                                   Field{"scale", &TensorInfo::scale}};
constexpr std::tuple kOpFields{Field{"algorithm", &Op::algorithm},
                               Field{"kernel", &Op::kernel},
                               Field{"strides", &Op::strides},
                               Field{"dilations", &Op::dilations},
                               Field{"begin", &Op::begin},
                               Field{"end", &Op::end},
                               Field{"adjustment", &Op::adjustment},
                               Field{"groups", &Op::groups},
                               Field{"axes", &Op::axes},
                               Field{"transposed", &Op::transposed},
                               Field{"keeps_axes", &Op::keeps_axes},
                               Field{"alpha", &Op::alpha},
                               Field{"least", &Op::least},
                               Field{"most", &Op::most}};
constexpr std::tuple kProgramFields{Field{"prepared", &Program::is_prepared}};

json json_of(const TensorInfo& tensor) {
  json object = {{"role", word_of(kRoles, tensor.role)}, {"extents", tensor.extents}};
  if (tensor.type != ElementType::kFloat32) object["type"] = name_of(tensor.type);
  put(object, tensor, kTensorFields);
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
  if (object.contains("type")) tensor.type = type_of(object.at("type").get<std::string>());
  get(object, tensor, kTensorFields);
  return tensor;
}

json json_of(const Op& op) {
  json object = {{"kind", word_of(kOpKinds, op.kind)}, {"inputs", op.inputs}, {"output", op.output}};
  put(object, op, kOpFields);
  return object;
}

Op op_of(const json& object) {
  Op op;
  op.kind = enum_of<OpKind>(kOpKinds, object.at("kind"));
  object.at("inputs").get_to(op.inputs);
  object.at("output").get_to(op.output);
  get(object, op, kOpFields);
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
  put(object, program, kProgramFields);
  return object.dump();
}

Result<Program> parse_program(std::string_view text) {
  try {
    const json object = parsed_json(text);
    if (object.at("schema") != kSchema) throw std::runtime_error("unknown schema");
    Program program;
    for (const json& tensor : object.at("tensors")) program.tensors.push_back(tensor_of(tensor));
    for (const json& op : object.at("ops")) program.ops.push_back(op_of(op));
    get(object, program, kProgramFields);
    COLLAGE_TRY_VOID(check_program(program));
    return program;
  } catch (const std::exception& exception) {
    return bad_artifact(exception.what());
  }
}

}  // namespace collage::xnnpack
