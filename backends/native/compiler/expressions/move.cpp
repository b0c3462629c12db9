#include "compiler/expressions/move.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/codegen/loops.h"
#include "compiler/expressions/expression.h"
#include "compiler/expressions/resample.h"

namespace collage::native {

using Halide::Expr;
using Halide::select;

namespace {

std::optional<Extents> constant_list(const Graph& graph, ValueId id) {
  const Tensor* tensor = constant_of(graph, id);
  return tensor != nullptr ? integers_of(*tensor) : std::nullopt;
}

/// One position in row-major order, and back.
Expr linear(const Extents& extents, const Indices& at) {
  Expr sum = 0;
  for (std::size_t i = 0; i < at.size(); ++i) sum = sum * to_int(extents[i]) + (extents[i] == 1 ? Expr(0) : at[i]);
  return sum;
}

/// Indices of one shape from those of another with the same elements in order. Groups of axes with equal products are
/// mapped on their own, so that axes which stay as they are keep their index.
Indices reshaped(const Extents& from, const Indices& at, const Extents& to) {
  Indices result(to.size(), Expr(0));
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() && j < to.size()) {
    std::size_t i_end = i + 1;
    std::size_t j_end = j + 1;
    std::int64_t a = from[i];
    std::int64_t b = to[j];
    while (a != b) {
      if (a < b)
        a *= from[i_end++];
      else
        b *= to[j_end++];
    }
    if (i_end == i + 1 && j_end == j + 1) {
      result[j] = at[i];
    } else {
      const Extents part(from.begin() + static_cast<std::ptrdiff_t>(i),
                         from.begin() + static_cast<std::ptrdiff_t>(i_end));
      Expr rest = linear(
          part, Indices(at.begin() + static_cast<std::ptrdiff_t>(i), at.begin() + static_cast<std::ptrdiff_t>(i_end)));
      for (std::size_t k = j_end; k-- > j;) {
        result[k] = k == j ? rest : rest % to_int(to[k]);
        rest = rest / to_int(to[k]);
      }
    }
    i = i_end;
    j = j_end;
  }
  return result;
}

/// Begins and steps of a Slice by axis of its input.
struct Cut {
  Extents begin;
  Extents step;
};
std::optional<Cut> cut_of(const Graph& graph, const Node& node) {
  const Extents in = graph.value(node.inputs[0]).type.extents();
  const auto starts = constant_list(graph, input_of(node, 1));
  if (!starts || !constant_list(graph, input_of(node, 2))) return std::nullopt;
  Extents axes(starts->size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  Extents steps(starts->size(), 1);
  if (input_of(node, 3).valid()) {
    const auto given = constant_list(graph, node.inputs[3]);
    if (!given) return std::nullopt;
    axes = *given;
  }
  if (input_of(node, 4).valid()) {
    const auto given = constant_list(graph, node.inputs[4]);
    if (!given) return std::nullopt;
    steps = *given;
  }
  Cut cut{.begin = Extents(in.size(), 0), .step = Extents(in.size(), 1)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(from_front(axes[i], in.size()));
    std::int64_t begin = (*starts)[i];
    if (begin < 0) begin += in[axis];
    cut.begin[axis] = std::clamp<std::int64_t>(begin, 0, steps[i] > 0 ? in[axis] : in[axis] - 1);
    cut.step[axis] = steps[i];
  }
  return cut;
}

/// What a Pad adds before each axis of its input.
std::optional<Extents> pad_begin(const Graph& graph, const Node& node) {
  const std::size_t rank = graph.value(node.inputs[0]).type.extents().size();
  const auto pads = constant_list(graph, input_of(node, 1));
  if (!pads) return std::nullopt;
  Extents axes(rank);
  for (std::size_t i = 0; i < rank; ++i) axes[i] = static_cast<std::int64_t>(i);
  if (input_of(node, 3).valid()) {
    const auto given = constant_list(graph, node.inputs[3]);
    if (!given) return std::nullopt;
    axes = *given;
  }
  Extents begin(rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) begin[static_cast<std::size_t>(from_front(axes[i], rank))] = (*pads)[i];
  return begin;
}

bool is_reshape(const Node& node) {
  static const std::set<std::string, std::less<>> kNames = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"};
  return kNames.contains(node.op_type);
}

bool is_known_pad(const Graph& graph, const Node& node) {
  const auto mode = attribute_or<std::string>(node, "mode", "constant");
  const ValueId filler = input_of(node, 2);
  return pad_begin(graph, node) && (mode == "constant" || mode == "edge" || mode == "reflect") &&
         (!filler.valid() || constant_of(graph, filler) != nullptr);
}

/// Moves in whatever form.
const std::set<std::string, std::less<>>& always_known() {
  static const std::set<std::string, std::less<>> names = {"Concat",  "Transpose",    "Reshape",      "Flatten",
                                                           "Squeeze", "Unsqueeze",    "Expand",       "Tile",
                                                           "Split",   "DepthToSpace", "SpaceToDepth", "Gather"};
  return names;
}

}  // namespace

std::vector<std::string> move_operators() {
  std::vector<std::string> names(always_known().begin(), always_known().end());
  names.insert(names.end(), {"Pad", "Resize", "Slice"});
  return names;
}

bool is_move_node(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return false;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ValueId id : *list)
      if (id.valid() && !graph.value(id).type.is_static()) return false;
  if (always_known().contains(node.op_type)) return true;
  if (node.op_type == "Slice") return cut_of(graph, node).has_value();
  if (node.op_type == "Pad") return is_known_pad(graph, node);
  return node.op_type == "Resize" && is_known_resize(graph, node);
}

std::int64_t common_part(const Site& site, ValueId value, std::size_t innermost) {
  std::int64_t common = 0;
  const Extents result = site.extents(value);
  for (const std::size_t n : site.region.nodes.members()) {
    const Node& node = site.graph.nodes[n];
    if (!is_op(node, "Concat") || site.extents(node.outputs[0]).size() != result.size()) continue;
    const auto axis = from_front(attribute_or<std::int64_t>(node, "axis", 0), result.size());
    if (static_cast<std::size_t>(axis) != innermost) continue;
    for (const ValueId id : node.inputs) common = std::gcd(common, site.extents(id)[innermost]);
  }
  return common;
}

Expr Places::value(ValueId id, const Indices& at) {
  Indices where = at;
  const Extents own = extents(id);
  for (std::size_t i = 0; i < where.size(); ++i)
    if (own[i] == 1) where[i] = 0;
  return made(id, where);
}

Expr Places::made(ValueId id, const Indices& at) {
  const Graph& graph = lowering_.graph();
  if (const Tensor* constant = constant_of(graph, id))
    if (const auto literal = literal_of(*constant)) return *literal;
  for (const std::size_t n : lowering_.region().nodes.members()) {
    const Node& node = graph.nodes[n];
    const auto found = std::ranges::find(node.outputs, id);
    if (found == node.outputs.end()) continue;
    return is_move_node(graph, node) ? moved(node, static_cast<std::size_t>(found - node.outputs.begin()), at)
                                     : element(node, at);
  }
  Space space{.result = extents(id), .axes = {}};
  for (std::size_t i = 0; i < space.result.size(); ++i) space.axes.push_back({i});
  // Halide must see that no read leaves the tensor; where it can tell, the clamp folds away.
  Indices inside;
  for (std::size_t i = 0; i < at.size(); ++i) inside.push_back(clamped(at[i], space.result[i]));
  return lowering_.read(id, space)(inside);
}

Expr Places::element(const Node& node, const Indices& at) {
  std::vector<Expr> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (!id.valid()) {
      operands.emplace_back();
    } else if (const auto axis = operand_axis(lowering_.graph(), node, i)) {
      operands.push_back(value(id, {at[*axis]}));
    } else {
      const std::size_t rank = extents(id).size();
      operands.push_back(value(id, Indices(at.end() - static_cast<std::ptrdiff_t>(rank), at.end())));
    }
  }
  return element_expression(lowering_.graph(), node, operands, {.has_16_bits = lowering_.has_16_bits()});
}

Expr Places::concatenated(const Node& node, const Indices& at) {
  const auto axis = static_cast<std::size_t>(from_front(attribute_or<std::int64_t>(node, "axis", 0), at.size()));
  std::int64_t first = 0;
  std::vector<std::pair<std::int64_t, Expr>> parts;  ///< where each ends, and its element
  for (const ValueId id : node.inputs) {
    const std::int64_t extent = extents(id)[axis];
    Indices within = at;
    within[axis] = clamped(at[axis] - to_int(first), extent);
    parts.emplace_back(first + extent, value(id, within));
    first += extent;
  }
  Expr result = parts.back().second;
  for (std::size_t i = parts.size() - 1; i-- > 0;)
    result = select(at[axis] < to_int(parts[i].first), parts[i].second, result);
  return result;
}

Expr Places::padded(const Node& node, const Indices& at) {
  const Graph& graph = lowering_.graph();
  const Extents in = extents(node.inputs[0]);
  const Extents begin = *pad_begin(graph, node);
  const auto mode = attribute_or<std::string>(node, "mode", "constant");
  Indices from(at.size());
  Expr is_inside = Halide::Internal::const_true();
  for (std::size_t i = 0; i < at.size(); ++i) {
    const int extent = to_int(in[i]);
    Expr index = at[i] - to_int(begin[i]);
    if (mode == "reflect") {
      // Back and forth between the ends, without repeating them.
      const int period = std::max(2 * (extent - 1), 1);
      const Expr phase = index % period;
      index = Halide::min(phase, period - phase);
    }
    if (mode == "constant" && (begin[i] != 0 || extents(node.outputs[0])[i] != in[i]))
      is_inside = is_inside && index >= 0 && index < extent;
    from[i] = clamped(index, extent);
  }
  const Expr element = value(node.inputs[0], from);
  if (mode != "constant") return element;
  const Tensor* filler = constant_of(graph, input_of(node, 2));
  const Expr fill = filler != nullptr ? *literal_of(*filler) : Halide::Internal::make_zero(element.type());
  return select(is_inside, element, fill);
}

Expr Places::gathered(const Node& node, const Indices& at) {
  const Extents data = extents(node.inputs[0]);
  const std::size_t index_rank = extents(node.inputs[1]).size();
  const auto axis = static_cast<std::size_t>(from_front(attribute_or<std::int64_t>(node, "axis", 0), data.size()));
  const auto begin = at.begin() + static_cast<std::ptrdiff_t>(axis);
  const Expr raw = Halide::cast<std::int32_t>(
      value(node.inputs[1], Indices(begin, begin + static_cast<std::ptrdiff_t>(index_rank))));
  Indices from(at.begin(), begin);
  from.push_back(clamped(select(raw < 0, raw + to_int(data[axis]), raw), data[axis]));
  from.insert(from.end(), begin + static_cast<std::ptrdiff_t>(index_rank), at.end());
  return value(node.inputs[0], from);
}

Expr Places::resized(const Node& node, const Indices& at) {
  Expr total;
  // Every combination of taps along the axes that are resampled.
  const Resample resample = resample_of(lowering_.graph(), node);
  std::vector<std::size_t> tap(resample.axes.size(), 0);
  while (true) {
    Indices from = at;
    Expr weight;
    for (std::size_t i = 0; i < resample.axes.size(); ++i) {
      const ResampledAxis& axis = resample.axes[i];
      from[axis.axis] = clamped(axis.source(tap[i], at[axis.axis]), axis.extent);
      if (axis.taps == 1) continue;
      const Expr own = axis.weight(tap[i], at[axis.axis]);
      weight = weight.defined() ? weight * own : own;
    }
    Expr term = value(node.inputs[0], from);
    if (weight.defined()) term = term * weight;
    total = total.defined() ? total + term : term;
    std::size_t i = 0;
    while (i < tap.size() && ++tap[i] == resample.axes[i].taps) tap[i++] = 0;
    if (i == tap.size()) return total;
  }
}

Expr Places::moved(const Node& node, std::size_t output, const Indices& at) {
  const Graph& graph = lowering_.graph();
  const std::string& op = node.op_type;
  const ValueId source = node.inputs[0];
  const Extents in = extents(source);
  if (op == "Concat") return concatenated(node, at);
  if (op == "Pad") return padded(node, at);
  if (op == "Gather") return gathered(node, at);
  if (op == "Resize") return resized(node, at);
  if (is_reshape(node)) return value(source, reshaped(extents(node.outputs[output]), at, in));
  Indices from = at;
  if (op == "Transpose") {
    Extents order(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) order[i] = static_cast<std::int64_t>(in.size() - 1 - i);
    order = attribute_or<Extents>(node, "perm", order);
    for (std::size_t i = 0; i < in.size(); ++i) from[static_cast<std::size_t>(order[i])] = at[i];
  } else if (op == "Slice") {
    const Cut cut = *cut_of(graph, node);
    for (std::size_t i = 0; i < in.size(); ++i) from[i] = at[i] * to_int(cut.step[i]) + to_int(cut.begin[i]);
  } else if (op == "Split") {
    const auto axis = static_cast<std::size_t>(from_front(attribute_or<std::int64_t>(node, "axis", 0), in.size()));
    std::int64_t first = 0;
    for (std::size_t i = 0; i < output; ++i) first += extents(node.outputs[i])[axis];
    from[axis] = at[axis] + to_int(first);
  } else if (op == "Expand") {
    from = Indices(at.end() - static_cast<std::ptrdiff_t>(in.size()), at.end());
  } else if (op == "Tile") {
    for (std::size_t i = 0; i < in.size(); ++i) from[i] = at[i] % to_int(in[i]);
  } else if (op == "DepthToSpace") {
    const int block = to_int(attribute_or<std::int64_t>(node, "blocksize", 1));
    const int depth = to_int(extents(node.outputs[0])[1]);
    const Expr within = at[2] % block * block + at[3] % block;
    const bool is_crd = attribute_or<std::string>(node, "mode", "DCR") == "CRD";
    from[1] = is_crd ? at[1] * (block * block) + within : within * depth + at[1];
    from[2] = at[2] / block;
    from[3] = at[3] / block;
  } else {  // SpaceToDepth
    const int block = to_int(attribute_or<std::int64_t>(node, "blocksize", 1));
    const int depth = to_int(in[1]);
    const Expr within = at[1] / depth;
    from[1] = at[1] % depth;
    from[2] = at[2] * block + within / block;
    from[3] = at[3] * block + within % block;
  }
  return value(source, from);
}

}  // namespace collage::native
