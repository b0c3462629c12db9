#include "runtime/grown_value.h"

#include <algorithm>
#include <cstring>

#include "ir/fits_shape.h"

namespace collage {
namespace {

/// Makes room for `bytes`, of which the first `kept` stay.
Result<void> grow(MemoryBlock& block, std::size_t bytes, std::size_t kept, const std::string& name) {
  if (block.size() >= bytes && block.data() != nullptr) return {};
  COLLAGE_TRY(MemoryBlock larger, MemoryBlock::allocate(std::max({bytes, 2 * block.size(), std::size_t{64}}), name));
  if (kept > 0) std::memcpy(larger.data(), block.data(), kept);
  block = std::move(larger);
  return {};
}

Result<void> check_tensor(const DynamicOutput& value, const std::string& name) {
  if (value.held == nullptr) return {};
  return fail(ExitCode::kUnsupported, "runtime/open-shape", name, "a held value", "a tensor of numbers");
}

}  // namespace

Result<void> GrownValue::prepare(const DynamicOutput& from) {
  COLLAGE_TRY_VOID(check_tensor(from, name_));
  const std::size_t bytes = byte_count(from.type, from.extents);
  COLLAGE_TRY_VOID(grow(other_, bytes, 0, name_));
  if (bytes > 0) std::memcpy(other_.data(), from.data, bytes);
  next_.type = from.type;
  next_.extents = from.extents;
  next_.data = other_.data();
  return {};
}

void GrownValue::commit() {
  std::swap(value_, next_);
  std::swap(own_, other_);
}

void GrownStack::clear() {
  count_ = 0;
  bytes_ = 0;
  extents_.clear();
  for (const Dim& dim : *slice_.shape) extents_.push_back(dim.is_static() ? dim.extent : 0);
}

Result<void> GrownStack::add(const DynamicOutput& from) {
  COLLAGE_TRY_VOID(check_tensor(from, name_));
  const bool fits = fits_shape(slice_, from.extents) && (count_ == 0 || extents_ == from.extents);
  if (!fits || from.type != slice_.element)
    return fail(ExitCode::kBadInput, "runtime/open-shape", name_,
                to_string(ValueType::tensor(from.type, from.extents)) + " in one iteration",
                count_ == 0 ? to_string(slice_) : to_string(ValueType::tensor(slice_.element, extents_)));
  extents_ = from.extents;
  const std::size_t bytes = byte_count(from.type, from.extents);
  COLLAGE_TRY_VOID(grow(memory_, bytes_ + bytes, bytes_, name_));
  if (bytes > 0) std::memcpy(memory_.data() + bytes_, from.data, bytes);
  bytes_ += bytes;
  ++count_;
  return {};
}

DynamicOutput GrownStack::value() const {
  DynamicOutput value{.type = slice_.element, .extents = extents_, .data = memory_.data()};
  value.extents.insert(value.extents.begin(), count_);
  return value;
}

}  // namespace collage
