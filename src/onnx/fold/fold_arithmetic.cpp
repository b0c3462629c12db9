#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/broadcast.h"
#include "onnx/fold/fold_parts.h"

namespace collage {
namespace {

std::int64_t to_width(std::int64_t value, int type) {
  return type == pb::TensorProto::INT32 ? static_cast<std::int32_t>(value) : value;
}
double to_width(double value, int type) {
  return type == pb::TensorProto::FLOAT ? static_cast<double>(static_cast<float>(value)) : value;
}

std::int64_t wrapping(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// One integer operation as ONNX Runtime does it: two's complement, division towards zero.
std::optional<std::int64_t> integer_result(std::string_view op, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  if (op == "Add") return wrapping(ua + ub);
  if (op == "Sub") return wrapping(ua - ub);
  if (op == "Mul") return wrapping(ua * ub);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Div" || op == "Mod") {
    if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
    if (op == "Div") return a / b;
    const std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  return std::nullopt;
}

std::optional<double> float_result(std::string_view op, double a, double b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  if (std::isnan(a) || std::isnan(b)) return std::nullopt;
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  return std::nullopt;
}

std::optional<bool> comparison(std::string_view op, auto a, auto b) {
  if (op == "Equal") return a == b;
  if (op == "Less") return a < b;
  if (op == "LessOrEqual") return a <= b;
  if (op == "Greater") return a > b;
  if (op == "GreaterOrEqual") return a >= b;
  return std::nullopt;
}

std::optional<bool> logic(std::string_view op, bool a, bool b) {
  if (op == "And") return a && b;
  if (op == "Or") return a || b;
  if (op == "Xor") return a != b;
  return std::nullopt;
}

std::optional<SmallValue> binary_pair(std::string_view op, const SmallValue& a, const SmallValue& b) {
  if (a.type != b.type) return std::nullopt;
  auto dims = broadcast_extents(a.dims, b.dims);
  const auto count = dims ? small_count(*dims) : std::nullopt;
  if (!count) return std::nullopt;
  SmallValue result = small_like(a, *dims);
  bool good = true;
  for_each_index(*dims, *count, [&](const Ints& index) {
    const std::size_t i = source_of(index, a.dims);
    const std::size_t j = source_of(index, b.dims);
    const auto yes_or_no = a.type == pb::TensorProto::BOOL && op != "Equal" ? logic(op, a.ints[i], b.ints[j])
                           : a.is_float()                                   ? comparison(op, a.floats[i], b.floats[j])
                                                                            : comparison(op, a.ints[i], b.ints[j]);
    if (yes_or_no) {
      result.type = pb::TensorProto::BOOL;
      result.ints.push_back(*yes_or_no);
    } else if (a.is_float()) {
      const auto value = float_result(op, a.floats[i], b.floats[j]);
      if (value) result.floats.push_back(to_width(*value, a.type));
      good = good && value;
    } else {
      const auto value = a.type == pb::TensorProto::BOOL ? std::nullopt : integer_result(op, a.ints[i], b.ints[j]);
      if (value) result.ints.push_back(to_width(*value, a.type));
      good = good && value;
    }
  });
  const bool complete = result.is_float() ? result.floats.size() == *count : result.ints.size() == *count;
  if (!good || !complete) return std::nullopt;
  return result;
}

bool is_comparison(std::string_view op) {
  return op == "Equal" || op == "Less" || op == "LessOrEqual" || op == "Greater" || op == "GreaterOrEqual" ||
         op == "And" || op == "Or" || op == "Xor";
}

}  // namespace

Folded fold_binary(const Operands& in) {
  const std::string_view op = in.request.node.op_type();
  if (op == "Mod" && in.attribute("fmod", 0) != 0) return std::nullopt;
  const SmallValue* a = in.at(0);
  const SmallValue* b = in.at(1);
  if (!a || !b || in.request.inputs.size() != 2) return std::nullopt;
  auto result = binary_pair(op, *a, *b);
  if (!result) return std::nullopt;
  if (is_comparison(op)) result->type = pb::TensorProto::BOOL;
  return one(std::move(*result));
}

Folded fold_min_max(const Operands& in) {
  if (!in.at(0)) return std::nullopt;
  SmallValue result = *in.at(0);
  for (std::size_t i = 1; i < in.request.inputs.size(); ++i) {
    if (!in.at(i)) return std::nullopt;
    auto next = binary_pair(in.request.node.op_type(), result, *in.at(i));
    if (!next) return std::nullopt;
    result = std::move(*next);
  }
  return one(std::move(result));
}

Folded fold_unary(const Operands& in) {
  const std::string_view op = in.request.node.op_type();
  if (!in.at(0)) return std::nullopt;
  SmallValue result = *in.at(0);
  const bool is_bool = result.type == pb::TensorProto::BOOL;
  if (op == "Identity") return one(std::move(result));
  if (is_bool != (op == "Not")) return std::nullopt;
  for (std::int64_t& value : result.ints) {
    if (op == "Not")
      value = !value;
    else if (op == "Neg")
      value = to_width(wrapping(0 - static_cast<std::uint64_t>(value)), result.type);
    else if (op == "Abs")
      value = value < 0 ? to_width(wrapping(0 - static_cast<std::uint64_t>(value)), result.type) : value;
    else
      return std::nullopt;
  }
  for (double& value : result.floats) {
    if (op == "Neg")
      value = -value;
    else if (op == "Abs")
      value = std::fabs(value);
    else if (op == "Floor")
      value = std::floor(value);
    else if (op == "Ceil")
      value = std::ceil(value);
    else if (op == "Sqrt")
      value = to_width(std::sqrt(value), result.type);
    else
      return std::nullopt;
  }
  return one(std::move(result));
}

Folded fold_cast(const Operands& in) {
  const SmallValue* from = in.at(0);
  const auto type = static_cast<int>(in.attribute("to", 0));
  if (!from || !is_small_type(type)) return std::nullopt;
  SmallValue to{.type = type, .dims = from->dims, .ints = {}, .floats = {}};
  for (std::size_t i = 0; i < from->size(); ++i) {
    if (to.is_float()) {
      to.floats.push_back(to_width(from->is_float() ? from->floats[i] : static_cast<double>(from->ints[i]), type));
      continue;
    }
    if (type == pb::TensorProto::BOOL) {
      to.ints.push_back(from->is_float() ? from->floats[i] != 0 : from->ints[i] != 0);
      continue;
    }
    if (!from->is_float()) {
      to.ints.push_back(to_width(from->ints[i], type));
      continue;
    }
    const double whole = std::trunc(from->floats[i]);
    const double limit = type == pb::TensorProto::INT32 ? 2147483647.0 : 9.0e18;
    if (!(std::fabs(whole) <= limit)) return std::nullopt;
    to.ints.push_back(static_cast<std::int64_t>(whole));
  }
  return one(std::move(to));
}

Folded fold_where(const Operands& in) {
  const Ints* condition = in.ints(0);
  const SmallValue* yes = in.at(1);
  const SmallValue* no = in.at(2);
  if (!condition || !yes || !no || yes->type != no->type) return std::nullopt;
  auto dims = broadcast_extents(yes->dims, no->dims);
  if (dims) dims = broadcast_extents(*dims, in.at(0)->dims);
  const auto count = dims ? small_count(*dims) : std::nullopt;
  if (!count) return std::nullopt;
  SmallValue result = small_like(*yes, *dims);
  for_each_index(*dims, *count, [&](const Ints& index) {
    const bool pick = (*condition)[source_of(index, in.at(0)->dims)] != 0;
    const SmallValue& from = pick ? *yes : *no;
    take(result, from, source_of(index, from.dims));
  });
  return one(std::move(result));
}

Folded fold_range(const Operands& in) {
  const Ints* start = in.ints(0);
  const Ints* limit = in.ints(1);
  const Ints* delta = in.ints(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1) return std::nullopt;
  const std::int64_t step = delta->front();
  if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  SmallValue result = small_like(*in.at(0), {});
  const bool up = step > 0;
  for (std::int64_t at = start->front(); up ? at < limit->front() : at > limit->front();) {
    if (result.ints.size() == kMostSmallElements) return std::nullopt;
    result.ints.push_back(at);
    if (__builtin_add_overflow(at, step, &at)) return std::nullopt;
  }
  result.dims = {static_cast<std::int64_t>(result.ints.size())};
  return one(std::move(result));
}

/// ReduceProd, ReduceSum, ReduceMax and ReduceMin of an integer vector to one element: sizes of shapes.
Folded fold_reduce(const Operands& in) {
  const SmallValue* data = in.at(0);
  if (!data || data->is_float() || data->type == pb::TensorProto::BOOL || data->rank() != 1 || data->ints.empty())
    return std::nullopt;
  if (in.named(1) && !in.ints(1)) return std::nullopt;
  const Ints axes = in.named(1) ? *in.ints(1) : Ints{};
  if (axes.empty() && in.attribute("noop_with_empty_axes", 0) != 0) return std::nullopt;
  if (axes.size() > 1 || (axes.size() == 1 && !wrap_axis(axes[0], 1))) return std::nullopt;
  const std::string_view op = in.request.node.op_type();
  const std::string_view step = op == "ReduceProd"  ? "Mul"
                                : op == "ReduceSum" ? "Add"
                                : op == "ReduceMax" ? "Max"
                                                    : "Min";
  std::int64_t total = data->ints[0];
  for (std::size_t i = 1; i < data->ints.size(); ++i) total = *integer_result(step, total, data->ints[i]);
  SmallValue result = small_like(*data, in.attribute("keepdims", 1) != 0 ? Ints{1} : Ints{});
  result.ints = {to_width(total, data->type)};
  return one(std::move(result));
}

}  // namespace collage
