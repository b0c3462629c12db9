// Tensors whose extents are known only while a control step runs, in memory of its own call; internal to src/runtime.
// Cost: a copy for each value taken; memory grows to twice what was asked for and is kept from run to run.
#pragma once

#include <string>
#include <utility>

#include "backend/backend.h"
#include "runtime/memory_block.h"

namespace collage {

/// A copy of a tensor.
class GrownValue {
 public:
  explicit GrownValue(std::string name) : name_(std::move(name)) {}

  /// Copies what may be this value itself. Errors runtime/out-of-memory, runtime/open-shape for a held value.
  [[nodiscard]] Result<void> take(const DynamicOutput& from) {
    COLLAGE_TRY_VOID(prepare(from));
    commit();
    return {};
  }
  /// take() in two parts, for values that are made of one another: what the first part copies is seen after the second.
  [[nodiscard]] Result<void> prepare(const DynamicOutput& from);
  void commit();

  /// Stays where it is; its contents change.
  [[nodiscard]] const DynamicOutput& value() const { return value_; }

 private:
  std::string name_;
  DynamicOutput value_;
  DynamicOutput next_;
  MemoryBlock own_;    ///< of value_
  MemoryBlock other_;  ///< of next_
};

/// Tensors of equal extents on one another, along a new axis before their own.
class GrownStack {
 public:
  /// `slice` says the type of a tensor, which may be open.
  GrownStack(std::string name, ValueType slice) : name_(std::move(name)), slice_(std::move(slice)) {}

  void clear();
  /// Errors as of GrownValue::take; runtime/open-shape for other extents than those of the first tensor.
  [[nodiscard]] Result<void> add(const DynamicOutput& from);
  /// Without tensors, open extents count as 0.
  [[nodiscard]] DynamicOutput value() const;

 private:
  std::string name_;
  ValueType slice_;
  Extents extents_;  ///< of one tensor
  std::int64_t count_ = 0;
  std::size_t bytes_ = 0;
  MemoryBlock memory_;
};

}  // namespace collage
