#include "layout.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "library.h"

namespace collage::onednn {
namespace {

using dnnl::memory;

Extents channels_last_strides(const Extents& extents) {
  Extents strides(extents.size(), 1);
  std::int64_t stride = extents[1];
  for (std::size_t axis = extents.size() - 1; axis >= 2; --axis) {
    strides[axis] = stride;
    stride *= extents[axis];
  }
  strides[0] = stride;
  return strides;
}

memory::format_tag blocked_tag(std::size_t rank) {
  const bool wide = native_block() == 16;
  switch (rank) {
    case 3:
      return wide ? memory::format_tag::nCw16c : memory::format_tag::nCw8c;
    case 4:
      return wide ? memory::format_tag::nChw16c : memory::format_tag::nChw8c;
    default:
      return wide ? memory::format_tag::nCdhw16c : memory::format_tag::nCdhw8c;
  }
}

}  // namespace

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::kPlain:
      return "plain";
    case Layout::kChannelsLast:
      return "channels_last";
    case Layout::kBlocked:
      return "blocked";
  }
  return "";
}

std::optional<Layout> layout_of(std::string_view name) {
  for (Layout layout : {Layout::kPlain, Layout::kChannelsLast, Layout::kBlocked})
    if (name == name_of(layout)) return layout;
  return std::nullopt;
}

int native_block() {
  static const int block = [] {
    const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
    constexpr auto kWide = static_cast<unsigned>(dnnl_cpu_isa_avx512_core);
    return (isa & kWide) == kWide ? 16 : 8;
  }();
  return block;
}

Format format_of(Layout layout) {
  if (layout == Layout::kPlain) return plain();
  if (layout == Layout::kChannelsLast) return channels_last();
  return {std::string(kBackendKind) + (native_block() == 16 ? ":nChw16c" : ":nChw8c")};
}

std::optional<Layout> layout_of(const Format& format) {
  for (Layout layout : {Layout::kPlain, Layout::kChannelsLast, Layout::kBlocked})
    if (format.full() == format_of(layout)) return layout;
  return std::nullopt;
}

bool can_move(ElementType type) { return type != ElementType::kBfloat16 && data_type_of(type); }

std::optional<memory::data_type> data_type_of(ElementType stored) {
  switch (stored) {
    case ElementType::kFloat32:
      return memory::data_type::f32;
    case ElementType::kBfloat16:
      return memory::data_type::bf16;
    case ElementType::kInt32:
    case ElementType::kUint32:
      return memory::data_type::s32;
    case ElementType::kInt8:
      return memory::data_type::s8;
    case ElementType::kUint8:
    case ElementType::kBool:
      return memory::data_type::u8;
    default:
      return std::nullopt;
  }
}

memory::desc describe(const Extents& extents, memory::data_type type, Layout layout) {
  if (extents.empty()) return {memory::dims{1}, type, memory::dims{1}};
  if (layout == Layout::kPlain || extents.size() < 3) return {extents, type, row_major_strides(extents)};
  if (layout == Layout::kChannelsLast) return {extents, type, channels_last_strides(extents)};
  COLLAGE_CHECK(extents.size() <= 5, "blocked rank " + std::to_string(extents.size()));
  return {extents, type, blocked_tag(extents.size())};
}

Extents row_major_strides(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (std::size_t axis = extents.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * extents[axis];
  return strides;
}

bool is_one_pixel(const Extents& extents) {
  return extents.size() < 3 || std::all_of(extents.begin() + 2, extents.end(), [](auto extent) { return extent == 1; });
}

}  // namespace collage::onednn
