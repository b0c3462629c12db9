// The two memory formats everyone knows, of full and of narrow elements, and moving a tensor between them.
#include "region/format.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/narrow_float.h"

namespace collage {
namespace {

struct NarrowName {
  std::string_view suffix;
  ElementType element;
};

constexpr std::array<NarrowName, 2> kNarrowNames = {
    {{".bf16", ElementType::kBfloat16}, {".f16", ElementType::kFloat16}}};

/// How the name of a narrow format ends; null for other formats.
const NarrowName* narrow_name(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kNarrowNames, [&](const NarrowName& one) { return name.ends_with(one.suffix); });
  return found == kNarrowNames.end() ? nullptr : found;
}

/// Extents [n, channels, pixels] of a static tensor of rank 3 to 5, spatial dimensions taken together.
struct ImageExtents {
  std::size_t batch = 0;
  std::size_t channels = 0;
  std::size_t pixels = 0;
};

ImageExtents image_extents(const ValueType& type) {
  const Extents extents = type.extents();
  ImageExtents image{
      .batch = static_cast<std::size_t>(extents[0]), .channels = static_cast<std::size_t>(extents[1]), .pixels = 1};
  for (std::size_t i = 2; i < extents.size(); ++i) image.pixels *= static_cast<std::size_t>(extents[i]);
  return image;
}

/// Transposes [rows, columns] elements to [columns, rows]. Blocked, so that both sides touch whole cache lines.
template <class Element>
void transpose(const std::byte* in, std::byte* out, std::size_t rows, std::size_t columns) {
  constexpr std::size_t kBlock = 32;
  for (std::size_t row = 0; row < rows; row += kBlock) {
    const std::size_t row_end = std::min(row + kBlock, rows);
    for (std::size_t column = 0; column < columns; column += kBlock) {
      const std::size_t column_end = std::min(column + kBlock, columns);
      for (std::size_t c = column; c < column_end; ++c)
        for (std::size_t r = row; r < row_end; ++r)
          std::memcpy(out + (c * rows + r) * sizeof(Element), in + (r * columns + c) * sizeof(Element),
                      sizeof(Element));
    }
  }
}

using Transpose = void (*)(const std::byte*, std::byte*, std::size_t, std::size_t);

std::vector<std::byte> narrowed(const std::byte* in, std::size_t count, ElementType element) {
  std::vector<std::byte> out(count * sizeof(std::uint16_t));
  for (std::size_t i = 0; i < count; ++i) {
    float wide = 0;
    std::memcpy(&wide, in + i * sizeof(float), sizeof wide);
    const std::uint16_t bits = element == ElementType::kBfloat16 ? to_bfloat(wide) : to_half(wide);
    std::memcpy(out.data() + i * sizeof bits, &bits, sizeof bits);
  }
  return out;
}

std::vector<std::byte> widened(const std::byte* in, std::size_t count, ElementType element) {
  std::vector<std::byte> out(count * sizeof(float));
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, in + i * sizeof bits, sizeof bits);
    const float wide = element == ElementType::kBfloat16 ? from_bfloat(bits) : from_half(bits);
    std::memcpy(out.data() + i * sizeof wide, &wide, sizeof wide);
  }
  return out;
}

/// The elements, in the order they have, in the element type that `to` stores.
std::vector<std::byte> stored_alike(const ValueType& type, const Format& from, const std::byte* in, const Format& to) {
  const auto count = static_cast<std::size_t>(element_count(type.extents()));
  std::vector<std::byte> full =
      from.narrow() ? widened(in, count, *from.narrow()) : std::vector<std::byte>(in, in + count * sizeof(float));
  return to.narrow() ? narrowed(full.data(), count, *to.narrow()) : full;
}

Transpose transpose_for(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return transpose<std::uint8_t>;
    case 2:
      return transpose<std::uint16_t>;
    case 4:
      return transpose<std::uint32_t>;
    case 8:
      return transpose<std::uint64_t>;
    case 16:
      return transpose<std::array<std::uint64_t, 2>>;
    default:
      return nullptr;
  }
}

}  // namespace

std::string Format::owner() const {
  const std::size_t colon = name.find(':');
  return colon == std::string::npos ? std::string{} : name.substr(0, colon);
}

std::optional<ElementType> Format::narrow() const {
  const NarrowName* const ending = narrow_name(name);
  return ending == nullptr ? std::nullopt : std::optional(ending->element);
}

Format Format::full() const {
  const NarrowName* const ending = narrow_name(name);
  return ending == nullptr ? *this : Format{name.substr(0, name.size() - ending->suffix.size())};
}

Format stored_as(const Format& format, ElementType element) {
  const auto* const found = std::ranges::find(kNarrowNames, element, &NarrowName::element);
  COLLAGE_CHECK(found != kNarrowNames.end() && !format.narrow(), format.name + " of other elements");
  return {format.name + std::string(found->suffix)};
}

bool is_common(const Format& format) {
  const Format full = format.full();
  return full.is_plain() || full.is_channels_last();
}

bool can_have_common_format(const ValueType& type, const Format& format) {
  if (format.narrow() && (type.kind != ValueKind::kTensor || type.element != ElementType::kFloat32)) return false;
  const Format full = format.full();
  return full.is_plain() || (full.is_channels_last() && can_be_channels_last(type));
}

ElementType stored_element(const ValueType& type, const Format& format) {
  return format.narrow().value_or(type.element);
}

std::optional<std::size_t> common_format_bytes(const ValueType& type, const Format& format) {
  if (!type.is_static() || !can_have_common_format(type, format)) return std::nullopt;
  return byte_count(stored_element(type, format), type.extents());
}

bool can_be_channels_last(const ValueType& type) {
  const int bits = bits_of(type.element);
  return type.kind == ValueKind::kTensor && type.shape && type.shape->size() >= 3 && type.shape->size() <= 5 &&
         bits > 0 && bits % 8 == 0;
}

bool same_bytes(const ValueType& type, const Format& a, const Format& b) {
  if (a == b) return true;
  if (!is_common(a) || !is_common(b) || a.narrow() != b.narrow()) return false;
  if (!type.is_static() || !can_be_channels_last(type)) return false;
  const ImageExtents image = image_extents(type);
  return image.channels <= 1 || image.pixels <= 1 || image.batch == 0;
}

void convert_common_format(const ValueType& type, const Format& from, const void* in, const Format& to, void* out) {
  COLLAGE_CHECK(is_common(from) && is_common(to), from.name + " to " + to.name);
  COLLAGE_CHECK(type.is_static(), to_string(type));
  if (from.narrow() != to.narrow()) {
    const auto alike = stored_alike(type, from, static_cast<const std::byte*>(in), to);
    const Format order = to.narrow() ? stored_as(from.full(), *to.narrow()) : from.full();
    return convert_common_format(type, order, alike.data(), to, out);
  }
  const ElementType element = stored_element(type, to);
  const std::size_t bytes = byte_count(element, type.extents());
  if (bytes == 0) return;
  if (same_bytes(type, from, to)) {
    std::memcpy(out, in, bytes);
    return;
  }
  COLLAGE_CHECK(can_be_channels_last(type), to_string(type));
  const auto element_bytes = static_cast<std::size_t>(bits_of(element)) / 8;
  const Transpose transpose_image = transpose_for(element_bytes);
  COLLAGE_CHECK(transpose_image != nullptr, to_string(type));
  const ImageExtents image = image_extents(type);
  const std::size_t rows = from.full().is_plain() ? image.channels : image.pixels;
  const std::size_t columns = from.full().is_plain() ? image.pixels : image.channels;
  const std::size_t image_bytes = rows * columns * element_bytes;
  for (std::size_t n = 0; n < image.batch; ++n)
    transpose_image(static_cast<const std::byte*>(in) + n * image_bytes, static_cast<std::byte*>(out) + n * image_bytes,
                    rows, columns);
}

}  // namespace collage
