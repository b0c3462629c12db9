#include "primitives/constants.h"

#include <algorithm>
#include <stdexcept>

#include "base/pages.h"
#include "check_program.h"
#include "library.h"
#include "primitives/split.h"

namespace collage::onednn {
namespace {

using dnnl::memory;

/// Constants up to this size are always copied, so that vectors may read past their end.
constexpr std::size_t kSmallBytes = 4096;
/// What may be made of constants and literals: so much of nothing, and as often the size of the constants. Blocks pad
/// a channel to 16, joined groups are up to 8 times as large.
constexpr std::size_t kMostMadeBytes = std::size_t{1} << 31;
constexpr std::size_t kMostCopies = 32;

Buffer filled(float number, std::size_t size) {
  return Buffer::make(std::max(size, kBufferAlignment), [number](std::span<std::byte> bytes) {
    auto* to = reinterpret_cast<float*>(bytes.data());
    std::fill_n(to, bytes.size() / sizeof(float), number);
  });
}

/// The matrix that interpolates between the columns around each position.
Buffer interpolation(const TensorInfo& info) {
  const std::int64_t columns = info.extents.back();
  return Buffer::make(byte_count(ElementType::kFloat32, info.extents), [&](std::span<std::byte> bytes) {
    auto* row = reinterpret_cast<float*>(bytes.data());
    for (const float position : info.positions) {
      const auto left = static_cast<std::int64_t>(position);
      const float share = position - static_cast<float>(left);
      row[left] += 1.F - share;
      if (share > 0.F) row[std::min(left + 1, columns - 1)] += share;
      row += columns;
    }
  });
}

template <class Element>
Buffer list_of(const std::vector<float>& numbers) {
  return Buffer::make(aligned_up(numbers.size() * sizeof(Element)), [&](std::span<std::byte> bytes) {
    auto* to = reinterpret_cast<Element*>(bytes.data());
    for (const float number : numbers) *to++ = static_cast<Element>(number);
  });
}

/// Bytes of u8 as those of i8, each 128 smaller.
Buffer flipped(const Buffer& source) {
  return Buffer::make(source.size(), [&](std::span<std::byte> bytes) {
    const auto from = source.as<std::byte>();
    std::ranges::transform(from, bytes.begin(), [](std::byte one) { return one ^ std::byte{0x80}; });
  });
}

Buffer literal_of(const TensorInfo& info, std::size_t bytes) {
  if (!info.numbers.empty())
    return info.type == ElementType::kInt32 ? list_of<std::int32_t>(info.numbers) : list_of<float>(info.numbers);
  return info.positions.empty() ? filled(info.scale, bytes) : interpolation(info);
}

bool is_kept(const TensorInfo& info, const Extents& index) {
  const auto at = [&](std::size_t i) { return index[static_cast<std::size_t>(info.diagonal[i])]; };
  return info.diagonal.empty() || at(0) == at(1);
}

/// The elements of a constant in the order of its `stored` axes.
Buffer gathered(const Buffer& source, const TensorInfo& info) {
  return Buffer::make(static_cast<std::size_t>(element_count(info.stored)) * sizeof(float), [&](auto bytes) {
    const auto from = source.as<float>();
    auto* to = reinterpret_cast<float*>(bytes.data());
    Extents index(info.stored.size(), 0);
    for (std::int64_t i = 0; i < element_count(info.stored); ++i) {
      std::int64_t at = 0;
      for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * info.strides[axis];
      if (is_kept(info, index)) to[i] = from[static_cast<std::size_t>(at)];
      for (std::size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < info.stored[axis]) break;
        index[axis] = 0;
      }
    }
  });
}

Buffer scaled(const Tensor& tensor, float scale) {
  return Buffer::make(tensor.data.size(), [&](std::span<std::byte> bytes) {
    const std::span<const float> from = tensor.data.as<float>();
    auto* to = reinterpret_cast<float*>(bytes.data());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] * scale;
  });
}

/// As `to` wants it, with room behind for vectors that read past the end.
Buffer reordered(const Buffer& source, const memory::desc& from, const memory::desc& to, const dnnl::engine& engine) {
  return Buffer::make(aligned_up(to.get_size()) + kBufferAlignment, [&](std::span<std::byte> target) {
    memory in(from, engine, const_cast<std::byte*>(source.data()));
    memory out(to, engine, target.data());
    dnnl::stream stream(engine);
    dnnl::reorder(in, out).execute(stream, in, out);
    stream.wait();
  });
}

/// Weights in the order of their extents, split along an axis.
Buffer split(const Buffer& whole, const TensorInfo& info) {
  return Buffer::make(byte_count(ElementType::kFloat32, info.extents), [&](std::span<std::byte> bytes) {
    const auto axis = static_cast<std::size_t>(info.split_axis);
    const Extents extents = unsplit_extents(info);
    const std::int64_t inner = element_count(Extents(extents.begin() + info.split_axis + 1, extents.end()));
    const auto from = whole.as<float>().first(static_cast<std::size_t>(element_count(extents)));
    split_weights(from, {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)}, extents[axis], inner);
  });
}

/// Whether the description of a gathered constant agrees with itself.
bool is_consistent(const TensorInfo& tensor) {
  if (tensor.stored.empty()) return tensor.diagonal.empty();
  const bool has_axes = std::ranges::all_of(
      tensor.diagonal, [&](std::int64_t axis) { return axis >= 0 && axis < std::ssize(tensor.stored); });
  return has_axes && (tensor.diagonal.empty() || tensor.diagonal.size() == 2) &&
         tensor.stored.size() == tensor.strides.size() && element_count(tensor.stored) == element_count(tensor.extents);
}

/// Whether all bytes of the model's constant are there.
bool has_bytes(const Tensor& constant) { return constant.data.size() >= byte_count(constant.type, constant.extents); }

bool has_type(const TensorInfo& tensor, ElementType type) {
  return type == value_type(tensor) || (type == ElementType::kUint8 && tensor.type == ElementType::kInt8);
}

bool are_integers(const std::vector<float>& numbers) {
  return std::ranges::all_of(numbers, [](float number) { return number >= -0x1p31F && number < 0x1p31F; });
}

/// Only constants of f32 are scaled and gathered, and a list has an element for each place.
bool can_be_made(const TensorInfo& tensor) {
  const bool is_full = value_type(tensor) == ElementType::kFloat32;
  if (!is_full && (tensor.scale != 1.F || !tensor.stored.empty())) return false;
  if (tensor.role != Role::kLiteral) return tensor.numbers.empty();
  if (tensor.numbers.empty()) return is_full;
  return (tensor.type == ElementType::kFloat32 ||
          (tensor.type == ElementType::kInt32 && are_integers(tensor.numbers))) &&
         tensor.positions.empty() && element_count(tensor.extents) == std::ssize(tensor.numbers);
}

/// Whether what is made of constants and literals takes memory in proportion to the constants: a tensor may repeat one
/// element as often as it likes.
bool are_in_proportion(const Program& program, const std::vector<Tensor>& constants) {
  std::size_t most = kMostMadeBytes;
  for (const Tensor& constant : constants) most += kMostCopies * constant.data.size();
  for (const TensorInfo& tensor : program.tensors) {
    const bool is_made = tensor.role == Role::kLiteral || (tensor.role == Role::kConstant && !program.is_prepared);
    if (!is_made) continue;
    const std::size_t bytes = bytes_of(tensor);
    if (bytes > most) return false;
    most -= bytes;
  }
  return true;
}

/// The elements of the model's constant that a tensor reads.
std::int64_t elements_read(const TensorInfo& tensor) {
  const Extents axes = tensor.stored.empty() ? unsplit_extents(tensor) : tensor.stored;
  if (tensor.strides.empty() || element_count(axes) == 0) return element_count(axes);
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) last += (axes[axis] - 1) * tensor.strides[axis];
  return last + 1;
}

std::unexpected<Error> misfit(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", kBackendKind, std::move(saw),
              "an artifact of this backend, with the constants that it was made for");
}

}  // namespace

Result<void> check_constants(const Program& program, const std::vector<Tensor>& constants) {
  for (const TensorInfo& tensor : program.tensors) {
    for (const float position : tensor.positions)
      if (!(position >= 0.F && position < static_cast<float>(tensor.extents.back())))
        return misfit("a position outside of its row");
    if (!tensor.positions.empty() && tensor.extents != Extents{std::ssize(tensor.positions), tensor.extents.back()})
      return misfit("positions for another number of rows");
    if ((tensor.role == Role::kLiteral || tensor.role == Role::kConstant) && !can_be_made(tensor))
      return misfit("numbers of another type or count");
    if (tensor.role != Role::kConstant || program.is_prepared) continue;
    const bool fits = tensor.index < constants.size() && has_type(tensor, constants[tensor.index].type) &&
                      is_consistent(tensor) && constants[tensor.index].size() == elements_read(tensor) &&
                      has_bytes(constants[tensor.index]);
    if (!fits) return misfit("a constant of another size");
  }
  if (!are_in_proportion(program, constants)) return misfit("constants repeated more often than memory holds");
  return {};
}

const void* Packer::bytes_of(const Argument& argument) {
  const TensorInfo& info = program_.tensors[static_cast<std::size_t>(argument.tensor)];
  if (info.role != Role::kLiteral && info.role != Role::kConstant) return nullptr;
  // Operations on parts of a tensor share what they read.
  for (const Done& done : done_)
    if (done.tensor == argument.tensor && done.desc == argument.desc) return done.bytes;
  const Buffer made = info.role == Role::kLiteral ? literal(info, argument.desc)
                      : program_.is_prepared      ? prepared(argument.desc)
                                                  : packed(info, argument.desc);
  kept_.push_back(made);
  done_.push_back({argument.tensor, argument.desc, made.data()});
  return made.data();
}

Buffer Packer::literal(const TensorInfo& info, const memory::desc& wanted) const {
  if (info.type == value_type(info)) return literal_of(info, wanted.get_size());
  const memory::desc full = describe_stored(info);
  return reordered(literal_of(info, full.get_size()), full, wanted, engine_);
}

Buffer Packer::packed(const TensorInfo& info, const memory::desc& wanted) {
  const Tensor& tensor = constants_[info.index];
  Buffer source = info.scale == 1.F ? tensor.data : scaled(tensor, info.scale);
  if (!info.stored.empty()) source = gathered(source, info);
  if (tensor.type == ElementType::kUint8 && info.type == ElementType::kInt8) source = flipped(source);
  memory::desc stored = describe_stored(info);
  if (info.split_axis >= 0) {
    const memory::desc rows(unsplit_extents(info), memory::data_type::f32, row_major_strides(unsplit_extents(info)));
    source = split(reordered(source, stored, rows, engine_), info);
    stored = {info.extents, memory::data_type::f32, row_major_strides(info.extents)};
  }
  const bool is_ready = stored == wanted && source.size() > kSmallBytes;
  Buffer made = is_ready ? source : reordered(source, stored, wanted, engine_);
  if (made.data() == tensor.data.data())
    made_.emplace_back(std::size_t{info.index});
  else
    made_.emplace_back(made);
  return made;
}

Buffer Packer::prepared(const memory::desc& wanted) {
  const std::size_t index = made_.size();
  if (index >= constants_.size() || constants_[index].data.size() < wanted.get_size())
    throw std::runtime_error("prepared constant " + std::to_string(index) + " of another size");
  made_.emplace_back(index);
  return constants_[index].data;
}

}  // namespace collage::onednn
