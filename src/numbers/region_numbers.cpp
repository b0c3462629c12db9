#include "numbers/region_numbers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace collage {
namespace {

using OperatorNames = std::set<std::string_view>;

/// Bounds by sums of magnitudes grow with every sum of signed terms; after more than this they allow too much.
constexpr int kMostSums = 2;

const OperatorNames& movers() {
  static const OperatorNames names = {
      "Identity", "Reshape", "Squeeze",      "Unsqueeze",     "Flatten", "Transpose", "Slice",     "Concat",
      "Split",    "Gather",  "GatherND",     "Pad",           "Expand",  "Tile",      "Dropout",   "GatherElements",
      "Where",    "Relu",    "MaxPool",      "GlobalMaxPool", "Max",     "Min",       "ReduceMax", "ReduceMin",
      "Neg",      "Abs",     "DepthToSpace", "SpaceToDepth",  "Clip"};
  return names;
}

const OperatorNames& sums() {
  static const OperatorNames names = {"Conv",
                                      "ConvTranspose",
                                      "MatMul",
                                      "Gemm",
                                      "Add",
                                      "Sub",
                                      "Mul",
                                      "Div",
                                      "Sum",
                                      "ReduceSum",
                                      "ReduceMean",
                                      "Mean",
                                      "AveragePool",
                                      "GlobalAveragePool",
                                      "BatchNormalization"};
  return names;
}

const OperatorNames& milds() {
  static const OperatorNames names = {"LeakyRelu", "PRelu", "Sigmoid",  "Tanh", "HardSigmoid", "HardSwish", "Elu",
                                      "Celu",      "Selu",  "Softplus", "Erf",  "Gelu",        "Mish",      "Softsign"};
  return names;
}

const OperatorNames& norms() {
  static const OperatorNames names = {
      "Softmax", "LogSoftmax", "LayerNormalization", "InstanceNormalization", "GroupNormalization", "RMSNormalization"};
  return names;
}

const OperatorNames& jumpers() {
  static const OperatorNames names = {"Round",
                                      "Floor",
                                      "Ceil",
                                      "Sign",
                                      "Greater",
                                      "Less",
                                      "Equal",
                                      "GreaterOrEqual",
                                      "LessOrEqual",
                                      "Mod",
                                      "Hardmax",
                                      "ArgMax",
                                      "ArgMin",
                                      "TopK",
                                      "QuantizeLinear",
                                      "IsNaN",
                                      "IsInf",
                                      "NonZero",
                                      "QLinearConv",
                                      "QLinearMatMul",
                                      "Shrink",
                                      "DynamicQuantizeLinear",
                                      "NonMaxSuppression",
                                      "ThresholdedRelu",
                                      "Unique",
                                      "BitCast"};
  return names;
}

/// Operators whose numbers cannot be predicted: random ones, and those with bodies.
const OperatorNames& unknowable() {
  static const OperatorNames names = {
      "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial",    "Bernoulli", "If",
      "Loop",         "Scan",          "SequenceMap",      "Optional",          "SplitToSequence"};
  return names;
}

bool is_float_value(const Graph& graph, ValueId id) {
  return id.valid() && graph.value(id).type.kind == ValueKind::kTensor && is_float(graph.value(id).type.element);
}

/// Every element of the constant satisfies the predicate; false when it is no constant float.
template <class Predicate>
bool all_of(const Graph& graph, ValueId id, Predicate&& predicate) {
  const Tensor* constant = constant_of(graph, id);
  const auto values = constant != nullptr ? floats_of(*constant) : std::nullopt;
  return values && std::ranges::all_of(*values, predicate);
}

/// Bounds that let zero through keep the size of an element.
bool clips_around_zero(const Graph& graph, const Node& node) {
  const ValueId low = input_of(node, 1);
  const ValueId high = input_of(node, 2);
  return (!low.valid() || all_of(graph, low, [](double v) { return v <= 0; })) &&
         (!high.valid() || all_of(graph, high, [](double v) { return v >= 0; }));
}

bool is_mild(const Graph& graph, const Node& node) {
  if (node.op_type == "LeakyRelu") return std::abs(attribute_or<float>(node, "alpha", 0.01F)) <= 1;
  if (node.op_type == "PRelu") return all_of(graph, input_of(node, 1), [](double v) { return std::abs(v) <= 1; });
  if (node.op_type == "Elu" || node.op_type == "Celu")
    return std::abs(attribute_or<float>(node, "alpha", 1.0F) - 1.0F) < 1e-6F;
  if (node.op_type == "HardSigmoid")
    return std::abs(attribute_or<float>(node, "alpha", 0.2F)) <= 1 &&
           std::abs(attribute_or<float>(node, "beta", 0.5F)) <= 1;
  if (node.op_type == "Selu") return find_attribute<float>(node, "alpha") == nullptr;
  return true;
}

bool is_sum(const Graph& graph, const Node& node) {
  if (node.op_type == "Div") return constant_of(graph, input_of(node, 1)) != nullptr;
  if (node.op_type != "BatchNormalization") return true;
  for (std::size_t i = 1; i < 5; ++i)
    if (constant_of(graph, input_of(node, i)) == nullptr) return false;
  return node.outputs.size() == 1;
}

/// Numbers become integers with a jump; otherwise a cast rounds at most.
NumericKind cast_numbers(const Graph& graph, const Node& node) {
  if (!is_float_value(graph, input_of(node, 0))) return NumericKind::kMoves;
  return is_float_value(graph, node.outputs[0]) ? NumericKind::kMild : NumericKind::kJumps;
}

/// Signed terms are added up: the magnitudes' sum may be much larger than the sum.
bool cancels(const Node& node) {
  static const OperatorNames names = {"Conv", "ConvTranspose", "MatMul", "Gemm"};
  return names.contains(node.op_type);
}

/// Input ports that decide the shape of an output, or that name places to write to, once each.
bool decides(const Node& node, std::size_t port) {
  static const std::map<std::string_view, std::vector<std::size_t>> kPorts = {{"Reshape", {1}},
                                                                              {"Expand", {1}},
                                                                              {"Tile", {1}},
                                                                              {"Slice", {1, 2, 3, 4}},
                                                                              {"Resize", {1, 2, 3}},
                                                                              {"Upsample", {1}},
                                                                              {"TopK", {1}},
                                                                              {"Range", {0, 1, 2}},
                                                                              {"ConstantOfShape", {0}},
                                                                              {"Pad", {1, 3}},
                                                                              {"Squeeze", {1}},
                                                                              {"Unsqueeze", {1}},
                                                                              {"Split", {1}},
                                                                              {"OneHot", {1, 2}},
                                                                              {"CumSum", {1}},
                                                                              {"NonMaxSuppression", {2, 3, 4}},
                                                                              {"ScatterElements", {1}},
                                                                              {"ScatterND", {1}},
                                                                              {"Scatter", {1}},
                                                                              {"Trilu", {1}},
                                                                              {"LSTM", {4}},
                                                                              {"GRU", {4}},
                                                                              {"RNN", {4}},
                                                                              {"ReverseSequence", {1}},
                                                                              {"TensorScatter", {2}},
                                                                              {"AffineGrid", {1}},
                                                                              {"CenterCropPad", {1}},
                                                                              {"Col2Im", {1, 2}},
                                                                              {"DFT", {1, 2}},
                                                                              {"STFT", {1, 3}},
                                                                              {"MaxUnpool", {1, 2}},
                                                                              {"RoiAlign", {2}},
                                                                              {"Dropout", {1, 2}},
                                                                              {"NonZero", {0}},
                                                                              {"Unique", {0}},
                                                                              {"Compress", {1}},
                                                                              {"EyeLike", {}},
                                                                              {"HammingWindow", {0}}};
  if (node.op_type.starts_with("Reduce")) return port == 1;
  const auto found = kPorts.find(node.op_type);
  return found != kPorts.end() && std::ranges::find(found->second, port) != found->second.end();
}

bool reads_shape_only(const Node& node) { return is_op(node, "Shape") || is_op(node, "Size"); }

/// Backends may differ by one step.
bool quantises(const Node& node) {
  return node.op_type.starts_with("QLinear") || node.op_type.ends_with("QuantizeLinear");
}

/// The values of the region that decide a shape in it. Backwards: whatever a deciding value is computed from decides
/// too, except where only a shape is read.
std::set<ValueId> deciding(const Graph& graph, const Region& region) {
  std::set<ValueId> result;
  const std::vector<std::size_t> nodes = region.nodes.members();
  for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
    const Node& node = graph.nodes[*n];
    const bool made = std::ranges::any_of(node.outputs, [&](ValueId id) { return id.valid() && result.contains(id); });
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i].valid() && ((made && !reads_shape_only(node)) || decides(node, i)))
        result.insert(node.inputs[i]);
  }
  return result;
}

/// Walks the region and follows which values are exact: copies of inputs and constants.
class Study {
 public:
  Study(const Graph& graph, const Region& region) : graph_(graph), region_(region) {}

  RegionNumbers run() {
    RegionNumbers result{.may_seed = true, .may_stress = true, .may_size = true, .may_tie = true, .kept = {}};
    for (const std::size_t n : region_.nodes.members()) visit(graph_.nodes[n], result);
    result.may_stress &= result.may_seed;
    result.may_size &= result.may_stress;
    result.may_tie &= result.may_stress;
    return result;
  }

 private:
  [[nodiscard]] bool is_exact(ValueId id) const { return !id.valid() || !inexact_.contains(id); }

  void visit(const Node& node, RegionNumbers& result) {
    const NumericKind kind = numbers_of(graph_, node);
    if (!bodies_of(node).empty() || unknowable().contains(node.op_type)) result.may_seed = false;
    const bool exact = std::ranges::all_of(node.inputs, [&](ValueId id) { return is_exact(id); });
    int depth = cancels(node) ? 1 : 0;
    int deepest = 0;
    for (const ValueId id : node.inputs)
      if (const auto found = depth_.find(id); id.valid() && found != depth_.end())
        deepest = std::max(deepest, found->second);
    depth += deepest;
    judge(kind, exact, depth, node, result);
    const bool copies = kind == NumericKind::kMoves || kind == NumericKind::kIntegers ||
                        (kind == NumericKind::kJumps && !quantises(node));
    const bool keeps_exact = reads_shape_only(node) || (exact && copies);
    for (const ValueId id : node.outputs) {
      if (!id.valid()) continue;
      if (!keeps_exact) inexact_.insert(id);
      depth_[id] = depth;
    }
  }

  void judge(NumericKind kind, bool exact, int depth, const Node& node, RegionNumbers& result) const {
    if (depth > kMostSums) result.may_size = false;
    switch (kind) {
      case NumericKind::kMoves:
      case NumericKind::kSums:
      case NumericKind::kMild:
        return;
      case NumericKind::kIntegers:
        if (!exact && !reads_shape_only(node)) result.may_seed = false;
        return;
      case NumericKind::kNorms:
        result.may_size = false;
        if (!exact) result.may_stress = false;
        // Equal elements have no variance, so the result consists of rounding errors.
        if (node.op_type.ends_with("Normalization")) result.may_tie = false;
        return;
      case NumericKind::kJumps:
        result.may_size = false;
        if (!exact && !is_judged_by_choice(node)) result.may_seed = false;
        return;
      case NumericKind::kOther:
        result.may_stress = false;
        return;
    }
  }

  /// Indices that leave the region without being read in it are judged by the values that they point at.
  [[nodiscard]] bool is_judged_by_choice(const Node& node) const {
    if (node.op_type != "ArgMax" && node.op_type != "ArgMin" && node.op_type != "TopK") return false;
    for (const std::size_t n : region_.nodes.members())
      for (const ValueId id : graph_.nodes[n].inputs)
        if (id.valid() && std::ranges::find(node.outputs, id) != node.outputs.end() &&
            is_integer(graph_.value(id).type.element))
          return false;
    return true;
  }

  const Graph& graph_;
  const Region& region_;
  std::set<ValueId> inexact_;
  std::map<ValueId, int> depth_;
};

}  // namespace

NumericKind numbers_of(const Graph& graph, const Node& node) {
  if (is_op(node, "Cast") || is_op(node, "CastLike")) return cast_numbers(graph, node);
  if (node.domain == "com.microsoft" && node.op_type.starts_with("QLinear")) return NumericKind::kJumps;
  if (!node.domain.empty()) return NumericKind::kOther;
  if (jumpers().contains(node.op_type)) return NumericKind::kJumps;
  const bool has_float = std::ranges::any_of(node.outputs, [&](ValueId id) { return is_float_value(graph, id); });
  if (!has_float) return NumericKind::kIntegers;
  if (node.op_type == "Clip") return clips_around_zero(graph, node) ? NumericKind::kMoves : NumericKind::kOther;
  if (node.op_type == "MaxPool" && node.outputs.size() > 1) return NumericKind::kJumps;
  if (movers().contains(node.op_type)) return NumericKind::kMoves;
  if (sums().contains(node.op_type)) return is_sum(graph, node) ? NumericKind::kSums : NumericKind::kOther;
  if (milds().contains(node.op_type)) return is_mild(graph, node) ? NumericKind::kMild : NumericKind::kOther;
  if (norms().contains(node.op_type)) return NumericKind::kNorms;
  return NumericKind::kOther;
}

RegionNumbers study(const Graph& graph, const Uses& uses, const Region& region) {
  RegionNumbers result = Study(graph, region).run();
  for (const ValueId id : region.outputs)
    if (!graph.value(id).type.is_static()) result.may_seed = false;
  if (!has_static_border(graph, uses, region)) result.may_seed = false;
  const std::set<ValueId> keep = deciding(graph, region);
  for (const ValueId id : region.inputs) result.kept.push_back(keep.contains(id));
  if (!result.may_seed) result = {.kept = std::move(result.kept)};
  return result;
}

}  // namespace collage
