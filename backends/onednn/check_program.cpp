#include "check_program.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/pages.h"
#include "check_operation.h"
#include "library.h"
#include "primitives/primitives.h"
#include "primitives/split.h"

namespace collage::onednn {
namespace {

/// More axes than the library has.
constexpr std::size_t kMostAxes = 12;
constexpr std::size_t kMostBlockedAxes = 5;
/// Of extents, strides and offsets, so that their products of bytes do not overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;
/// Of one axis: the library adds some of them up in 32 bits.
constexpr std::int64_t kMostOfAxis = std::numeric_limits<std::int32_t>::max();
/// Of all temporaries, so that their sum does not overflow.
constexpr std::size_t kMostBytes = std::size_t{1} << 48;

std::unexpected<Error> bad(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", kBackendKind, std::move(saw), "an artifact of this backend");
}

bool are_sizes(const Extents& numbers, std::int64_t most) {
  return numbers.size() <= kMostAxes &&
         std::ranges::all_of(numbers, [&](std::int64_t number) { return number >= 0 && number <= most; });
}

/// Elements, where an axis of none counts as one.
std::int64_t count_of(Extents extents) {
  for (std::int64_t& extent : extents) extent = std::max<std::int64_t>(extent, 1);
  return element_count(extents);
}

/// Elements from the first to the last, by strides; nothing where they are more than memory has.
std::optional<std::int64_t> span_of(const Extents& extents, const Extents& strides) {
  if (std::ranges::any_of(extents, [](std::int64_t extent) { return extent == 0; })) return 0;
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    std::int64_t far = 0;
    if (__builtin_mul_overflow(extents[axis] - 1, strides[axis], &far) || far > kMostElements) return std::nullopt;
    last += far;
    if (last > kMostElements) return std::nullopt;
  }
  return last + 1;
}

bool has_sizes(const TensorInfo& tensor) {
  return are_sizes(tensor.extents, kMostOfAxis) && are_sizes(tensor.stored, kMostElements) &&
         are_sizes(tensor.strides, kMostElements) && count_of(tensor.extents) <= kMostElements &&
         count_of(tensor.stored) <= kMostElements;
}

/// Whether it is whole, or constants of bf16 in as many parts as there are.
bool has_fitting_split(const TensorInfo& tensor) {
  if (tensor.split_axis == -1) return true;
  if (tensor.split_axis < 0 || tensor.split_axis >= std::ssize(tensor.extents)) return false;
  return tensor.role == Role::kConstant && tensor.type == ElementType::kBfloat16 && tensor.stored.empty() &&
         tensor.extents[static_cast<std::size_t>(tensor.split_axis)] % kSplitParts == 0;
}

/// Whether the strides are those of its axes; only constants repeat what they read.
bool has_fitting_strides(const TensorInfo& tensor) {
  const Extents axes = tensor.stored.empty() ? unsplit_extents(tensor) : tensor.stored;
  if (tensor.strides.empty()) return tensor.stored.empty();
  if (tensor.strides.size() != axes.size() || !span_of(axes, tensor.strides)) return false;
  return tensor.role == Role::kConstant || std::ranges::find(tensor.strides, 0) == tensor.strides.end();
}

/// Whether it says nothing that only tensors of other roles have. Literals are made as long as their extents say,
/// those of several numbers without a gap.
bool fits_its_role(const TensorInfo& tensor, std::size_t tensors) {
  const bool has_list = !tensor.numbers.empty() || !tensor.positions.empty();
  const bool has_zero = std::ranges::find(tensor.extents, 0) != tensor.extents.end();
  const bool is_gathered = !tensor.stored.empty() || !tensor.diagonal.empty();
  switch (tensor.role) {
    case Role::kConstant:
      return tensor.offset == 0;
    case Role::kLiteral:
      return tensor.offset == 0 && tensor.strides.empty() && !is_gathered && !has_zero &&
             (!has_list || tensor.layout == Layout::kPlain);
    case Role::kTemporary:
      // A temporary of each index has memory.
      return tensor.index < tensors && !is_gathered && !has_zero;
    case Role::kInput:
    case Role::kOutput:
      return !is_gathered && !has_zero;
  }
  return false;
}

bool fits_itself(const TensorInfo& tensor, std::size_t tensors) {
  if (!has_sizes(tensor) || !data_type_of(tensor.type)) return false;
  if (tensor.offset < 0 || tensor.offset > kMostElements) return false;
  if (tensor.layout == Layout::kBlocked && tensor.extents.size() > kMostBlockedAxes) return false;
  if (!tensor.positions.empty() && tensor.extents.size() != 2) return false;
  return has_fitting_split(tensor) && has_fitting_strides(tensor) && fits_its_role(tensor, tensors);
}

/// Whether memory may hold all temporaries, each tensor counted for itself: no fewer bytes than the workspace has.
bool are_held(const Program& program) {
  std::size_t total = 0;
  for (const TensorInfo& tensor : program.tensors) {
    if (tensor.role != Role::kTemporary) continue;
    const std::size_t bytes = bytes_with_offset(tensor);
    if (bytes > kMostBytes) return false;
    total += aligned_up(bytes);
    if (total > kMostBytes) return false;
  }
  return true;
}

}  // namespace

std::size_t bytes_of(const TensorInfo& tensor) {
  if (tensor.strides.empty() || tensor.role == Role::kConstant) return describe(tensor).get_size();
  return byte_count(tensor.type, {span_of(tensor.extents, tensor.strides).value_or(kMostElements)});
}

std::size_t bytes_with_offset(const TensorInfo& tensor) {
  return std::max(bytes_of(tensor), describe(tensor).get_size()) + byte_count(tensor.type, {tensor.offset});
}

Result<void> check_program(const Program& program) {
  for (const TensorInfo& tensor : program.tensors)
    if (!fits_itself(tensor, program.tensors.size())) return bad("a tensor that does not fit itself");
  if (!are_held(program)) return bad("temporaries that no memory holds");
  for (const Op& op : program.ops)
    if (auto misfit = misfit_of(program, op)) return bad(*std::move(misfit));
  return {};
}

Result<void> check_ports(const Program& program, std::span<const Port> inputs, std::span<const Port> outputs,
                         const std::function<std::optional<std::size_t>(const Port&)>& port_bytes) {
  for (const TensorInfo& tensor : program.tensors) {
    if (tensor.role != Role::kInput && tensor.role != Role::kOutput) continue;
    const std::span<const Port> ports = tensor.role == Role::kInput ? inputs : outputs;
    if (tensor.index >= ports.size()) return bad("port " + std::to_string(tensor.index));
    const auto has = port_bytes(ports[tensor.index]);
    if (!has) return bad("port " + ports[tensor.index].name + " in format " + ports[tensor.index].place.format.name);
    const std::size_t needs = bytes_of(tensor) + byte_count(tensor.type, {tensor.offset});
    if (needs > *has)
      return bad(std::to_string(needs) + " of the " + std::to_string(*has) + " bytes of " + ports[tensor.index].name);
  }
  return {};
}

}  // namespace collage::onednn
