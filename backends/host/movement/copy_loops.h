// The loops that execute one block of a copy program. The kind of loop is selected once, when the kernel is loaded.
// Kinds, by the innermost axes: rows of bytes (memcpy), repeated elements, 2-D transposes (in tiles held in registers),
// narrow transposes (2 to 4 channels, as in images), and a plain strided loop for everything else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/thread_pool.h"
#include "movement/copy_program.h"

namespace collage::host {

/// Axes outside of the inner loop; byte strides.
struct OuterAxis {
  std::int64_t extent = 1;
  std::int64_t from_bytes = 0;
  std::int64_t to_bytes = 0;
};

/// What an inner loop works on; byte strides. `rows` and `columns`: extents of the last two axes.
struct InnerLoop {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t from_row_bytes = 0;
  std::int64_t from_column_bytes = 0;
  std::int64_t to_row_bytes = 0;
  std::int64_t to_column_bytes = 0;
  std::int64_t element_bytes = 4;
};

using InnerFunction = void (*)(const InnerLoop& loop, const std::byte* from, std::byte* to);

/// What of a loop may be done by different threads.
enum class Split : std::uint8_t { kOuter, kRows, kColumns, kNone };

struct CopyLoop {
  std::vector<OuterAxis> outer;  ///< outermost first
  InnerLoop inner;
  InnerFunction run = nullptr;
  Split split = Split::kNone;
  std::vector<std::byte> fill;  ///< read instead of an input

  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] std::int64_t bytes() const;
  /// Equal parts along `split`.
  [[nodiscard]] std::int64_t parts() const;
  /// Reads and writes the same offsets, so that nothing needs to move when both sides start at one address.
  [[nodiscard]] bool is_dense() const;
};

struct BoundLoop {
  const CopyLoop* loop = nullptr;
  const std::byte* from = nullptr;  ///< null for fills
  std::byte* to = nullptr;
  int threads = 1;  ///< used, chosen when the loop is bound
  ThreadPool* pool = nullptr;
};

[[nodiscard]] CopyLoop plan_loop(const Block& block, std::int64_t element_bytes);
void run_loop(const BoundLoop& bound);

/// Transposes a matrix of 4-byte elements: `to[c][r] = from[r][c]`, rows of `from` and `to` contiguous. Chooses AVX
/// when the machine has it.
void transpose_32(const InnerLoop& loop, const std::byte* from, std::byte* to);

}  // namespace collage::host
