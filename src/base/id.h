// Typed indices: an index of one kind (a node, a value) cannot be passed where another kind is expected.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace collage {

template <class Tag>
struct Id {
  std::uint32_t index = std::numeric_limits<std::uint32_t>::max();

  /// False for the default-made id, which names nothing.
  [[nodiscard]] constexpr bool valid() const { return index != std::numeric_limits<std::uint32_t>::max(); }
  constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace collage

template <class Tag>
struct std::hash<collage::Id<Tag>> {
  std::size_t operator()(collage::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.index); }
};
