#include "compiler/codegen/lowering.h"

#include <algorithm>

#include "compiler/expressions/expression.h"

namespace collage::native {

using Halide::Expr;

namespace {

std::size_t position_of(const std::vector<ValueId>& ids, ValueId id) {
  return static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin());
}

/// The buffer's numbers as f32. The Func has no schedule, so it is computed where it is read.
Halide::Func widened(const Halide::ImageParam& param) {
  const std::vector<Halide::Var> loops = loop_variables(static_cast<std::size_t>(param.dimensions()));
  Halide::Func wide("wide");
  wide(loops) = Halide::cast<float>(param(std::vector<Expr>(loops.begin(), loops.end())));
  return wide;
}

template <class T>
Expr first_of(const Tensor& tensor) {
  return Halide::Internal::make_const(Halide::type_of<T>(), *reinterpret_cast<const T*>(tensor.data.data()));
}

}  // namespace

void fix_shape(Halide::Parameter buffer, const Argument& argument, bool with_bounds, const OpenView& view) {
  const std::size_t rank = argument.extents.size();
  const auto is_open = [](const Terms& terms, std::size_t i) { return i < terms.size() && terms[i].is_open(); };
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t from = rank - 1 - i;
    const int dimension = static_cast<int>(i);
    if (with_bounds) {
      buffer.set_min_constraint(dimension, 0);
      if (!is_open(view.extents, from))
        buffer.set_extent_constraint(dimension, static_cast<int>(argument.extents[from]));
      buffer.set_min_constraint_estimate(dimension, 0);
      buffer.set_extent_constraint_estimate(dimension, static_cast<int>(argument.extents[from]));
    }
    // Halide takes the innermost stride for 1 when nothing is said.
    buffer.set_stride_constraint(dimension,
                                 is_open(view.strides, from) ? Expr() : Expr(static_cast<int>(argument.strides[from])));
  }
  buffer.set_host_alignment(64);
}

std::optional<Expr> literal_of(const Tensor& tensor) {
  if (tensor.size() != 1) return std::nullopt;
  switch (tensor.type) {
    case ElementType::kFloat32:
      return first_of<float>(tensor);
    case ElementType::kFloat64:
      return first_of<double>(tensor);
    case ElementType::kInt8:
      return first_of<std::int8_t>(tensor);
    case ElementType::kInt16:
      return first_of<std::int16_t>(tensor);
    case ElementType::kInt32:
      return first_of<std::int32_t>(tensor);
    case ElementType::kInt64:
      return first_of<std::int64_t>(tensor);
    case ElementType::kUint8:
      return first_of<std::uint8_t>(tensor);
    case ElementType::kUint16:
      return first_of<std::uint16_t>(tensor);
    case ElementType::kUint32:
      return first_of<std::uint32_t>(tensor);
    case ElementType::kUint64:
      return first_of<std::uint64_t>(tensor);
    case ElementType::kBool:
      return Halide::Internal::make_bool(*tensor.data.data() != std::byte{0});
    default:
      return std::nullopt;
  }
}

std::vector<Halide::Var> loop_variables(std::size_t count) {
  std::vector<Halide::Var> variables;
  for (std::size_t i = 0; i < count; ++i)
    variables.emplace_back("loop" + std::to_string(i));  // Halide names its own v0, v1, ...
  return variables;
}

std::vector<Halide::Var> innermost_first(const std::vector<Halide::Var>& variables) {
  return {variables.rbegin(), variables.rend()};
}

std::vector<Expr> innermost_first(const Indices& indices) { return {indices.rbegin(), indices.rend()}; }

Indices as_indices(const std::vector<Halide::Var>& variables) { return {variables.begin(), variables.end()}; }

Expr Readable::operator()(const Indices& at) const {
  Indices where = at;
  for (std::size_t i = 0; i < where.size(); ++i)
    if (extents[i] == 1) where[i] = 0;
  const Expr value = func(innermost_first(where));
  return is_bool ? value != Halide::Internal::make_zero(value.type()) : value;
}

Format Lowering::format_of(ValueId id) const {
  if (const std::size_t i = position_of(region_.inputs, id); i < region_.inputs.size())
    return variant_.input_formats[i];
  if (const std::size_t i = position_of(region_.outputs, id); i < region_.outputs.size())
    return variant_.output_formats[i];
  return plain();
}

ElementType Lowering::element_of(ValueId id) const { return stored_element(graph_.value(id).type, format_of(id)); }

std::uint32_t Lowering::constant_index(ValueId id) {
  const std::size_t found = position_of(constants_, id);
  if (found == constants_.size()) constants_.push_back(id);
  return static_cast<std::uint32_t>(found);
}

std::uint32_t Lowering::part_index(ValueId id, const Packing& packing) {
  const ConstantPart part{.source = constant_index(id), .packing = packing};
  const auto found = static_cast<std::size_t>(std::ranges::find(parts_, part) - parts_.begin());
  if (found == parts_.size()) parts_.push_back(part);
  return static_cast<std::uint32_t>(found);
}

bool Lowering::is_open(ValueId id, const Space& space, std::size_t axis) const {
  return is_open() && open_view(id, space).extents[axis].is_open();
}

Halide::TailStrategy Lowering::tail(const Space& space, std::size_t axis, std::int64_t factor,
                                    Halide::TailStrategy otherwise) {
  const ValueId output = region_.outputs[0];
  if (factor == 1 || !is_open(output, space, axis)) return Halide::TailStrategy::ShiftInwards;
  if (open_.serves_all) return otherwise;
  const Guard guard{.term = open_view(output, space).extents[axis], .least = factor};
  if (std::ranges::find(guards_, guard) == guards_.end()) guards_.push_back(guard);
  return Halide::TailStrategy::ShiftInwards;
}

OpenView Lowering::open_view(ValueId id, const Space& space) const {
  if (!is_open()) return {};
  if (const auto found = open_.region->shapes.find(id); found != open_.region->shapes.end())
    return open_view_of(found->second, format_of(id), space);
  Terms fixed;
  for (const std::int64_t extent : graph_.value(id).type.extents()) fixed.push_back({.factor = extent});
  return open_view_of(fixed, format_of(id), space);
}

OpenView Lowering::fixed_view(ValueId id, const View& view) {
  OpenView fixed;
  if (!is_open()) return fixed;
  if (const auto found = open_.region->shapes.find(id);
      found != open_.region->shapes.end() && std::ranges::any_of(found->second, &Term::is_open))
    complaint_ = graph_.value(id).name + ", which has open dimensions, in a form of its own";
  for (const std::int64_t extent : view.extents) fixed.extents.push_back({.factor = extent});
  for (const std::int64_t stride : view.strides) fixed.strides.push_back({.factor = stride});
  return fixed;
}

Readable Lowering::readable(const Source& source) const {
  const bool is_narrow = is_16bit_float(source.argument.type);
  Readable out{is_narrow ? widened(source.param) : Halide::Func(source.param), source.argument.extents,
               source.argument.type == ElementType::kBool};
  const std::size_t rank = out.extents.size();
  for (std::size_t i = 0; i < rank; ++i) {
    const bool open = i < source.view.extents.size() && source.view.extents[i].is_open();
    const int dimension = static_cast<int>(rank - 1 - i);
    out.sizes.push_back(open ? source.param.dim(dimension).extent() : Expr(static_cast<int>(out.extents[i])));
  }
  return out;
}

Readable Lowering::add(Argument argument, OpenView view, std::string name) {
  Halide::ImageParam param(stored_type(argument.type), static_cast<int>(argument.extents.size()), std::move(name));
  fix_shape(param.parameter(), argument, true, view);
  sources_.push_back({param, std::move(argument), std::move(view)});
  return readable(sources_.back());
}

Readable Lowering::read(ValueId id, const View& view) { return read(id, view, fixed_view(id, view)); }

Readable Lowering::read(ValueId id, const View& view, OpenView open) {
  const ElementType type = element_of(id);
  if (const auto found = views_.find({id, view}); found != views_.end()) return readable(sources_[found->second]);
  views_.emplace(std::pair(id, view), sources_.size());
  const bool is_constant = graph_.value(id).constant.has_value();
  const auto index = is_constant ? part_index(id, {}) : static_cast<std::uint32_t>(position_of(region_.inputs, id));
  return add({.kind = is_constant ? ArgumentKind::kConstant : ArgumentKind::kInput,
              .index = index,
              .type = type,
              .extents = view.extents,
              .strides = view.strides},
             std::move(open), "in" + std::to_string(sources_.size()));
}

Readable Lowering::read(ValueId id, const Space& space) {
  const auto view = view_of(graph_.value(id).type.extents(), format_of(id), space);
  COLLAGE_CHECK(view.has_value(), graph_.value(id).name);
  return read(id, *view, open_view(id, space));
}

Halide::ImageParam Lowering::buffer(ValueId id, const View& view) {
  (void)read(id, view);
  return sources_[views_.at({id, view})].param;
}

Halide::Func Lowering::packed(ValueId id, Packing packing, ElementType type, const Extents& extents) {
  (void)packed_buffer(id, std::move(packing), type, extents);
  return readable(sources_.back()).func;
}

Halide::ImageParam Lowering::packed_buffer(ValueId id, Packing packing, ElementType type, const Extents& extents) {
  const View view{.extents = extents, .strides = strides_of(extents, plain())};
  (void)add({.kind = ArgumentKind::kConstant,
             .index = part_index(id, packing),
             .type = type,
             .extents = view.extents,
             .strides = view.strides},
            fixed_view(id, view), "packed" + std::to_string(sources_.size()));
  return sources_.back().param;
}

void Lowering::add_output(ValueId id, const View& view, OpenView open) {
  output_arguments_.push_back({.kind = ArgumentKind::kOutput,
                               .index = static_cast<std::uint32_t>(position_of(region_.outputs, id)),
                               .type = element_of(id),
                               .extents = view.extents,
                               .strides = view.strides});
  output_views_.push_back(std::move(open));
}

void Lowering::check_elements(const Halide::Func& func, std::size_t result, ValueId id) {
  if (func.types().at(result) != stored_type(element_of(id)))
    complaint_ = graph_.value(id).name + ", in other elements than it has";
}

void Lowering::set_output(const Halide::Func& func, ValueId id, const View& view) {
  add_output(id, view, fixed_view(id, view));
  check_elements(func, 0, id);
  fix_shape(func.output_buffer().parameter(), output_arguments_.back(), true, output_views_.back());
  outputs_.push_back(func);
}

void Lowering::set_outputs(const Halide::Func& func, const std::vector<ValueId>& ids, const Space& space) {
  const auto buffers = func.output_buffers();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto view = view_of(graph_.value(ids[i]).type.extents(), format_of(ids[i]), space);
    COLLAGE_CHECK(view.has_value(), graph_.value(ids[i]).name);
    add_output(ids[i], *view, open_view(ids[i], space));
    check_elements(func, i, ids[i]);
    // Results of one Func have one domain: Halide wants it said once.
    fix_shape(buffers[i].parameter(), output_arguments_.back(), i == 0, output_views_.back());
  }
  outputs_.push_back(func);
}

TensorCode Lowering::take(const std::string& name) {
  TensorCode code{.name = name, .pipeline = Halide::Pipeline(outputs_)};
  for (const Source& source : sources_) {
    code.inputs.push_back(source.param);
    code.arguments.push_back(source.argument);
    code.views.push_back(source.view);
  }
  code.arguments.insert(code.arguments.end(), output_arguments_.begin(), output_arguments_.end());
  code.views.insert(code.views.end(), output_views_.begin(), output_views_.end());
  code.guards = std::move(guards_);
  code.constants = std::move(constants_);
  code.parts = std::move(parts_);
  code.library = std::move(library_);
  code.micro_products = std::move(micro_products_);
  return code;
}

Expr Elements::at(ValueId id) {
  if (const auto found = known_.find(id); found != known_.end()) return found->second;
  const Expr expression = made(id);
  known_.emplace(id, expression);
  return expression;
}

Expr Elements::operand(const Node& node, std::size_t i) {
  const ValueId id = node.inputs[i];
  if (!id.valid()) return Expr();
  const Graph& graph = lowering_.graph();
  if (!operand_axis(graph, node, i)) return at(id);
  const auto view = view_of(operand_extents(graph, node, i), plain(), space_);
  COLLAGE_CHECK(view.has_value(), graph.value(id).name);
  return lowering_.read(id, *view)(at_);
}

Expr Elements::made(ValueId id) {
  const Graph& graph = lowering_.graph();
  if (const Tensor* constant = constant_of(graph, id))
    if (const auto literal = literal_of(*constant)) return *literal;
  for (const std::size_t n : lowering_.region().nodes.members()) {
    const Node& node = graph.nodes[n];
    if (node.outputs[0] != id) continue;
    std::vector<Expr> operands;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) operands.push_back(operand(node, i));
    return element_expression(
        graph, node, operands,
        {.quotient = is_behind_anchor_ ? Quotient::kNear : Quotient::kExact, .has_16_bits = lowering_.has_16_bits()});
  }
  return lowering_.read(id, space_)(at_);
}

}  // namespace collage::native
