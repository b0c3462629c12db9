// The two memory formats everyone knows, and moving a tensor between them.
#include "region/format.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace collage {
namespace {

bool is_common(const Format& format) { return format.is_plain() || format.is_channels_last(); }

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

bool can_be_channels_last(const ValueType& type) {
  const int bits = bits_of(type.element);
  return type.kind == ValueKind::kTensor && type.shape && type.shape->size() >= 3 && type.shape->size() <= 5 &&
         bits > 0 && bits % 8 == 0;
}

bool same_bytes(const ValueType& type, const Format& a, const Format& b) {
  if (a == b) return true;
  if (!is_common(a) || !is_common(b) || !type.is_static() || !can_be_channels_last(type)) return false;
  const ImageExtents image = image_extents(type);
  return image.channels <= 1 || image.pixels <= 1 || image.batch == 0;
}

void convert_common_format(const ValueType& type, const Format& from, const void* in, const Format& to, void* out) {
  COLLAGE_CHECK(is_common(from) && is_common(to), from.name + " to " + to.name);
  COLLAGE_CHECK(type.is_static(), to_string(type));
  const std::size_t bytes = byte_count(type.element, type.extents());
  if (bytes == 0) return;
  if (same_bytes(type, from, to)) {
    std::memcpy(out, in, bytes);
    return;
  }
  COLLAGE_CHECK(can_be_channels_last(type), to_string(type));
  const auto element_bytes = static_cast<std::size_t>(bits_of(type.element)) / 8;
  const Transpose transpose_image = transpose_for(element_bytes);
  COLLAGE_CHECK(transpose_image != nullptr, to_string(type));
  const ImageExtents image = image_extents(type);
  const std::size_t rows = from.is_plain() ? image.channels : image.pixels;
  const std::size_t columns = from.is_plain() ? image.pixels : image.channels;
  const std::size_t image_bytes = rows * columns * element_bytes;
  for (std::size_t n = 0; n < image.batch; ++n)
    transpose_image(static_cast<const std::byte*>(in) + n * image_bytes, static_cast<std::byte*>(out) + n * image_bytes,
                    rows, columns);
}

}  // namespace collage
