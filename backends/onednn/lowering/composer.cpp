#include "lowering/composer.h"

#include <algorithm>

#include "layout.h"

namespace collage::onednn {
namespace {

/// Where an activation lies and how an operation may see it.
struct Placement {
  Format format;
  Layout layout = Layout::kPlain;  ///< of the port's bytes
  bool fits = true;                ///< the bytes are also those of the layout asked for
};

Placement place(const Extents& extents, Layout wanted) {
  if (extents.size() < 3 || extents.size() > 5) return {plain(), Layout::kPlain, true};
  if (wanted == Layout::kChannelsLast && (is_one_pixel(extents) || extents[1] == 1)) return {plain(), wanted, true};
  if (wanted == Layout::kBlocked && is_one_pixel(extents)) {
    const bool even = extents[1] % native_block() == 0;
    return {plain(), even ? wanted : Layout::kPlain, even};
  }
  return {format_of(wanted), wanted, true};
}

}  // namespace

Format port_format(const Extents& extents, Layout layout) { return place(extents, layout).format; }

Composer::Composer(const Graph& graph, const Region& region)
    : graph_(graph), region_(region), has_format_(region.inputs.size(), false) {
  lowered_.input_formats.resize(region.inputs.size());
  lowered_.output_formats.resize(1);
}

int Composer::push(TensorInfo info) {
  lowered_.program.tensors.push_back(std::move(info));
  return static_cast<int>(lowered_.program.tensors.size()) - 1;
}

std::uint32_t Composer::port_of(ValueId id) const {
  const auto found = std::ranges::find(region_.inputs, id);
  COLLAGE_CHECK(found != region_.inputs.end(), "not an input: " + graph_.value(id).name);
  return static_cast<std::uint32_t>(found - region_.inputs.begin());
}

std::size_t Composer::reads(ValueId id) const {
  std::size_t count = 0;
  for (std::size_t n = region_.nodes.next(); n < region_.nodes.universe(); n = region_.nodes.next(n + 1))
    count += static_cast<std::size_t>(std::ranges::count(graph_.nodes[n].inputs, id));
  return count;
}

int Composer::input(ValueId id, const Extents& extents, Layout layout) {
  if (const auto known = activations_.find({id, layout});
      known != activations_.end() && tensor(known->second).extents == extents)
    return known->second;
  Placement placement = place(extents, layout);
  const std::uint32_t port = port_of(id);
  if (has_format_[port] && lowered_.input_formats[port] != placement.format) {
    const auto given = layout_of(lowered_.input_formats[port]);
    placement = {lowered_.input_formats[port], given.value_or(Layout::kPlain), false};
  }
  lowered_.input_formats[port] = placement.format;
  has_format_[port] = true;
  const int bytes = push({.role = Role::kInput,
                          .index = port,
                          .type = graph_.value(id).type.element,
                          .extents = extents,
                          .strides = {},
                          .layout = placement.layout});
  int seen = bytes;
  if (!placement.fits) {
    seen = temporary(extents, layout);
    add({.kind = OpKind::kReorder, .inputs = {bytes}, .output = seen});
  }
  activations_[{id, layout}] = seen;
  return seen;
}

int Composer::view(ValueId id, const Format& format, Extents extents, Extents strides) {
  const std::uint32_t port = port_of(id);
  has_conflict_ = has_conflict_ || (has_format_[port] && lowered_.input_formats[port] != format);
  lowered_.input_formats[port] = format;
  has_format_[port] = true;
  return push({.role = Role::kInput,
               .index = port,
               .type = graph_.value(id).type.element,
               .extents = std::move(extents),
               .strides = std::move(strides)});
}

int Composer::constant(ValueId id, Extents extents, Extents strides, Layout layout, float scale) {
  auto& constants = lowered_.constants;
  auto found = std::ranges::find(constants, id);
  if (found == constants.end()) found = constants.insert(found, id);
  return push({.role = Role::kConstant,
               .index = static_cast<std::uint32_t>(found - constants.begin()),
               .type = graph_.value(id).type.element,
               .extents = std::move(extents),
               .strides = std::move(strides),
               .layout = layout,
               .scale = scale});
}

int Composer::literal(float number, const Extents& extents, Layout layout) {
  return push({.role = Role::kLiteral,
               .index = 0,
               .type = ElementType::kFloat32,
               .extents = extents,
               .strides = {},
               .layout = layout,
               .scale = number});
}

int Composer::numbers(std::vector<float> numbers, const Extents& extents, ElementType type) {
  return push({.role = Role::kLiteral, .index = 0, .type = type, .extents = extents, .numbers = std::move(numbers)});
}

int Composer::interpolation(const std::vector<float>& positions, std::int64_t columns) {
  const int matrix = literal(0.F, {std::ssize(positions), columns});
  lowered_.program.tensors[static_cast<std::size_t>(matrix)].positions = positions;
  return matrix;
}

int Composer::temporary(const Extents& extents, Layout layout) {
  return push({.role = Role::kTemporary,
               .index = temporaries_++,
               .type = ElementType::kFloat32,
               .extents = extents,
               .strides = {},
               .layout = layout});
}

int Composer::output(const Extents& extents, Layout layout) {
  const Placement placement = place(extents, layout);
  lowered_.output_formats[0] = placement.format;
  port_output_ = push({.role = Role::kOutput,
                       .index = 0,
                       .type = graph_.value(region_.outputs[0]).type.element,
                       .extents = extents,
                       .strides = {},
                       .layout = placement.layout});
  if (placement.fits) return port_output_;
  return pending_output_ = temporary(extents, layout);
}

int Composer::output_view(const Format& format, Extents extents, Extents strides, std::int64_t offset) {
  lowered_.output_formats[0] = format;
  return port_output_ = push({.role = Role::kOutput,
                              .index = 0,
                              .type = graph_.value(region_.outputs[0]).type.element,
                              .extents = std::move(extents),
                              .strides = std::move(strides),
                              .offset = offset});
}

int Composer::part(int tensor, Extents extents, Extents strides, std::int64_t offset) {
  TensorInfo info = this->tensor(tensor);
  info.extents = std::move(extents);
  info.strides = std::move(strides);
  info.offset += offset;
  return push(std::move(info));
}

int Composer::gathered(ValueId id, Extents axes, Extents strides, Extents extents, Extents diagonal) {
  const int tensor = constant(id, std::move(extents), std::move(strides));
  TensorInfo& info = lowered_.program.tensors[static_cast<std::size_t>(tensor)];
  info.stored = std::move(axes);
  info.diagonal = std::move(diagonal);
  return tensor;
}

void Composer::may_share(ValueId input) {
  const std::uint32_t port = port_of(input);
  const ValueType& type = graph_.value(input).type;
  if (!output_is_direct() || reads(input) != 1 || type != graph_.value(region_.outputs[0]).type ||
      lowered_.input_formats[port] != lowered_.output_formats[0])
    return;
  lowered_.program.in_place.emplace_back(0, port);
}

std::expected<Lowered, Refusal> Composer::finish() {
  if (pending_output_ >= 0) add({.kind = OpKind::kReorder, .inputs = {pending_output_}, .output = port_output_});
  if (std::ranges::find(has_format_, false) != has_format_.end())
    return std::unexpected(Refusal{RefusalReason::kStructure, "an input that nothing reads"});
  if (has_conflict_) return std::unexpected(Refusal{RefusalReason::kFormat, "one input in two formats"});
  return std::move(lowered_);
}

}  // namespace collage::onednn
