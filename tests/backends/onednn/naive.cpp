#include "naive.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace collage::test {
namespace {

using Index = std::vector<std::int64_t>;

Extents extents_of(const Graph& graph, ValueId id) { return graph.value(id).type.extents(); }

/// Calls `visit` with every index of a shape in row-major order.
void for_each_index(const Extents& extents, const std::function<void(const Index&)>& visit) {
  Index index(extents.size(), 0);
  const std::int64_t count = element_count(extents);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(index);
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      if (++index[axis] < extents[axis]) break;
      index[axis] = 0;
    }
  }
}

std::size_t offset(const Extents& extents, const Index& index) {
  std::int64_t result = 0;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) result = result * extents[axis] + index[axis];
  return static_cast<std::size_t>(result);
}

/// The offset of an index of a larger shape in a tensor that is broadcast to it.
std::size_t broadcast_offset(const Extents& extents, const Index& index) {
  Index own(index.end() - static_cast<std::ptrdiff_t>(extents.size()), index.end());
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    if (extents[axis] == 1) own[axis] = 0;
  return offset(extents, own);
}

Index ints(const Node& node, std::string_view name, Index fallback) {
  return attribute_or<std::vector<std::int64_t>>(node, name, std::move(fallback));
}

struct Context {
  const Graph& graph;
  const Node& node;
  std::map<ValueId, Numbers>& values;

  [[nodiscard]] Extents in(std::size_t i) const { return extents_of(graph, node.inputs[i]); }
  [[nodiscard]] Extents out() const { return extents_of(graph, node.outputs[0]); }
  [[nodiscard]] const Numbers& x(std::size_t i) const { return values.at(node.inputs[i]); }
  [[nodiscard]] bool has(std::size_t i) const { return input_of(node, i).valid(); }
  [[nodiscard]] double f(std::string_view name, float fallback) const {
    return attribute_or<float>(node, name, fallback);
  }
  [[nodiscard]] std::int64_t i(std::string_view name, std::int64_t fallback) const {
    return attribute_or<std::int64_t>(node, name, fallback);
  }
  [[nodiscard]] std::int64_t axis(std::int64_t fallback) const {
    const std::int64_t given = i("axis", fallback);
    return given < 0 ? given + static_cast<std::int64_t>(in(0).size()) : given;
  }
};

/// Begin paddings, with SAME_* resolved from the output's extents.
Index begins(const Context& c, const Index& kernel, const Index& strides, const Index& dilations) {
  const std::size_t rank = kernel.size();
  const auto auto_pad = attribute_or<std::string>(c.node, "auto_pad", "NOTSET");
  Index begin(rank, 0);
  const Index pads = ints(c.node, "pads", Index(2 * rank, 0));
  for (std::size_t a = 0; a < rank; ++a) {
    begin[a] = auto_pad == "VALID" ? 0 : pads[a];
    if (!auto_pad.starts_with("SAME")) continue;
    const std::int64_t total = std::max<std::int64_t>(
        0, (c.out()[a + 2] - 1) * strides[a] + (kernel[a] - 1) * dilations[a] + 1 - c.in(0)[a + 2]);
    begin[a] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
  return begin;
}

Numbers conv(const Context& c) {
  const Extents in = c.in(0);
  const Extents weights = c.in(1);
  const Extents out = c.out();
  const std::size_t rank = in.size() - 2;
  const std::int64_t groups = c.i("group", 1);
  const Index strides = ints(c.node, "strides", Index(rank, 1));
  const Index dilations = ints(c.node, "dilations", Index(rank, 1));
  const Index kernel(weights.begin() + 2, weights.end());
  const Index begin = begins(c, kernel, strides, dilations);
  Extents inner = {weights[1]};
  inner.insert(inner.end(), kernel.begin(), kernel.end());
  Numbers result(static_cast<std::size_t>(element_count(out)), 0);
  for_each_index(out, [&](const Index& o) {
    double sum = c.has(2) ? c.x(2)[static_cast<std::size_t>(o[1])] : 0;
    const std::int64_t first = o[1] / (out[1] / groups) * weights[1];
    for_each_index(inner, [&](const Index& k) {
      Index at = {o[0], first + k[0]};
      Index w = {o[1], k[0]};
      for (std::size_t a = 0; a < rank; ++a) {
        at.push_back(o[a + 2] * strides[a] - begin[a] + k[a + 1] * dilations[a]);
        w.push_back(k[a + 1]);
        if (at.back() < 0 || at.back() >= in[a + 2]) return;
      }
      sum += c.x(0)[offset(in, at)] * c.x(1)[offset(weights, w)];
    });
    result[offset(out, o)] = sum;
  });
  return result;
}

Numbers conv_transpose(const Context& c) {
  const Extents in = c.in(0);
  const Extents weights = c.in(1);
  const Extents out = c.out();
  const std::size_t rank = in.size() - 2;
  const std::int64_t groups = c.i("group", 1);
  const Index strides = ints(c.node, "strides", Index(rank, 1));
  const Index dilations = ints(c.node, "dilations", Index(rank, 1));
  const Index pads = ints(c.node, "pads", Index(2 * rank, 0));
  Extents inner(weights.begin() + 1, weights.end());
  Numbers result(static_cast<std::size_t>(element_count(out)), 0);
  for_each_index(out, [&](const Index& o) {
    if (c.has(2)) result[offset(out, o)] = c.x(2)[static_cast<std::size_t>(o[1])];
  });
  for_each_index(in, [&](const Index& i) {
    const std::int64_t group = i[1] / (in[1] / groups);
    for_each_index(inner, [&](const Index& k) {
      Index o = {i[0], group * weights[1] + k[0]};
      Index w = {i[1], k[0]};
      for (std::size_t a = 0; a < rank; ++a) {
        o.push_back(i[a + 2] * strides[a] + k[a + 1] * dilations[a] - pads[a]);
        w.push_back(k[a + 1]);
        if (o.back() < 0 || o.back() >= out[a + 2]) return;
      }
      result[offset(out, o)] += c.x(0)[offset(in, i)] * c.x(1)[offset(weights, w)];
    });
  });
  return result;
}

Numbers pool(const Context& c) {
  const Extents in = c.in(0);
  const Extents out = c.out();
  const std::size_t rank = in.size() - 2;
  const bool global = c.node.op_type.starts_with("Global");
  const bool average = c.node.op_type.ends_with("AveragePool");
  const Index kernel = global ? Index(in.begin() + 2, in.end()) : ints(c.node, "kernel_shape", {});
  const Index strides = ints(c.node, "strides", Index(rank, 1));
  const Index begin = global ? Index(rank, 0) : begins(c, kernel, strides, Index(rank, 1));
  const bool counts = c.i("count_include_pad", 0) != 0;
  Numbers result(static_cast<std::size_t>(element_count(out)));
  for_each_index(out, [&](const Index& o) {
    double sum = 0;
    double largest = -INFINITY;
    std::int64_t inside = 0;
    for_each_index(kernel, [&](const Index& k) {
      Index at = {o[0], o[1]};
      for (std::size_t a = 0; a < rank; ++a) {
        at.push_back(o[a + 2] * strides[a] - begin[a] + k[a]);
        if (at.back() < 0 || at.back() >= in[a + 2]) return;
      }
      const double value = c.x(0)[offset(in, at)];
      sum += value;
      largest = std::max(largest, value);
      ++inside;
    });
    result[offset(out, o)] = !average ? largest : sum / static_cast<double>(counts ? element_count(kernel) : inside);
  });
  return result;
}

double unary(const Context& c, double x) {
  const std::string& op = c.node.op_type;
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const auto elu = [](double v, double alpha) { return v > 0 ? v : alpha * std::expm1(v); };
  if (op == "Relu") return std::max(x, 0.0);
  if (op == "LeakyRelu") return x > 0 ? x : c.f("alpha", 0.01F) * x;
  if (op == "Elu") return elu(x, c.f("alpha", 1.F));
  if (op == "Selu") return c.f("gamma", 1.05070102F) * elu(x, c.f("alpha", 1.67326319F));
  if (op == "Celu") return c.f("alpha", 1.F) * elu(x / c.f("alpha", 1.F), 1);
  if (op == "Sigmoid") return sigmoid(x);
  if (op == "HardSigmoid") return std::clamp(c.f("alpha", 0.2F) * x + c.f("beta", 0.5F), 0.0, 1.0);
  if (op == "HardSwish") return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
  if (op == "Swish") return x * sigmoid(c.f("alpha", 1.F) * x);
  if (op == "Tanh") return std::tanh(x);
  if (op == "Exp") return std::exp(x);
  if (op == "Log") return std::log(x);
  if (op == "Sqrt") return std::sqrt(x);
  if (op == "Abs") return std::abs(x);
  if (op == "Neg") return -x;
  if (op == "Reciprocal") return 1 / x;
  if (op == "Softplus") return std::log1p(std::exp(x));
  if (op == "Mish") return x * std::tanh(std::log1p(std::exp(x)));
  if (op == "Round") return std::nearbyint(x);
  if (op == "Gelu") {
    if (attribute_or<std::string>(c.node, "approximate", "none") == "none")
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
  }
  if (op == "Clip") {
    if (c.has(1)) x = std::max(x, c.x(1)[0]);
    return c.has(2) ? std::min(x, c.x(2)[0]) : x;
  }
  COLLAGE_CHECK(false, "no naive " + op);
  return 0;
}

double binary(const std::string& op, double a, double b) {
  if (op == "Add" || op == "Sum") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  if (op == "Max") return std::max(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Pow") return std::pow(a, b);
  return a < 0 ? a * b : a;  // PRelu
}

Numbers elementwise(const Context& c) {
  static const std::vector<std::string> kBinary = {"Add", "Sum", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu"};
  const bool is_binary = std::ranges::find(kBinary, c.node.op_type) != kBinary.end();
  const Extents out = c.out();
  Numbers result;
  for_each_index(out, [&](const Index& o) {
    double value = c.x(0)[broadcast_offset(c.in(0), o)];
    if (!is_binary) value = unary(c, value);
    for (std::size_t i = 1; is_binary && i < c.node.inputs.size(); ++i)
      value = binary(c.node.op_type, value, c.x(i)[broadcast_offset(c.in(i), o)]);
    result.push_back(value);
  });
  return result;
}

Numbers matmul(const Context& c) {
  Extents a = c.in(0);
  Extents b = c.in(1);
  Extents out = c.out();
  if (b.size() == 1) {
    b.push_back(1);
    out.push_back(1);
  }
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
    out.insert(out.end() - 1, 1);
  }
  Numbers result;
  for_each_index(out, [&](const Index& o) {
    double sum = 0;
    Index left = o;
    Index right = o;
    for (std::int64_t k = 0; k < a.back(); ++k) {
      left.back() = k;
      right[right.size() - 2] = k;
      sum += c.x(0)[broadcast_offset(a, left)] * c.x(1)[broadcast_offset(b, right)];
    }
    result.push_back(sum);
  });
  return result;
}

Numbers gemm(const Context& c) {
  const bool ta = c.i("transA", 0) != 0;
  const bool tb = c.i("transB", 0) != 0;
  const Extents out = c.out();
  const std::int64_t depth = ta ? c.in(0)[0] : c.in(0)[1];
  Numbers result;
  for_each_index(out, [&](const Index& o) {
    double sum = 0;
    for (std::int64_t k = 0; k < depth; ++k)
      sum += c.x(0)[offset(c.in(0), ta ? Index{k, o[0]} : Index{o[0], k})] *
             c.x(1)[offset(c.in(1), tb ? Index{o[1], k} : Index{k, o[1]})];
    sum *= c.f("alpha", 1.F);
    if (c.has(2)) sum += c.f("beta", 1.F) * c.x(2)[broadcast_offset(c.in(2), o)];
    result.push_back(sum);
  });
  return result;
}

Numbers concat(const Context& c) {
  const auto axis = static_cast<std::size_t>(c.axis(0));
  Numbers result(static_cast<std::size_t>(element_count(c.out())));
  std::int64_t start = 0;
  for (std::size_t i = 0; i < c.node.inputs.size(); ++i) {
    for_each_index(c.in(i), [&](const Index& at) {
      Index o = at;
      o[axis] += start;
      result[offset(c.out(), o)] = c.x(i)[offset(c.in(i), at)];
    });
    start += c.in(i)[axis];
  }
  return result;
}

Numbers transpose(const Context& c) {
  const Index perm = ints(c.node, "perm", {});
  Numbers result;
  for_each_index(c.out(), [&](const Index& o) {
    Index at(o.size());
    for (std::size_t a = 0; a < o.size(); ++a) at[static_cast<std::size_t>(perm[a])] = o[a];
    result.push_back(c.x(0)[offset(c.in(0), at)]);
  });
  return result;
}

Numbers pad(const Context& c) {
  Numbers result;
  for_each_index(c.out(), [&](const Index& o) {
    Index at = o;
    bool inside = true;
    for (std::size_t a = 0; a < o.size(); ++a) {
      at[a] -= static_cast<std::int64_t>(c.x(1)[a]);
      inside = inside && at[a] >= 0 && at[a] < c.in(0)[a];
    }
    result.push_back(inside ? c.x(0)[offset(c.in(0), at)] : 0);
  });
  return result;
}

double coordinate(const Context& c, std::int64_t o, std::size_t axis) {
  const auto mode = attribute_or<std::string>(c.node, "coordinate_transformation_mode", "half_pixel");
  const double scale =
      c.has(2) ? c.x(2)[axis] : static_cast<double>(c.out()[axis]) / static_cast<double>(c.in(0)[axis]);
  if (mode == "align_corners")
    return static_cast<double>(o * (c.in(0)[axis] - 1)) /
           static_cast<double>(std::max<std::int64_t>(c.out()[axis] - 1, 1));
  return mode == "asymmetric" ? static_cast<double>(o) / scale : (static_cast<double>(o) + 0.5) / scale - 0.5;
}

Numbers resize(const Context& c) {
  const bool linear = attribute_or<std::string>(c.node, "mode", "nearest") == "linear";
  const auto rounding = attribute_or<std::string>(c.node, "nearest_mode", "round_prefer_floor");
  const Extents in = c.in(0);
  Numbers result;
  for_each_index(c.out(), [&](const Index& o) {
    double sum = 0;
    for_each_index(Extents(o.size(), 2), [&](const Index& corner) {
      double weight = 1;
      Index at = o;
      for (std::size_t a = 0; a < o.size(); ++a) {
        const double x = coordinate(c, o[a], a);
        double low = std::floor(x);
        if (!linear) {
          low = rounding == "floor" ? std::floor(x) : std::ceil(x - 0.5);
          weight *= corner[a] == 0 ? 1 : 0;
        } else {
          weight *= corner[a] == 0 ? 1 - (x - low) : x - low;
        }
        at[a] = std::clamp<std::int64_t>(static_cast<std::int64_t>(low) + corner[a], 0, in[a] - 1);
      }
      sum += weight * c.x(0)[offset(in, at)];
    });
    result.push_back(sum);
  });
  return result;
}

Numbers softmax(const Context& c) {
  const Extents in = c.in(0);
  const auto axis = static_cast<std::size_t>(c.axis(-1));
  const bool logs = c.node.op_type == "LogSoftmax";
  Numbers result;
  for_each_index(in, [&](const Index& o) {
    double sum = 0;
    Index at = o;
    for (at[axis] = 0; at[axis] < in[axis]; ++at[axis]) sum += std::exp(c.x(0)[offset(in, at)]);
    const double x = c.x(0)[offset(in, o)];
    result.push_back(logs ? x - std::log(sum) : std::exp(x) / sum);
  });
  return result;
}

Numbers layer_norm(const Context& c) {
  const std::size_t count = c.x(1).size();
  Numbers result = c.x(0);
  for (std::size_t row = 0; row < result.size(); row += count) {
    const double mean = std::accumulate(&result[row], &result[row] + count, 0.0) / static_cast<double>(count);
    double variance = 0;
    for (std::size_t i = 0; i < count; ++i) variance += (result[row + i] - mean) * (result[row + i] - mean);
    const double deviation = std::sqrt(variance / static_cast<double>(count) + c.f("epsilon", 1e-5F));
    for (std::size_t i = 0; i < count; ++i)
      result[row + i] = (result[row + i] - mean) / deviation * c.x(1)[i] + (c.has(2) ? c.x(2)[i] : 0);
  }
  return result;
}

Numbers batch_norm(const Context& c) {
  Numbers result;
  for_each_index(c.in(0), [&](const Index& o) {
    const auto k = static_cast<std::size_t>(o[1]);
    const double x = c.x(0)[offset(c.in(0), o)];
    result.push_back((x - c.x(3)[k]) / std::sqrt(c.x(4)[k] + c.f("epsilon", 1e-5F)) * c.x(1)[k] + c.x(2)[k]);
  });
  return result;
}

Numbers reduce(const Context& c) {
  const Extents in = c.in(0);
  std::vector<bool> reduced(in.size(), !c.has(1));
  if (c.has(1))
    for (const double axis : c.x(1))
      reduced[static_cast<std::size_t>(axis < 0 ? axis + static_cast<double>(in.size()) : axis)] = true;
  Extents kept = in;
  for (std::size_t a = 0; a < in.size(); ++a)
    if (reduced[a]) kept[a] = 1;
  const std::string& op = c.node.op_type;
  const double start = op == "ReduceMax" ? -INFINITY : op == "ReduceMin" ? INFINITY : op == "ReduceProd" ? 1 : 0;
  Numbers result(static_cast<std::size_t>(element_count(kept)), start);
  for_each_index(in, [&](const Index& at) {
    double& r = result[broadcast_offset(kept, at)];
    const double x = c.x(0)[offset(in, at)];
    if (op == "ReduceMax")
      r = std::max(r, x);
    else if (op == "ReduceMin")
      r = std::min(r, x);
    else if (op == "ReduceProd")
      r *= x;
    else if (op == "ReduceL1")
      r += std::abs(x);
    else if (op == "ReduceL2" || op == "ReduceSumSquare")
      r += x * x;
    else
      r += x;
  });
  const double count = static_cast<double>(element_count(in)) / static_cast<double>(result.size());
  for (double& r : result) {
    if (op == "ReduceMean") r /= count;
    if (op == "ReduceL2") r = std::sqrt(r);
  }
  return result;
}

Numbers lrn(const Context& c) {
  const Extents in = c.in(0);
  const std::int64_t size = c.i("size", 1);
  Numbers result;
  for_each_index(in, [&](const Index& o) {
    double sum = 0;
    Index at = o;
    for (at[1] = std::max<std::int64_t>(0, o[1] - size / 2); at[1] <= std::min(in[1] - 1, o[1] + size / 2); ++at[1])
      sum += std::pow(c.x(0)[offset(in, at)], 2);
    result.push_back(
        c.x(0)[offset(in, o)] /
        std::pow(c.f("bias", 1.F) + c.f("alpha", 1e-4F) / static_cast<double>(size) * sum, c.f("beta", 0.75F)));
  });
  return result;
}

Numbers compute_node(const Context& c) {
  const std::string& op = c.node.op_type;
  if (op == "Conv") return conv(c);
  if (op == "ConvTranspose") return conv_transpose(c);
  if (op.ends_with("Pool")) return pool(c);
  if (op == "MatMul") return matmul(c);
  if (op == "Gemm") return gemm(c);
  if (op == "Concat") return concat(c);
  if (op == "Transpose") return transpose(c);
  if (op == "Pad") return pad(c);
  if (op == "Resize") return resize(c);
  if (op.ends_with("Softmax")) return softmax(c);
  if (op == "LayerNormalization") return layer_norm(c);
  if (op == "BatchNormalization") return batch_norm(c);
  if (op.starts_with("Reduce")) return reduce(c);
  if (op == "LRN") return lrn(c);
  return elementwise(c);
}

Numbers numbers_of(const Tensor& tensor) {
  if (const auto floats = floats_of(tensor)) return *floats;
  const auto integers = integers_of(tensor).value_or(std::vector<std::int64_t>{});
  return {integers.begin(), integers.end()};
}

}  // namespace

std::map<ValueId, Numbers> compute(const Graph& graph, std::map<ValueId, Numbers> inputs) {
  for (std::uint32_t v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].constant) inputs[ValueId{v}] = numbers_of(*graph.values[v].constant);
  for (const Node& node : graph.nodes) inputs[node.outputs[0]] = compute_node({graph, node, inputs});
  return inputs;
}

}  // namespace collage::test
