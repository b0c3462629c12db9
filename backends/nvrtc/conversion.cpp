#include "backends/nvrtc/conversion.h"

#include <fmt/format.h>

#include <limits>

namespace collage::nvrtc {
namespace {

constexpr std::int64_t kThreads = 256;

/// A type of so many bits whose numbers are copied as they are; "" when there is none.
std::string word_text(int bits) {
  switch (bits) {
    case 8:
      return "unsigned char";
    case 16:
      return "unsigned short";
    case 32:
      return "unsigned int";
    case 64:
      return "unsigned long long";
    default:
      return "";
  }
}

native::Argument argument_of(ArgumentKind kind, const ValueType& type) {
  return dense_argument(kind, 0, type.element, {element_count(type.extents())});
}

}  // namespace

std::expected<native::CudaProgram, Refusal> write_conversion(const Conversion& conversion) {
  const Format& from = conversion.from.format;
  const Format& to = conversion.to.format;
  const ValueType& type = conversion.type;
  const bool gathers = from.is_plain() && to.is_channels_last();
  if ((!gathers && !(from.is_channels_last() && to.is_plain())) || !type.is_static() || !can_be_channels_last(type))
    return refuse(RefusalReason::kFormat, from.name + " to " + to.name);
  const std::string word = word_text(bits_of(type.element));
  if (word.empty()) return refuse(RefusalReason::kType, std::string(name_of(type.element)));
  const Extents extents = type.extents();
  const std::int64_t count = element_count(extents);
  if (count == 0 || count > std::numeric_limits<std::int32_t>::max())
    return refuse(RefusalReason::kShape, fmt::format("{} elements", count));
  // Matrices [channels, pixels] and [pixels, channels], one for each of the batch: rows of the result become columns.
  const std::int64_t channels = extents[1];
  const std::int64_t pixels = count / (extents[0] * channels);
  const std::int64_t columns = gathers ? channels : pixels;
  const std::int64_t rows = gathers ? pixels : channels;
  native::CudaProgram program;
  program.source = fmt::format(
      "extern \"C\" __global__ void convert(const {0}* __restrict__ in0, {0}* __restrict__ out1) {{\n"
      "  const int at = blockIdx.x * {1} + threadIdx.x;\n"
      "  if (at >= {2}) return;\n"
      "  const int column = at % {3};\n"
      "  const int row = at / {3} % {4};\n"
      "  const int matrix = at / {5};\n"
      "  out1[at] = in0[matrix * {5} + column * {4} + row];\n"
      "}}\n",
      word, kThreads, count, columns, rows, rows * columns);
  program.arguments = {argument_of(ArgumentKind::kInput, type), argument_of(ArgumentKind::kOutput, type)};
  program.kernels = {{.name = "convert",
                      .blocks = static_cast<std::uint32_t>((count + kThreads - 1) / kThreads),
                      .threads = static_cast<std::uint32_t>(kThreads),
                      .parameters = {{native::CudaBufferKind::kArgument, 0}, {native::CudaBufferKind::kArgument, 1}}}};
  return program;
}

}  // namespace collage::nvrtc
