#include "movement/copy_loops.h"

#include <algorithm>
#include <cstring>

#include "parallel.h"

namespace collage::host {
namespace {

constexpr std::int64_t kSmallRowBytes = 256;  // below, the call of memcpy costs more than the copy

/// Moves E bytes at any alignment; E is 1, 2, 4, 8 or 16.
template <std::int64_t E>
struct Element {
  std::array<std::byte, static_cast<std::size_t>(E)> bytes;
};

template <std::int64_t E>
Element<E> load(const std::byte* from) {
  Element<E> element;
  std::memcpy(&element, from, static_cast<std::size_t>(E));
  return element;
}
template <std::int64_t E>
void store(std::byte* to, Element<E> element) {
  std::memcpy(to, &element, static_cast<std::size_t>(E));
}

void copy_small_row(const std::byte* from, std::byte* to, std::int64_t bytes) {
  if (bytes < 16) {
    for (std::int64_t i = 0; i < bytes; ++i) to[i] = from[i];
    return;
  }
  for (std::int64_t i = 0; i + 16 <= bytes; i += 16) store<16>(to + i, load<16>(from + i));
  // The last 16 bytes again, where they end: overlapping stores of equal bytes instead of a loop over the rest.
  store<16>(to + bytes - 16, load<16>(from + bytes - 16));
}

/// Rows of `columns` bytes.
void copy_rows(const InnerLoop& loop, const std::byte* from, std::byte* to) {
  if (loop.columns <= kSmallRowBytes) {
    for (std::int64_t r = 0; r < loop.rows; ++r)
      copy_small_row(from + r * loop.from_row_bytes, to + r * loop.to_row_bytes, loop.columns);
    return;
  }
  for (std::int64_t r = 0; r < loop.rows; ++r)
    std::memcpy(to + r * loop.to_row_bytes, from + r * loop.from_row_bytes, static_cast<std::size_t>(loop.columns));
}

/// The plain loop for every pair of strides.
template <std::int64_t E>
void copy_strided(const InnerLoop& loop, const std::byte* from, std::byte* to) {
  for (std::int64_t r = 0; r < loop.rows; ++r) {
    const std::byte* from_row = from + r * loop.from_row_bytes;
    std::byte* to_row = to + r * loop.to_row_bytes;
    for (std::int64_t c = 0; c < loop.columns; ++c)
      store<E>(to_row + c * loop.to_column_bytes, load<E>(from_row + c * loop.from_column_bytes));
  }
}

/// Each row is one element repeated in neighbouring places.
template <std::int64_t E>
void repeat_element(const InnerLoop& loop, const std::byte* from, std::byte* to) {
  for (std::int64_t r = 0; r < loop.rows; ++r) {
    const Element<E> element = load<E>(from + r * loop.from_row_bytes);
    std::byte* to_row = to + r * loop.to_row_bytes;
    for (std::int64_t c = 0; c < loop.columns; ++c) store<E>(to_row + c * E, element);
  }
}

/// Typed pointers, so that the compiler sees groups of N neighbours and vectorises them; all strides are dense.
template <class T>
const T* typed(const std::byte* bytes) {
  return reinterpret_cast<const T*>(bytes);
}
template <class T>
T* typed(std::byte* bytes) {
  return reinterpret_cast<T*>(bytes);
}

/// Dense rows of one element each become N neighbours each: nearest-neighbour enlargement.
template <class T, int N>
void repeat_narrow(const InnerLoop& loop, const std::byte* from_bytes, std::byte* to_bytes) {
  const T* __restrict from = typed<T>(from_bytes);
  T* __restrict to = typed<T>(to_bytes);
  for (std::int64_t r = 0; r < loop.rows; ++r)
    for (int c = 0; c < N; ++c) to[r * N + c] = from[r];
}

/// N long dense rows become one row of interleaved groups: planes to pixels.
template <class T, int N>
void interleave(const InnerLoop& loop, const std::byte* from_bytes, std::byte* to_bytes) {
  const T* __restrict from = typed<T>(from_bytes);
  T* __restrict to = typed<T>(to_bytes);
  const std::int64_t plane = loop.from_column_bytes / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t r = 0; r < loop.rows; ++r)
    for (int c = 0; c < N; ++c) to[r * N + c] = from[c * plane + r];
}

/// The way back: interleaved groups of N become N long dense rows.
template <class T, int N>
void deinterleave(const InnerLoop& loop, const std::byte* from_bytes, std::byte* to_bytes) {
  const T* __restrict from = typed<T>(from_bytes);
  T* __restrict to = typed<T>(to_bytes);
  const std::int64_t plane = loop.to_row_bytes / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t c = 0; c < loop.columns; ++c)
    for (int r = 0; r < N; ++r) to[r * plane + c] = from[c * N + r];
}

/// to[r][c] = from[c][r] in square tiles, so that both sides use whole cache lines.
template <std::int64_t E>
void transpose_tiles(const InnerLoop& loop, const std::byte* from, std::byte* to) {
  constexpr std::int64_t kTile = 64 / std::min<std::int64_t>(E, 8);
  for (std::int64_t r0 = 0; r0 < loop.rows; r0 += kTile) {
    const std::int64_t r1 = std::min(r0 + kTile, loop.rows);
    for (std::int64_t c0 = 0; c0 < loop.columns; c0 += kTile) {
      const std::int64_t c1 = std::min(c0 + kTile, loop.columns);
      for (std::int64_t r = r0; r < r1; ++r)
        for (std::int64_t c = c0; c < c1; ++c)
          store<E>(to + r * loop.to_row_bytes + c * E, load<E>(from + c * loop.from_column_bytes + r * E));
    }
  }
}

template <template <std::int64_t> class Choice>
InnerFunction by_size(std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return Choice<1>::function;
    case 2:
      return Choice<2>::function;
    case 4:
      return Choice<4>::function;
    case 8:
      return Choice<8>::function;
    default:
      return Choice<16>::function;
  }
}
template <std::int64_t E>
struct Strided {
  static constexpr InnerFunction function = copy_strided<E>;
};
template <std::int64_t E>
struct Repeated {
  static constexpr InnerFunction function = repeat_element<E>;
};
template <std::int64_t E>
struct Transposed {
  static constexpr InnerFunction function = transpose_tiles<E>;
};
template <>
struct Transposed<4> {
  static constexpr InnerFunction function = transpose_32;
};

/// The narrow loop of a family for N = 2, 3, 4 and elements of 1, 2 or 4 bytes; null for others.
#define COLLAGE_NARROW(family)                                                                \
  [](std::int64_t bytes, std::int64_t n) -> InnerFunction {                                   \
    const auto choose = [n]<class T>(T) -> InnerFunction {                                    \
      return n == 2 ? family<T, 2> : n == 3 ? family<T, 3> : n == 4 ? family<T, 4> : nullptr; \
    };                                                                                        \
    if (bytes == 1) return choose(std::uint8_t{});                                            \
    if (bytes == 2) return choose(std::uint16_t{});                                           \
    return bytes == 4 ? choose(std::uint32_t{}) : nullptr;                                    \
  }

constexpr auto narrow_repeat = COLLAGE_NARROW(repeat_narrow);
constexpr auto narrow_interleave = COLLAGE_NARROW(interleave);
constexpr auto narrow_deinterleave = COLLAGE_NARROW(deinterleave);

#undef COLLAGE_NARROW

/// Whole elements that lie beside each other on both sides become one larger element.
void widen_elements(std::vector<OuterAxis>& axes, std::int64_t& element_bytes) {
  while (!axes.empty()) {
    const OuterAxis& last = axes.back();
    const std::int64_t bytes = element_bytes * last.extent;
    const bool is_dense = last.from_bytes == element_bytes && last.to_bytes == element_bytes;
    if (!is_dense || (bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16)) return;
    element_bytes = bytes;
    axes.pop_back();
  }
}

/// Moves the axis that is read densely beside the last one, which is then written densely: a transpose.
bool bring_transpose_together(std::vector<OuterAxis>& axes, std::int64_t element_bytes) {
  if (axes.size() < 2 || axes.back().to_bytes != element_bytes) return false;
  const auto read_densely = std::find_if(axes.begin(), axes.end() - 1,
                                         [&](const OuterAxis& axis) { return axis.from_bytes == element_bytes; });
  if (read_densely == axes.end() - 1) return false;
  std::rotate(read_densely, read_densely + 1, axes.end() - 1);
  return true;
}

InnerFunction choose_transpose(const InnerLoop& loop, bool is_widened) {
  const std::int64_t e = loop.element_bytes;
  if (is_widened) return by_size<Transposed>(e);
  if (loop.to_row_bytes == loop.columns * e)
    if (const InnerFunction function = narrow_interleave(e, loop.columns)) return function;
  if (loop.from_column_bytes == loop.rows * e)
    if (const InnerFunction function = narrow_deinterleave(e, loop.rows)) return function;
  return by_size<Transposed>(e);
}

/// The narrow loops access elements by their type, so they need the alignment that a widened element may lack.
InnerFunction choose_inner(InnerLoop& loop, bool is_transpose, bool is_widened) {
  const std::int64_t e = loop.element_bytes;
  if (loop.from_column_bytes == e && loop.to_column_bytes == e) {
    loop.columns *= e;
    return copy_rows;
  }
  if (is_transpose) return choose_transpose(loop, is_widened);
  if (loop.from_column_bytes == 0 && loop.to_column_bytes == e) {
    const bool is_narrow = !is_widened && loop.from_row_bytes == e && loop.to_row_bytes == loop.columns * e;
    const InnerFunction function = is_narrow ? narrow_repeat(e, loop.columns) : nullptr;
    return function != nullptr ? function : by_size<Repeated>(e);
  }
  return by_size<Strided>(e);
}

void run_axis(const CopyLoop& loop, std::size_t level, const std::byte* from, std::byte* to) {
  if (level == loop.outer.size()) {
    loop.run(loop.inner, from, to);
    return;
  }
  const OuterAxis& axis = loop.outer[level];
  for (std::int64_t i = 0; i < axis.extent; ++i)
    run_axis(loop, level + 1, from + i * axis.from_bytes, to + i * axis.to_bytes);
}

/// Ranges of the axis a loop is split along; the loop itself is not changed.
void run_range(const CopyLoop& loop, const std::byte* from, std::byte* to, std::int64_t first, std::int64_t last) {
  if (loop.split == Split::kOuter) {
    const OuterAxis& axis = loop.outer.front();
    for (std::int64_t i = first; i < last; ++i) run_axis(loop, 1, from + i * axis.from_bytes, to + i * axis.to_bytes);
    return;
  }
  InnerLoop part = loop.inner;
  if (loop.split == Split::kRows) {
    part.rows = last - first;
    loop.run(part, from + first * part.from_row_bytes, to + first * part.to_row_bytes);
  } else {
    // The columns of copy_rows are bytes.
    part.columns = last - first;
    loop.run(part, from + first, to + first);
  }
}

Split choose_split(const CopyLoop& loop, bool rows_may_split) {
  if (!loop.outer.empty() && loop.outer.front().extent > 1) return Split::kOuter;
  if (!loop.outer.empty()) return Split::kNone;
  if (loop.inner.rows > 1 && rows_may_split) return Split::kRows;
  return loop.run == copy_rows && loop.inner.rows == 1 ? Split::kColumns : Split::kNone;
}

}  // namespace

std::int64_t CopyLoop::elements() const {
  std::int64_t count = inner.rows * inner.columns;
  for (const OuterAxis& axis : outer) count *= axis.extent;
  return count;
}

std::int64_t CopyLoop::bytes() const { return run == copy_rows ? elements() : elements() * inner.element_bytes; }

std::int64_t CopyLoop::parts() const {
  switch (split) {
    case Split::kOuter:
      return outer.front().extent;
    case Split::kRows:
      return inner.rows;
    case Split::kColumns:
      return inner.columns;
    case Split::kNone:
      break;
  }
  return 1;
}

bool CopyLoop::is_dense() const {
  const auto same = [](const OuterAxis& axis) { return axis.from_bytes == axis.to_bytes; };
  return inner.from_row_bytes == inner.to_row_bytes && inner.from_column_bytes == inner.to_column_bytes &&
         std::ranges::all_of(outer, same);
}

CopyLoop plan_loop(const Block& block, std::int64_t element_bytes) {
  const Block tidy = normalised(block);
  CopyLoop loop;
  for (const std::uint8_t byte : block.fill) loop.fill.push_back(static_cast<std::byte>(byte));
  std::vector<OuterAxis> axes;
  for (const BlockAxis& axis : tidy.axes)
    axes.push_back({axis.extent, axis.from_stride * element_bytes, axis.to_stride * element_bytes});
  const std::int64_t original_bytes = element_bytes;
  widen_elements(axes, element_bytes);

  const bool rows_are_dense = !axes.empty() && axes.back().from_bytes == element_bytes;
  const bool is_transpose = !rows_are_dense && bring_transpose_together(axes, element_bytes);
  loop.inner.element_bytes = element_bytes;
  loop.inner.from_column_bytes = loop.inner.to_column_bytes = element_bytes;
  if (!axes.empty()) {
    loop.inner.columns = axes.back().extent;
    loop.inner.from_column_bytes = axes.back().from_bytes;
    loop.inner.to_column_bytes = axes.back().to_bytes;
    axes.pop_back();
  }
  if (!axes.empty()) {
    loop.inner.rows = axes.back().extent;
    loop.inner.from_row_bytes = axes.back().from_bytes;
    loop.inner.to_row_bytes = axes.back().to_bytes;
    axes.pop_back();
  }
  loop.outer = std::move(axes);
  loop.run = choose_inner(loop.inner, is_transpose, element_bytes != original_bytes);
  // Two to four planes taken apart are no rows to share out: their loops know the number of planes.
  loop.split = choose_split(loop, !is_transpose || loop.inner.rows > 4);
  return loop;
}

void run_loop(const BoundLoop& bound) {
  const CopyLoop& loop = *bound.loop;
  const std::byte* from = bound.from != nullptr ? bound.from : loop.fill.data();
  if (bound.threads <= 1) {
    run_axis(loop, 0, from, bound.to);
    return;
  }
  in_ranges(bound.pool, bound.threads, loop.parts(),
            [&](std::int64_t first, std::int64_t last, int) { run_range(loop, from, bound.to, first, last); });
}

}  // namespace collage::host
