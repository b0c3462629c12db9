#include "runtime/slices.h"

#include <algorithm>
#include <cstring>

#include "ir/fits_shape.h"

namespace collage {

std::byte* SliceCopy::begin(std::int64_t iteration) const {
  return whole + static_cast<std::size_t>(reverse ? count - 1 - iteration : iteration) * size;
}

void SliceCopy::read(std::int64_t iteration) const {
  if (size == 0) return;
  const std::byte* from = begin(iteration);
  for (std::size_t b = 0; b < blocks; ++b) std::memcpy(slice + b * size, from + b * stride, size);
}

void SliceCopy::write(std::int64_t iteration) const {
  if (size == 0) return;
  std::byte* to = begin(iteration);
  for (std::size_t b = 0; b < blocks; ++b) std::memcpy(to + b * stride, slice + b * size, size);
}

SliceCopy slice_copy(ElementType element, const Extents& whole, const Slicing& slicing, std::byte* whole_data,
                     std::byte* slice_data) {
  SliceCopy copy{.whole = whole_data, .slice = slice_data, .reverse = slicing.reverse};
  copy.count = whole[slicing.axis];
  const auto axis = whole.begin() + slicing.axis;
  copy.size = byte_count(element, Extents(axis + 1, whole.end()));
  copy.blocks = static_cast<std::size_t>(element_count(Extents(whole.begin(), axis)));
  copy.stride = copy.size * static_cast<std::size_t>(copy.count);
  return copy;
}

Result<std::int64_t> OpenSlices::begin() {
  COLLAGE_TRY(const DynamicOutput whole, whole_.read());
  value_ = {.type = whole.type, .extents = whole.extents, .data = nullptr};
  if (slicing_.axis < whole.extents.size()) value_.extents.erase(value_.extents.begin() + slicing_.axis);
  const bool fits = slicing_.axis < whole.extents.size() && whole.type == input_.type.element;
  if (!fits || !fits_shape(input_.type, value_.extents))
    return fail(ExitCode::kBadInput, "runtime/open-shape", input_.name,
                "slices of " + to_string(ValueType::tensor(whole.type, whole.extents)), to_string(input_.type));
  std::byte* slice = data_;
  if (slice == nullptr) {
    const std::size_t bytes = std::max<std::size_t>(byte_count(value_.type, value_.extents), 1);
    if (memory_.size() < bytes) {
      COLLAGE_TRY(memory_, MemoryBlock::allocate(std::max(bytes, 2 * memory_.size()), input_.name));
    }
    slice = memory_.data();
  }
  value_.data = slice;
  // A slice is read only; one pointer type serves both directions.
  auto* const data = const_cast<std::byte*>(static_cast<const std::byte*>(whole.data));
  copy_ = slice_copy(whole.type, whole.extents, slicing_, data, slice);
  return copy_.count;
}

}  // namespace collage
