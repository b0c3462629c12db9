// Maps formats and layouts to oneDNN's memory descriptors.
// In:  a format or a layout, with extents. Out: a memory descriptor, its size in bytes.
// Not here: which format a port gets (lower.h), packing of constants (kernel.cpp).
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <optional>
#include <string>

#include "ir/type.h"
#include "region/format.h"

namespace collage::onednn {

/// The memory orders this backend computes in.
enum class Layout : std::uint8_t {
  kPlain,         ///< row-major in ONNX order
  kChannelsLast,  ///< batch, spatial, channels
  kBlocked        ///< channels in blocks of `block_of(isa)`, padded with zeros; rank 3 to 5
};

[[nodiscard]] std::string_view name_of(Layout layout);
[[nodiscard]] std::optional<Layout> layout_of(std::string_view name);

/// Channels in a block: the floats of one vector register of the widest instruction set the library uses.
[[nodiscard]] int native_block();

/// The format's name for a layout: "plain", "channels_last", "onednn:nChw16c", the backend's kind in front (any rank
/// from 3 to 5).
[[nodiscard]] Format format_of(Layout layout);
/// The layout behind a format, of full or of narrow elements; nothing for one that is neither common nor ours.
[[nodiscard]] std::optional<Layout> layout_of(const Format& format);

/// Element types of values that can be moved; f32 alone is computed with.
[[nodiscard]] bool can_move(ElementType type);
/// The library's name for the elements in which a tensor is stored: those that can be moved, and bf16 for f32 values.
[[nodiscard]] std::optional<dnnl::memory::data_type> data_type_of(ElementType stored);

/// The descriptor of a dense tensor. Rank 0 is given as one element. Precondition: kBlocked has rank 3 to 5.
[[nodiscard]] dnnl::memory::desc describe(const Extents& extents, dnnl::memory::data_type type, Layout layout);

/// Row-major strides, in elements.
[[nodiscard]] Extents row_major_strides(const Extents& extents);

/// True when every extent after the first two is 1: all layouts but the padded one have the same bytes.
[[nodiscard]] bool is_one_pixel(const Extents& extents);

}  // namespace collage::onednn
