// Slices of the tensors that a Loop or Scan goes through; internal to src/runtime.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/plan.h"
#include "runtime/memory_block.h"
#include "runtime/open_step.h"

namespace collage {

/// Bytes that move between a slice and the whole it is part of: `blocks` of `size` bytes, `stride` apart in the whole.
struct SliceCopy {
  std::byte* whole = nullptr;
  std::byte* slice = nullptr;
  std::size_t blocks = 0;
  std::size_t size = 0;
  std::size_t stride = 0;
  std::int64_t count = 0;  ///< slices in the whole
  bool reverse = false;

  void read(std::int64_t iteration) const;
  void write(std::int64_t iteration) const;

 private:
  [[nodiscard]] std::byte* begin(std::int64_t iteration) const;
};

/// Of a whole with these extents, of rank slicing.axis + 1 or more.
[[nodiscard]] SliceCopy slice_copy(ElementType element, const Extents& whole, const Slicing& slicing,
                                   std::byte* whole_data, std::byte* slice_data);

/// Slices of a whole whose extents are known only during a run.
class OpenSlices {
 public:
  /// `slice` is the body's input; `data` its bytes, null when its extents are open, too.
  OpenSlices(OpenSource whole, const Slicing& slicing, const PlanValue& slice, std::byte* data)
      : whole_(whole), slicing_(slicing), input_(slice), data_(data) {}

  /// The number of slices in this run. Errors of the step that makes the whole; runtime/open-shape when its slices are
  /// not of the input's type; runtime/out-of-memory.
  [[nodiscard]] Result<std::int64_t> begin();
  void read(std::int64_t iteration) const { copy_.read(iteration); }
  /// The slice read last; stays where it is.
  [[nodiscard]] const DynamicOutput& value() const { return value_; }

 private:
  OpenSource whole_;
  Slicing slicing_;
  const PlanValue& input_;
  std::byte* data_;
  MemoryBlock memory_;  ///< of slices of open extents
  SliceCopy copy_;
  DynamicOutput value_;
};

}  // namespace collage
