// Describes operators that only move elements as copy programs, one function for each group of operators, for given
// port formats. A program that changes nothing is recognised as a view.
#pragma once

#include "family.h"
#include "movement/copy_program.h"
#include "region/variant.h"

namespace collage::host {

using Programmed = std::expected<CopyProgram, Refusal>;

/// A node whose data ports have chosen formats.
struct MoveSite {
  const Site& site;
  const Variant& variant;

  [[nodiscard]] const Node& node() const { return site.node; }
  /// Extents and strides of the node's i-th input or output under the variant.
  [[nodiscard]] Extents in_extents(std::size_t i) const { return site.input_type(i).extents(); }
  [[nodiscard]] Extents out_extents(std::size_t i) const { return site.output_type(i).extents(); }
  [[nodiscard]] Strides in_strides(std::size_t i) const;
  [[nodiscard]] Strides out_strides(std::size_t i) const;
  /// Counts the region's inputs, then its constants.
  [[nodiscard]] std::uint32_t in_port(std::size_t i) const;
  [[nodiscard]] std::uint32_t out_port(std::size_t i) const { return *site.output_port(node().outputs[i]); }
};

// move_axes.cpp
[[nodiscard]] Programmed move_transpose(const MoveSite& at);
[[nodiscard]] Programmed move_reshape(const MoveSite& at);
// move_parts.cpp
[[nodiscard]] Programmed move_concat(const MoveSite& at);
[[nodiscard]] Programmed move_split(const MoveSite& at);
[[nodiscard]] Programmed move_slice(const MoveSite& at);
[[nodiscard]] Programmed move_gather(const MoveSite& at);
// move_repeat.cpp
[[nodiscard]] Programmed move_expand(const MoveSite& at);
[[nodiscard]] Programmed move_tile(const MoveSite& at);
[[nodiscard]] Programmed move_resize(const MoveSite& at);
// move_space.cpp
[[nodiscard]] Programmed move_pad(const MoveSite& at);
[[nodiscard]] Programmed move_depth_to_space(const MoveSite& at);
[[nodiscard]] Programmed move_space_to_depth(const MoveSite& at);

/// A copy of one tensor from one common format to another (or the same).
[[nodiscard]] CopyProgram copy_between(const ValueType& type, const Format& from, const Format& to);

}  // namespace collage::host
