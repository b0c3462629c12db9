#include "onnx/fold/fold_operators.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "onnx/fold/fold_parts.h"

namespace collage {

std::optional<std::int64_t> wrap_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return axis;
}

Ints strides_of(const Ints& dims) {
  Ints strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

std::size_t source_of(const Ints& index, const Ints& dims) {
  const Ints strides = strides_of(dims);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1) at += index[index.size() - dims.size() + i] * strides[i];
  return static_cast<std::size_t>(at);
}

namespace {

struct FoldRule {
  std::string_view op;
  Folded (*fold)(const Operands&);
};

constexpr std::array kRules = {
    FoldRule{"Shape", fold_shape},
    FoldRule{"Size", fold_size},
    FoldRule{"Gather", fold_gather},
    FoldRule{"Slice", fold_slice},
    FoldRule{"Concat", fold_concat},
    FoldRule{"Unsqueeze", fold_unsqueeze},
    FoldRule{"Squeeze", fold_squeeze},
    FoldRule{"Reshape", fold_reshape},
    FoldRule{"Identity", fold_unary},
    FoldRule{"Cast", fold_cast},
    FoldRule{"Add", fold_binary},
    FoldRule{"Sub", fold_binary},
    FoldRule{"Mul", fold_binary},
    FoldRule{"Div", fold_binary},
    FoldRule{"Mod", fold_binary},
    FoldRule{"Equal", fold_binary},
    FoldRule{"Less", fold_binary},
    FoldRule{"LessOrEqual", fold_binary},
    FoldRule{"Greater", fold_binary},
    FoldRule{"GreaterOrEqual", fold_binary},
    FoldRule{"And", fold_binary},
    FoldRule{"Or", fold_binary},
    FoldRule{"Xor", fold_binary},
    FoldRule{"Min", fold_min_max},
    FoldRule{"Max", fold_min_max},
    FoldRule{"Neg", fold_unary},
    FoldRule{"Abs", fold_unary},
    FoldRule{"Not", fold_unary},
    FoldRule{"Floor", fold_unary},
    FoldRule{"Ceil", fold_unary},
    FoldRule{"Sqrt", fold_unary},
    FoldRule{"Range", fold_range},
    FoldRule{"ConstantOfShape", fold_constant_of_shape},
    FoldRule{"Expand", fold_expand},
    FoldRule{"Tile", fold_tile},
    FoldRule{"Where", fold_where},
    FoldRule{"Transpose", fold_transpose},
    FoldRule{"Split", fold_split},
    FoldRule{"NonZero", fold_non_zero},
    FoldRule{"ReduceProd", fold_reduce},
    FoldRule{"ReduceSum", fold_reduce},
    FoldRule{"ReduceMax", fold_reduce},
    FoldRule{"ReduceMin", fold_reduce},
};

}  // namespace

std::optional<std::vector<SmallValue>> fold_node(const FoldRequest& request) {
  const auto rule = std::ranges::find(kRules, request.node.op_type(), &FoldRule::op);
  if (rule == kRules.end()) return std::nullopt;
  return rule->fold(Operands{request});
}

}  // namespace collage
