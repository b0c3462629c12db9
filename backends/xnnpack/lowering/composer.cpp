#include "lowering/composer.h"

#include <algorithm>
#include <numeric>

namespace collage::xnnpack {
namespace {

Extents row_major_steps(const Extents& extents) {
  Extents steps(extents.size(), 1);
  for (std::size_t axis = extents.size(); axis-- > 1;) steps[axis - 1] = steps[axis] * extents[axis];
  return steps;
}

template <class List>
std::uint32_t position_of(const List& list, ValueId id) {
  return static_cast<std::uint32_t>(std::ranges::find(list, id) - list.begin());
}

}  // namespace

Composer::Composer(const Graph& graph, const Region& region, Layout layout, ByteForm form)
    : graph_(graph), region_(region), layout_(layout), form_(form), skipped_(region.nodes.universe()) {
  const auto format_of = [&](ValueId id) { return is_turned(rank(id)) ? channels_last() : plain(); };
  for (const ValueId id : region.inputs) lowered_.input_formats.push_back(format_of(id));
  for (const ValueId id : region.outputs) lowered_.output_formats.push_back(format_of(id));
}

bool Composer::is_turned(std::size_t rank) const { return layout_ == Layout::kChannelsLast && rank >= 3 && rank <= 5; }

std::vector<int> Composer::order(std::size_t rank) const {
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (!is_turned(rank)) return axes;
  std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  if (rank == 3) axes.insert(axes.begin() + 1, -1);
  return axes;
}

std::int64_t Composer::library_axis(std::size_t rank, std::int64_t axis) const {
  const std::vector<int> axes = order(rank);
  const auto wanted = static_cast<int>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  return std::ranges::find(axes, wanted) - axes.begin();
}

Extents Composer::library_extents(const Extents& extents) const {
  if (extents.empty()) return {1};
  Extents result;
  for (const int axis : order(extents.size())) result.push_back(axis < 0 ? 1 : extents[static_cast<std::size_t>(axis)]);
  return result;
}

bool Composer::has_plain_bytes(ValueId id) const {
  const ValueType& type = graph_.value(id).type;
  return !is_turned(rank(id)) || same_bytes(type, plain(), channels_last());
}

int Composer::constant(ValueId id, Extents library_extents, Extents gathered, Extents steps, float scale) {
  return constant(id, TensorInfo{.extents = std::move(library_extents),
                                 .gathered = std::move(gathered),
                                 .steps = std::move(steps),
                                 .scale = scale});
}

int Composer::constant(ValueId id, TensorInfo info, bool is_shared) {
  info.role = Role::kConstant;
  info.index = position_of(lowered_.constants, id);
  if (info.index == lowered_.constants.size()) lowered_.constants.push_back(id);
  auto& tensors = lowered_.program.tensors;
  if (const auto found = std::ranges::find(tensors, info); found != tensors.end() && is_shared)
    return static_cast<int>(found - tensors.begin());
  tensors.push_back(std::move(info));
  return static_cast<int>(tensors.size()) - 1;
}

int Composer::temporary(const Extents& library_extents) {
  lowered_.program.tensors.push_back({.role = Role::kTemporary, .index = 0, .extents = library_extents});
  return static_cast<int>(lowered_.program.tensors.size()) - 1;
}

int Composer::literal(float value) {
  lowered_.program.tensors.push_back({.role = Role::kLiteral, .index = 0, .extents = {1}, .scale = value});
  return static_cast<int>(lowered_.program.tensors.size()) - 1;
}

int Composer::read(ValueId id) {
  const Bytes* bytes = bytes_behind(id);
  if (bytes == nullptr) return read_real(id);
  // That they can be read was seen before begin_bytes().
  if (result_) return *read_bytes(*bytes, rank(id));
  if (const auto found = tensors_.find(id); found != tensors_.end()) return found->second;
  const auto source = read_bytes(*bytes, rank(id));
  COLLAGE_CHECK(source.has_value(), "bytes that a real value stands for cannot be read");
  Op op{.kind = OpKind::kUnary, .algorithm = "convert", .inputs = {*source}};
  op.output = write(id);
  const int output = op.output;
  add(std::move(op));
  return output;
}

int Composer::read_real(ValueId id) {
  if (constant_of(graph_, id) != nullptr) return *read_broadcast(id, rank(id));
  const auto [at, is_new] = tensors_.try_emplace(id, static_cast<int>(lowered_.program.tensors.size()));
  // Values that the region computes have been written before.
  if (is_new)
    lowered_.program.tensors.push_back(
        {.role = Role::kInput, .index = position_of(region_.inputs, id), .extents = library_extents(extents(id))});
  return at->second;
}

std::optional<int> Composer::read_broadcast(ValueId id, std::size_t result_rank) {
  const Extents own = extents(id);
  if (const Bytes* bytes = bytes_behind(id); bytes != nullptr && result_) {
    const auto tensor = read_bytes(*bytes, result_rank);
    return tensor ? std::optional(*tensor) : std::nullopt;
  }
  if (constant_of(graph_, id) == nullptr) {
    const bool fits =
        own.size() == result_rank || element_count(own) == 1 || (!is_turned(result_rank) && !is_turned(own.size()));
    return fits ? std::optional(read(id)) : std::nullopt;
  }
  return constant(id, broadcast_constant(own, result_rank));
}

TensorInfo Composer::broadcast_constant(const Extents& own, std::size_t result_rank) const {
  if (element_count(own) == 1) return {.extents = {1}, .gathered = {1}, .steps = {1}};
  Extents aligned(result_rank - own.size(), 1);
  aligned.insert(aligned.end(), own.begin(), own.end());
  const Extents steps = row_major_steps(aligned);
  TensorInfo info;
  for (const int axis : order(result_rank)) {
    info.gathered.push_back(axis < 0 ? 1 : aligned[static_cast<std::size_t>(axis)]);
    info.steps.push_back(axis < 0 ? 0 : steps[static_cast<std::size_t>(axis)]);
  }
  info.extents = info.gathered;
  return info;
}

bool Composer::is_known(ValueId id) const {
  return constant_of(graph_, id) != nullptr || tensors_.contains(id) || bytes_.contains(id) ||
         std::ranges::find(region_.inputs, id) != region_.inputs.end();
}

int Composer::write(ValueId id) {
  if (result_ && result_->first == id) return write_bytes(result_->second);
  return write_as(id, {});
}

int Composer::write_as(ValueId id, TensorInfo info) {
  const std::uint32_t port = position_of(region_.outputs, id);
  info.role = Role::kTemporary;
  info.index = 0;
  info.extents = library_extents(extents(id));
  if (port < region_.outputs.size()) {
    info.role = Role::kOutput;
    info.index = port;
  }
  lowered_.program.tensors.push_back(std::move(info));
  return tensors_[id] = static_cast<int>(lowered_.program.tensors.size()) - 1;
}

std::size_t Composer::sole_reader(ValueId id) const {
  const std::size_t none = region_.nodes.universe();
  if (std::ranges::find(region_.outputs, id) != region_.outputs.end()) return none;
  std::size_t reader = none;
  for (std::size_t n = region_.nodes.next(); n < none; n = region_.nodes.next(n + 1)) {
    const auto times = std::ranges::count(graph_.nodes[n].inputs, id);
    if (times == 0) continue;
    if (reader != none || times > 1) return none;
    reader = n;
  }
  return reader;
}

Op* Composer::sole_maker(ValueId id) {
  const auto found = tensors_.find(id);
  if (found == tensors_.end() || sole_reader(id) == region_.nodes.universe()) return nullptr;
  for (Op& op : lowered_.program.ops)
    if (op.output == found->second) return &op;
  return nullptr;
}

void Composer::remove(const Op* op) {
  auto& ops = lowered_.program.ops;
  ops.erase(ops.begin() + (op - ops.data()));
}

/// An output may share the memory of an input that its operation, the last one to read it, reads element by element.
void Composer::add_in_place() {
  const std::vector<Op>& ops = lowered_.program.ops;
  std::vector<std::uint32_t> taken;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const TensorInfo& out = tensor(ops[i].output);
    const bool is_elementwise = ops[i].kind == OpKind::kUnary || ops[i].kind == OpKind::kBinary;
    if (!is_elementwise || out.role != Role::kOutput) continue;
    for (const int input : ops[i].inputs) {
      const TensorInfo& in = tensor(input);
      if (in.role != Role::kInput || in.extents != out.extents || in.type != out.type ||
          std::ranges::find(taken, in.index) != taken.end())
        continue;
      const bool is_read_later =
          std::any_of(ops.begin() + static_cast<std::ptrdiff_t>(i) + 1, ops.end(),
                      [&](const Op& op) { return std::ranges::find(op.inputs, input) != op.inputs.end(); });
      if (is_read_later) continue;
      lowered_.in_place.emplace_back(out.index, in.index);
      taken.push_back(in.index);
      break;
    }
  }
}

Lowered Composer::take() {
  add_in_place();
  return std::move(lowered_);
}

}  // namespace collage::xnnpack
