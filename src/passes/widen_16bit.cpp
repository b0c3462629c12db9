// Computes in 32-bit floats what the model computes in 16-bit floats. The processor has no 16-bit arithmetic, so
// engines would convert at every node. Graph inputs and outputs keep their types and weights are converted once.
// Computed values get new names, because they are no longer rounded to 16 bits.
#include <algorithm>
#include <map>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

Tensor widened(const Tensor& tensor) {
  const auto values = floats_of(tensor);
  COLLAGE_CHECK(values.has_value(), to_string(tensor.value_type()));
  return float_tensor(tensor.extents, *values);
}

class Widening {
 public:
  explicit Widening(Editor& editor) : editor_(editor) {}

  void run() {
    for (std::uint32_t n = 0; n < editor_.original_nodes(); ++n)
      if (is_wanted(NodeId{n})) widen(NodeId{n});
  }

 private:
  bool is_16bit_tensor(ValueId id) const {
    if (!id.valid()) return false;
    const ValueType& type = editor_.value(id).type;
    return type.kind == ValueKind::kTensor && is_16bit_float(type.element);
  }

  /// Standard operators on tensors without bodies; BitCast means the bits, not the number.
  bool is_widenable(const Node& node) const {
    const auto is_tensor = [&](ValueId id) { return !id.valid() || editor_.value(id).type.kind == ValueKind::kTensor; };
    return node.domain.empty() && node.op_type != "BitCast" && bodies_of(node).empty() &&
           std::all_of(node.inputs.begin(), node.inputs.end(), is_tensor) &&
           std::all_of(node.outputs.begin(), node.outputs.end(), is_tensor);
  }

  bool is_wanted(NodeId id) const {
    const Node& node = editor_.node(id);
    const auto touches = [&](ValueId value) { return is_16bit_tensor(value); };
    return is_widenable(node) && !is_border_cast(node) &&
           (std::any_of(node.inputs.begin(), node.inputs.end(), touches) ||
            std::any_of(node.outputs.begin(), node.outputs.end(), touches));
  }

  /// Conversions that must stay: from a 16-bit value made outside the widened part, or to one needed outside of it.
  bool is_border_cast(const Node& node) const {
    if (!is_op(node, "Cast")) return false;
    const ValueId from = node.inputs[0];
    const ValueId to = node.outputs[0];
    if (is_16bit_tensor(from)) {
      const NodeId maker = editor_.producer(from);
      return element_of(editor_.graph(), to) == ElementType::kFloat32 &&
             (!maker.valid() || !is_widenable(editor_.node(maker)));
    }
    const auto& readers = editor_.readers(to);
    return element_of(editor_.graph(), from) == ElementType::kFloat32 &&
           (editor_.is_pinned(to) ||
            std::any_of(readers.begin(), readers.end(), [&](NodeId r) { return !is_widenable(editor_.node(r)); }));
  }

  ValueType wide_type(ValueId id) const {
    ValueType type = editor_.value(id).type;
    type.element = ElementType::kFloat32;
    return type;
  }

  Node cast(ValueId from, ValueId to, ElementType type) {
    return Node{.name = editor_.value(from).name + "_cast",
                .domain = {},
                .op_type = "Cast",
                .inputs = {from},
                .outputs = {to},
                .captures = {},
                .attributes = {Attribute{.name = "to", .value = static_cast<std::int64_t>(type)}}};
  }

  /// The 32-bit twin of a 16-bit value that is read; made on first use.
  ValueId wide(ValueId narrow, NodeId reader) {
    if (const auto known = wide_.find(narrow.index); known != wide_.end()) return known->second;
    const std::string name = editor_.value(narrow).name + "_f32";
    if (const Tensor* constant = constant_of(editor_.graph(), narrow)) {
      const ValueId made = editor_.add_constant(name, widened(*constant));
      return wide_[narrow.index] = made;
    }
    const ValueId made = editor_.add_value(name, wide_type(narrow));
    editor_.insert_before(reader, cast(narrow, made, ElementType::kFloat32));
    return wide_[narrow.index] = made;
  }

  void widen_attributes(Node& node) {
    for (Attribute& attribute : node.attributes) {
      if (attribute.name == "to" || attribute.name == "dtype" || attribute.name == "output_dtype") {
        if (auto* type = std::get_if<std::int64_t>(&attribute.value))
          if (is_16bit_float(static_cast<ElementType>(*type))) *type = static_cast<std::int64_t>(ElementType::kFloat32);
      }
      if (auto* tensor = std::get_if<Tensor>(&attribute.value))
        if (is_16bit_float(tensor->type)) *tensor = widened(*tensor);
    }
  }

  void widen(NodeId id) {
    Node node = editor_.node(id);
    for (ValueId& input : node.inputs)
      if (is_16bit_tensor(input)) input = wide(input, id);
    std::vector<std::pair<ValueId, ValueId>> made;
    for (ValueId& output : node.outputs) {
      if (!is_16bit_tensor(output)) continue;
      const ValueId twin = editor_.add_value(editor_.value(output).name + "_f32", wide_type(output));
      made.emplace_back(output, twin);
      wide_[output.index] = twin;
      output = twin;
    }
    widen_attributes(node);
    // The rounded value is made again from the wide one, under its name; it dies unless something still reads it.
    editor_.replace(id, std::move(node));
    for (const auto& [narrow, twin] : made)
      narrowing_.push_back(editor_.insert_before(id, cast(twin, narrow, element_of(editor_.graph(), narrow))));
  }

 public:
  /// Drops the roundings that only widened nodes read.
  void clean() {
    for (const NodeId cast : narrowing_) editor_.remove_if_dead(cast);
  }

 private:
  Editor& editor_;
  std::map<std::uint32_t, ValueId> wide_;  ///< by index of the narrow value
  std::vector<NodeId> narrowing_;
};

}  // namespace

Result<bool> widen_16bit(Graph& graph, PassContext&) {
  Editor editor(graph);
  Widening widening(editor);
  widening.run();
  widening.clean();
  COLLAGE_TRY_VOID(editor.finish());
  return editor.changed();
}

}  // namespace collage
