// The family of element-wise operators: chains of them become one program.
// All values inside a chain must have the elements of the result; smaller ones come in as broadcast operands.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "elementwise/element_loops.h"
#include "elementwise/element_program.h"
#include "family.h"
#include "layout.h"

namespace collage::host {
namespace {

/// How a node's attributes become an instruction's parameters.
enum class Params : std::uint8_t { kNone, kAlpha, kAlphaBeta, kAlphaGamma, kClip, kInfinity };

struct Operator {
  std::string_view name;
  std::string_view operation;  ///< empty = the name
  Params params = Params::kNone;
  double first = 0;   ///< default of the first parameter
  double second = 0;  ///< and of the second
};

/// Where no bound is given: ONNX's default, which JSON can hold, unlike infinity.
constexpr double kMost = std::numeric_limits<float>::max();

constexpr std::array kOperators = {
    Operator{"Abs"},
    Operator{"Neg"},
    Operator{"Relu"},
    Operator{"Sigmoid"},
    Operator{"Tanh"},
    Operator{"Exp"},
    Operator{"Log"},
    Operator{"Erf"},
    Operator{"Sqrt"},
    Operator{"Reciprocal"},
    Operator{"Floor"},
    Operator{"Ceil"},
    Operator{"Round"},
    Operator{"Sign"},
    Operator{"Sin"},
    Operator{"Cos"},
    Operator{"Softplus"},
    Operator{"Softsign"},
    Operator{"Mish"},
    Operator{"HardSwish"},
    Operator{"Not"},
    Operator{"IsNaN"},
    Operator{"BitwiseNot"},
    Operator{"Gelu"},
    Operator{"Cast"},
    Operator{"Where"},
    Operator{"IsInf", {}, Params::kInfinity},
    Operator{"Swish", {}, Params::kAlpha, 1.0},
    Operator{"LeakyRelu", {}, Params::kAlpha, 0.01},
    Operator{"ThresholdedRelu", {}, Params::kAlpha, 1.0},
    Operator{"Elu", {}, Params::kAlpha, 1.0},
    Operator{"Celu", {}, Params::kAlpha, 1.0},
    Operator{"Selu", {}, Params::kAlphaGamma, 1.67326319217681884765625, 1.05070102214813232421875},
    Operator{"HardSigmoid", {}, Params::kAlphaBeta, 0.2, 0.5},
    Operator{"Clip", {}, Params::kClip, -kMost, kMost},
    Operator{"Add"},
    Operator{"Sub"},
    Operator{"Mul"},
    Operator{"Div"},
    Operator{"Pow"},
    Operator{"PRelu"},
    Operator{"Mod"},
    Operator{"Min"},
    Operator{"Max"},
    Operator{"Sum", "Add"},
    Operator{"Mean", "Add"},
    Operator{"Equal"},
    Operator{"Less"},
    Operator{"LessOrEqual"},
    Operator{"Greater"},
    Operator{"GreaterOrEqual"},
    Operator{"And"},
    Operator{"Or"},
    Operator{"Xor"},
    Operator{"BitwiseAnd"},
    Operator{"BitwiseOr"},
    Operator{"BitwiseXor"},
};

const Operator* operator_of(const Node& node) {
  if (!node.domain.empty()) return nullptr;
  const auto found = std::ranges::find(kOperators, std::string_view(node.op_type), &Operator::name);
  return found == kOperators.end() ? nullptr : &*found;
}

bool knows(const Node& node) { return operator_of(node) != nullptr; }

/// The one number in a constant; nothing for omitted, computed or longer values.
std::optional<double> scalar_of(const Graph& graph, ValueId id) {
  const Tensor* constant = constant_of(graph, id);
  if (constant == nullptr || constant->size() != 1) return std::nullopt;
  if (const auto numbers = floats_of(*constant)) return numbers->front();
  if (const auto numbers = integers_of(*constant)) return static_cast<double>(numbers->front());
  return std::nullopt;
}

/// Extents without leading ones: what tells whether a value has all elements of the result.
Extents significant(const Extents& extents) {
  const auto first = std::ranges::find_if(extents, [](std::int64_t extent) { return extent != 1; });
  return {first, extents.end()};
}

class Builder {
 public:
  Builder(const Site& site, const Variant& variant) : site_(site), variant_(variant) {}

  std::expected<Draft, Refusal> build() {
    const Region& region = site_.region;
    extents_ = site_.type(region.outputs.front()).extents();
    for (const ValueId output : region.outputs)
      if (site_.type(output).extents() != extents_)
        return refuse(RefusalReason::kStructure, "outputs of several shapes");
    program_.count = element_count(extents_);
    find_order();
    find_operands();
    widen_operands();
    for (const std::size_t index : region.nodes.members())
      if (auto no = add_node(site_.graph.nodes[index])) return std::unexpected(*no);
    for (std::size_t o = 0; o < region.outputs.size(); ++o) program_.outputs.push_back(stored_result(o));
    Draft draft;
    draft.in_place = in_place_ports(program_, region.inputs.size());
    draft.program = to_json(program_);
    draft.constants = constants_;
    return draft;
  }

 private:
  using Objection = std::optional<Refusal>;

  /// Axes of the result, outermost in memory first.
  void find_order() {
    const Strides strides = strides_of(extents_, variant_.output_formats.front());
    for (std::size_t i = 0; i < extents_.size(); ++i) order_.push_back(i);
    std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  }

  /// Registers of operands come before those of results, so all operands are made first.
  void find_operands() {
    for (const std::size_t index : site_.region.nodes.members()) {
      const Node& node = site_.graph.nodes[index];
      for (std::size_t i = 0; i < data_inputs(node); ++i) {
        const ValueId id = node.inputs[i];
        const bool is_input = site_.input_port(id).has_value();
        const bool is_constant = constant_of(site_.graph, id) != nullptr;
        if ((!is_input && !is_constant) || registers_.contains(id)) continue;
        registers_[id] = static_cast<std::uint32_t>(program_.operands.size());
        program_.operands.push_back(operand_of(id));
      }
    }
    next_register_ = static_cast<std::uint32_t>(program_.operands.size());
  }

  /// Narrow operands are computed with in their full type.
  void widen_operands() {
    for (auto& [id, index] : registers_) {
      const ElementType stored = program_.operands[index].type;
      if (stored != element(id)) index = emit("Cast", stored, element(id), {index});
    }
  }

  /// The register with an output as its port stores it.
  std::uint32_t stored_result(std::size_t output) {
    const ValueId id = site_.region.outputs[output];
    const ElementType stored = stored_element(site_.type(id), variant_.output_formats[output]);
    const std::uint32_t result = registers_.at(id);
    return stored == element(id) ? result : emit("Cast", element(id), stored, {result});
  }

  /// Inputs that are read element by element; Clip's bounds and constant exponents become parameters.
  std::size_t data_inputs(const Node& node) const {
    if (node.op_type == "Clip") return 1;
    if (node.op_type == "Pow" && special_power(node)) return 1;
    return node.inputs.size();
  }

  Operand operand_of(ValueId id) {
    Operand operand;
    operand.type = site_.type(id).element;
    const Extents extents = site_.type(id).extents();
    Format format = plain();
    if (const auto port = site_.input_port(id)) {
      operand.source = *port;
      format = variant_.input_formats[*port];
      operand.type = stored_element(site_.type(id), format);
    } else {
      operand.source = static_cast<std::uint32_t>(site_.region.inputs.size() + constants_.size());
      constants_.push_back(id);
    }
    const Strides strides = strides_of(extents, format);
    const std::size_t rank = std::max(extents.size(), extents_.size());
    std::vector<OperandAxis> axes;
    for (const std::size_t axis : order_) {
      const std::size_t missing = rank - extents.size();
      const std::size_t shift = rank - extents_.size();
      const bool repeats = axis + shift < missing || extents[axis + shift - missing] == 1;
      axes.push_back({extents_[axis], repeats ? 0 : strides[axis + shift - missing]});
    }
    set_access(operand, axes, program_.count);
    return operand;
  }

  std::uint32_t emit(std::string_view operation, ElementType from, ElementType to, std::vector<std::uint32_t> in,
                     std::vector<double> params = {}) {
    program_.instructions.push_back({std::string(operation), from, to, std::move(in), std::move(params)});
    return next_register_++;
  }

  Objection add_node(const Node& node) {
    const ValueId result = node.outputs.front();
    if (significant(site_.type(result).extents()) != significant(extents_))
      return Refusal{RefusalReason::kStructure, "a value inside with fewer elements than the result"};
    for (const ValueId id : node.inputs)
      if (id.valid() && !site_.type(id).is_static()) return Refusal{RefusalReason::kShape, "a dynamic shape"};
    if (node.op_type == "Gelu") return add_gelu(node);
    if (node.op_type == "Where") return add_where(node);
    if (node.op_type == "Pow") return add_power(node);
    return add_plain(node);
  }

  [[nodiscard]] ElementType element(ValueId id) const { return site_.type(id).element; }

  Objection require(std::string_view operation, ElementType from, ElementType to) const {
    if (find_element_loop(operation, from, to) != nullptr) return std::nullopt;
    return Refusal{RefusalReason::kType, std::string(operation) + " on " + std::string(name_of(from))};
  }

  Objection add_plain(const Node& node) {
    const Operator& op = *operator_of(node);
    std::string_view operation = op.operation.empty() ? op.name : op.operation;
    if (op.name == "Mod" && attribute_or<std::int64_t>(node, "fmod", 0) != 0) operation = "Fmod";
    const ElementType from = element(node.inputs.front());
    const ElementType to = element(node.outputs.front());
    if (auto no = require(operation, from, to)) return no;
    const auto params = params_of(node, op);
    if (!params) return params.error();
    std::vector<std::uint32_t> in;
    for (std::size_t i = 0; i < data_inputs(node); ++i) in.push_back(registers_.at(node.inputs[i]));
    // Operators of any number of inputs are chains of two-operand instructions; one input is the neutral case.
    std::uint32_t result = in.front();
    if (in.size() == 1) {
      const bool copies = operation == "Add" || operation == "Min" || operation == "Max";
      result = copies ? emit("Cast", from, to, in) : emit(operation, from, to, in, *params);
    }
    for (std::size_t i = 1; i < in.size(); ++i) result = emit(operation, from, to, {result, in[i]}, *params);
    if (op.name == "Mean") {
      if (auto no = require("Scale", from, to)) return no;
      result = emit("Scale", from, to, {result}, {1.0 / static_cast<double>(in.size())});
    }
    registers_[node.outputs.front()] = result;
    return std::nullopt;
  }

  std::expected<std::vector<double>, Refusal> params_of(const Node& node, const Operator& op) const {
    const auto attribute = [&](std::string_view name, double fallback) {
      const float* found = find_attribute<float>(node, name);
      return found != nullptr ? static_cast<double>(*found) : fallback;
    };
    switch (op.params) {
      case Params::kNone:
        return std::vector<double>{};
      case Params::kAlpha:
        return std::vector{attribute("alpha", op.first)};
      case Params::kAlphaBeta:
        return std::vector{attribute("alpha", op.first), attribute("beta", op.second)};
      case Params::kAlphaGamma:
        return std::vector{attribute("alpha", op.first), attribute("gamma", op.second)};
      case Params::kInfinity:
        return std::vector{static_cast<double>(attribute_or<std::int64_t>(node, "detect_negative", 1)),
                           static_cast<double>(attribute_or<std::int64_t>(node, "detect_positive", 1))};
      case Params::kClip:
        break;
    }
    std::vector<double> bounds = {op.first, op.second};
    for (std::size_t i = 0; i < 2; ++i) {
      if (!input_of(node, i + 1).valid()) continue;
      const auto bound = scalar_of(site_.graph, node.inputs[i + 1]);
      if (!bound) return refuse(RefusalReason::kStructure, "a computed bound");
      if (std::isnan(*bound)) return refuse(RefusalReason::kAttribute, "a bound that is no number");
      bounds[i] = std::isinf(*bound) ? std::copysign(kMost, *bound) : *bound;
    }
    return bounds;
  }

  Objection add_gelu(const Node& node) {
    const ElementType type = element(node.inputs.front());
    const bool by_tanh = attribute_or<std::string>(node, "approximate", "none") == "tanh";
    const std::string_view operation = by_tanh ? "GeluTanh" : "Gelu";
    if (auto no = require(operation, type, type)) return no;
    registers_[node.outputs.front()] = emit(operation, type, type, {registers_.at(node.inputs.front())});
    return std::nullopt;
  }

  Objection add_where(const Node& node) {
    const ElementType type = element(node.outputs.front());
    if (auto no = require("Where", ElementType::kBool, type)) return no;
    std::vector<std::uint32_t> in;
    for (const ValueId id : node.inputs) in.push_back(registers_.at(id));
    registers_[node.outputs.front()] = emit("Where", ElementType::kBool, type, std::move(in));
    return std::nullopt;
  }

  /// The cheap operation behind a power with a well-known constant exponent.
  std::optional<std::string_view> special_power(const Node& node) const {
    if (element(node.inputs[0]) != ElementType::kFloat32) return std::nullopt;
    const auto exponent = scalar_of(site_.graph, node.inputs[1]);
    if (!exponent) return std::nullopt;
    if (*exponent == 2.0) return "Square";
    if (*exponent == 3.0) return "Cube";
    if (*exponent == 0.5) return "Sqrt";
    if (*exponent == -0.5) return "Rsqrt";
    if (*exponent == -1.0) return "Reciprocal";
    return std::nullopt;
  }

  Objection add_power(const Node& node) {
    const ElementType type = element(node.inputs[0]);
    const auto special = special_power(node);
    if (!special && element(node.inputs[1]) != type)
      return Refusal{RefusalReason::kType, "an exponent of another type than the base"};
    const std::string_view operation = special.value_or("Pow");
    if (auto no = require(operation, type, type)) return no;
    std::vector<std::uint32_t> in = {registers_.at(node.inputs[0])};
    if (!special) in.push_back(registers_.at(node.inputs[1]));
    registers_[node.outputs.front()] = emit(operation, type, type, std::move(in));
    return std::nullopt;
  }

  const Site& site_;
  const Variant& variant_;
  ElementProgram program_;
  Extents extents_;                 ///< of the result
  std::vector<std::size_t> order_;  ///< its axes, outermost in memory first
  std::vector<ValueId> constants_;
  std::map<ValueId, std::uint32_t> registers_;
  std::uint32_t next_register_ = 0;
};

/// What must hold before a Builder may look at types and inputs.
std::optional<Refusal> objection(const Site& site) {
  for (const std::size_t index : site.region.nodes.members()) {
    const Node& node = site.graph.nodes[index];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const bool may_miss = node.op_type == "Clip" && i > 0;
      if (!node.inputs[i].valid() && !may_miss) return Refusal{RefusalReason::kStructure, "an omitted input"};
      if (node.inputs[i].valid() && !site.type(node.inputs[i]).is_static())
        return Refusal{RefusalReason::kShape, "a dynamic shape inside"};
    }
    if (!site.type(node.outputs.front()).is_static()) return Refusal{RefusalReason::kShape, "a dynamic shape inside"};
  }
  return std::nullopt;
}

Drafted compile(const Site& site, const Variant& variant) {
  if (auto no = objection(site)) return std::unexpected(*no);
  return Builder(site, variant).build();
}

Variants support(const Site& site) {
  if (auto no = objection(site)) return std::unexpected(*no);
  std::vector<Variant> variants = uniform_variants(site);
  if (auto built = Builder(site, variants.front()).build(); !built) return std::unexpected(built.error());
  return variants;
}

Result<std::unique_ptr<Kernel>> load(const nlohmann::json& program, const LoadRequest& request) {
  return load_elements(element_program_of(program), request);
}

}  // namespace

const Family kElementwise = {.name = "elementwise",
                             .knows = knows,
                             .support = support,
                             .compile = compile,
                             .load = load,
                             .takes_chains = true,
                             .takes_narrow = true};

}  // namespace collage::host
