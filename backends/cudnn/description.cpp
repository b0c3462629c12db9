#include "backends/cudnn/description.h"

#include <algorithm>
#include <numeric>

namespace collage::cudnn {
namespace {

/// Dense strides, innermost the last axis; with `channels_last` the second axis is innermost.
Extents strides_of(const Extents& extents, bool channels_last) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), 0);
  if (channels_last) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  Extents strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= extents[order[i]];
  }
  return strides;
}

/// With one row more where there is one spatial axis only.
Extents with_rows(Extents extents) {
  if (extents.size() == 3) extents.insert(extents.begin() + 2, 1);
  return extents;
}
Extents with_row(Extents numbers, std::int64_t of_row) {
  if (numbers.size() == 1) numbers.insert(numbers.begin(), of_row);
  return numbers;
}

std::optional<Behind> operation_of(const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  if (node.op_type == "Add") return Behind{.mode = Pointwise::kAdd};
  if (node.op_type == "Relu") return Behind{.mode = Pointwise::kRelu};
  if (node.op_type == "LeakyRelu")
    return Behind{.mode = Pointwise::kRelu, .slope = attribute_or<float>(node, "alpha", 0.01F)};
  if (node.op_type == "Tanh") return Behind{.mode = Pointwise::kTanh};
  if (node.op_type == "Sigmoid") return Behind{.mode = Pointwise::kSigmoid};
  return std::nullopt;
}

class Describer {
 public:
  Describer(const Graph& graph, const Region& region, const Format& format)
      : graph_(graph), region_(region), is_last_(format.is_channels_last()) {}

  std::expected<Description, Refusal> run() {
    const std::vector<std::size_t> nodes = region_.nodes.members();
    if (nodes.empty() || region_.outputs.size() != 1 || !is_op(graph_.nodes[nodes[0]], "Conv"))
      return refuse(RefusalReason::kOperator, "no convolution with one result");
    for (const std::vector<ValueId>* list : {&region_.inputs, &region_.constants, &region_.outputs})
      for (const ValueId id : *list)
        if (const ValueType& type = graph_.value(id).type; !type.is_static() || type.element != ElementType::kFloat32)
          return refuse(RefusalReason::kType, to_string(type));
    if (auto done = convolution(graph_.nodes[nodes[0]]); !done) return std::unexpected(done.error());
    for (std::size_t i = 1; i < nodes.size(); ++i)
      if (auto done = add_behind(graph_.nodes[nodes[i]]); !done) return std::unexpected(done.error());
    if (running_ != region_.outputs[0]) return refuse(RefusalReason::kStructure, "a result inside");
    DescribedTensor& last = description_.tensors.back();
    last.kind = SourceKind::kOutput;
    return std::move(description_);
  }

 private:
  [[nodiscard]] Extents extents(ValueId id) const { return graph_.value(id).type.extents(); }

  std::uint32_t add(DescribedTensor tensor) {
    description_.tensors.push_back(std::move(tensor));
    return static_cast<std::uint32_t>(description_.tensors.size() - 1);
  }

  /// A tensor of the format of images that the region computes.
  std::uint32_t add_result() {
    return add({.kind = SourceKind::kInside, .extents = result_, .strides = strides_of(result_, is_last_)});
  }

  /// A value from outside, seen with these extents; strides are those of its own bytes.
  std::uint32_t add_source(ValueId id, Extents seen, bool channels_last, bool is_permuted = false) {
    DescribedTensor tensor{.extents = std::move(seen), .is_permuted = is_permuted};
    tensor.strides = strides_of(tensor.extents, channels_last);
    if (constant_of(graph_, id) != nullptr) {
      tensor.kind = SourceKind::kConstant;
      const auto found = std::ranges::find(description_.constants, id);
      tensor.index = static_cast<std::uint32_t>(found - description_.constants.begin());
      if (found == description_.constants.end()) description_.constants.push_back(id);
    } else {
      tensor.kind = SourceKind::kInput;
      tensor.index = static_cast<std::uint32_t>(std::ranges::find(region_.inputs, id) - region_.inputs.begin());
    }
    return add(std::move(tensor));
  }

  [[nodiscard]] bool is_given(ValueId id) const {
    return constant_of(graph_, id) != nullptr || std::ranges::find(region_.inputs, id) != region_.inputs.end();
  }

  std::expected<void, Refusal> convolution(const Node& node) {
    const Extents in = extents(node.inputs[0]);
    const Extents weights = extents(node.inputs[1]);
    const Extents out = extents(node.outputs[0]);
    if (in.size() < 3 || in.size() > 5 || std::ranges::find(out, 0) != out.end() ||
        std::ranges::find(in, 0) != in.end())
      return refuse(RefusalReason::kShape, "rank " + std::to_string(in.size()) + ", or no elements");
    if (constant_of(graph_, node.inputs[1]) == nullptr) return refuse(RefusalReason::kShape, "computed weights");
    const auto window = window_of(node, spatial(weights), spatial(in), spatial(out));
    if (!window) return std::unexpected(window.error());
    result_ = with_rows(out);
    description_.strides = with_row(window->strides, 1);
    description_.dilations = with_row(window->dilations, 1);
    description_.before = with_row(window->begin, 0);
    description_.after = with_row(window->end, 0);
    // The library takes no padding that cuts.
    if (std::ranges::any_of(window->end, [](std::int64_t pad) { return pad < 0; }))
      return refuse(RefusalReason::kAttribute, "rows that no window reaches");
    description_.x = add_source(node.inputs[0], with_rows(in), is_last_);
    description_.w = add_source(node.inputs[1], with_rows(weights), is_last_, is_last_);
    description_.y = add_result();
    running_ = node.outputs[0];
    const ValueId bias = input_of(node, 2);
    return bias.valid() ? add_channels(bias) : std::expected<void, Refusal>();
  }

  /// One number for each channel.
  std::expected<void, Refusal> add_channels(ValueId bias) {
    Extents seen(result_.size(), 1);
    seen[1] = result_[1];
    const std::uint32_t other = add_source(bias, seen, false);
    description_.behind.push_back({.mode = Pointwise::kAdd, .other = other, .result = add_result()});
    return {};
  }

  std::expected<void, Refusal> add_behind(const Node& node) {
    auto operation = operation_of(node);
    if (!operation) return refuse(RefusalReason::kOperator, node.op_type);
    if (node.outputs.size() != 1 || extents(node.outputs[0]) != extents(region_.outputs[0]) ||
        with_rows(extents(node.outputs[0])) != result_)
      return refuse(RefusalReason::kShape, "a result of another shape");
    if (operation->mode == Pointwise::kAdd) {
      const bool is_first = node.inputs[0] == running_;
      const ValueId other = node.inputs[is_first ? 1 : 0];
      if (!is_given(other) || other == running_) return refuse(RefusalReason::kStructure, "a sum with itself");
      auto seen = seen_as_result(extents(other));
      if (!seen) return std::unexpected(seen.error());
      // A tensor of all images lies in their format, one that broadcasts in plain order.
      operation->other =
          add_source(other, *seen, is_last_ && *seen == result_ && constant_of(graph_, other) == nullptr);
    } else if (node.inputs[0] != running_) {
      return refuse(RefusalReason::kStructure, "no chain of operations");
    }
    operation->result = add_result();
    description_.behind.push_back(*operation);
    running_ = node.outputs[0];
    return {};
  }

  /// Extents of an addend with ones in front, as the result's axes count.
  [[nodiscard]] std::expected<Extents, Refusal> seen_as_result(Extents own) const {
    const std::size_t rank = extents(region_.outputs[0]).size();
    if (own.size() > rank) return refuse(RefusalReason::kShape, "an addend of more axes");
    own.insert(own.begin(), rank - own.size(), 1);
    own = with_rows(std::move(own));
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i] != 1 && own[i] != result_[i]) return refuse(RefusalReason::kShape, "an addend that is larger");
    return own;
  }

  const Graph& graph_;
  const Region& region_;
  bool is_last_;
  Extents result_;  ///< of the convolution, in the library's axes
  ValueId running_;
  Description description_ = {};
};

}  // namespace

std::expected<Description, Refusal> describe(const Graph& graph, const Region& region, const Format& format) {
  return Describer(graph, region, format).run();
}

}  // namespace collage::cudnn
