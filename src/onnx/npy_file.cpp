// NumPy's .npy: the magic, a version, the length of a header, the header (a Python dict literal), the elements.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/number_text.h"
#include "onnx/model_file.h"
#include "onnx/tensor_file.h"
#include "onnx/tensor_proto.h"

namespace collage {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "\x93NUMPY";

struct Header {
  std::string descr;
  bool fortran_order = false;
  Extents extents;
  std::size_t data_at = 0;
};

struct DescrName {
  std::string_view descr;
  ElementType type;
};
constexpr std::array kDescrs = {
    DescrName{"<f4", ElementType::kFloat32},   DescrName{"<f8", ElementType::kFloat64},
    DescrName{"<f2", ElementType::kFloat16},   DescrName{"|i1", ElementType::kInt8},
    DescrName{"<i2", ElementType::kInt16},     DescrName{"<i4", ElementType::kInt32},
    DescrName{"<i8", ElementType::kInt64},     DescrName{"|u1", ElementType::kUint8},
    DescrName{"<u2", ElementType::kUint16},    DescrName{"<u4", ElementType::kUint32},
    DescrName{"<u8", ElementType::kUint64},    DescrName{"|b1", ElementType::kBool},
    DescrName{"<c8", ElementType::kComplex64}, DescrName{"<c16", ElementType::kComplex128},
};

std::unexpected<Error> malformed(const std::string& path, std::string saw) {
  return fail(ExitCode::kBadInput, "tensor/malformed", path, std::move(saw), "a .npy file");
}

std::unexpected<Error> unsupported(const std::string& path, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "tensor/unsupported-type", path, std::move(saw), std::move(allowed));
}

/// The text after 'key': in the header; empty when it is not there.
std::string_view entry(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string pattern = quote + std::string(key) + quote;
    const std::size_t at = header.find(pattern);
    if (at == std::string_view::npos) continue;
    std::string_view rest = header.substr(at + pattern.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" :"), rest.size()));
    return rest;
  }
  return {};
}

std::optional<Extents> parse_shape(std::string_view text) {
  const std::size_t close = text.find(')');
  if (text.empty() || text.front() != '(' || close == std::string_view::npos) return std::nullopt;
  text = text.substr(1, close - 1);
  Extents extents;
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty()) break;
    const auto extent = take_number<std::int64_t>(text);
    if (!extent || *extent < 0) return std::nullopt;
    if (!text.empty() && text.front() == 'L') text.remove_prefix(1);
    extents.push_back(*extent);
  }
  return extents;
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

Result<Header> read_header(const std::string& path, std::string_view bytes) {
  if (bytes.size() < 10 || !bytes.starts_with(kMagic)) return malformed(path, "no .npy magic");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) return malformed(path, "version " + std::to_string(version));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t at = 8 + length_bytes;
  if (bytes.size() < at) return malformed(path, "a header cut short");
  const std::size_t length = little_endian(bytes.substr(8, length_bytes));
  if (length > bytes.size() - at) return malformed(path, "a header cut short");
  const std::string_view text = bytes.substr(at, length);

  Header header;
  header.data_at = at + length;
  const std::string_view descr = entry(text, "descr");
  if (descr.size() < 2 || (descr[0] != '\'' && descr[0] != '"'))
    return unsupported(path, "a structured element type", "one number, bool or string an element");
  const std::size_t close = descr.find(descr[0], 1);
  if (close == std::string_view::npos) return malformed(path, "a header without an element type");
  header.descr = descr.substr(1, close - 1);
  header.fortran_order = entry(text, "fortran_order").starts_with("True");
  const auto shape = parse_shape(entry(text, "shape"));
  if (!shape || !checked_byte_count(ElementType::kUint8, *shape))
    return malformed(path, "a header without a usable shape");
  header.extents = *shape;
  return header;
}

std::optional<ElementType> type_of(std::string descr) {
  if (descr.size() >= 2 && (descr[0] == '=' || (descr[0] == '<' && descr.ends_with("1") && descr.size() == 3)))
    descr[0] = descr.ends_with("1") && descr.size() == 3 ? '|' : '<';
  const auto found = std::ranges::find(kDescrs, descr, &DescrName::descr);
  if (found == kDescrs.end()) return std::nullopt;
  return found->type;
}

/// For each element in row-major order, its place in the file.
std::vector<std::size_t> file_order(const Header& header, std::size_t count) {
  std::vector<std::size_t> order(count);
  const std::size_t rank = header.extents.size();
  std::vector<std::size_t> strides(rank, 1);
  for (std::size_t d = 1; d < rank; ++d) strides[d] = strides[d - 1] * static_cast<std::size_t>(header.extents[d - 1]);
  std::vector<std::int64_t> index(rank, 0);
  for (std::size_t i = 0; i < count; ++i) {
    order[i] = i;
    if (!header.fortran_order) continue;
    std::size_t at = 0;
    for (std::size_t d = 0; d < rank; ++d) at += static_cast<std::size_t>(index[d]) * strides[d];
    order[i] = at;
    for (std::size_t d = rank; d-- > 0;) {
      if (++index[d] < header.extents[d]) break;
      index[d] = 0;
    }
  }
  return order;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800)
    put(0xC0 | code >> 6);
  else if (code < 0x10000)
    put(0xE0 | code >> 12);
  else
    put(0xF0 | (code >> 18 & 0x07));
  if (code >= 0x10000) put(0x80 | (code >> 12 & 0x3F));
  if (code >= 0x800) put(0x80 | (code >> 6 & 0x3F));
  put(0x80 | (code & 0x3F));
}

/// '<U7': seven UTF-32 code points an element, padded with zeros.
Result<Tensor> read_strings(const std::string& path, const Header& header, std::string_view data) {
  const auto letters = number_in<std::size_t>(std::string_view(header.descr).substr(2));
  if (!letters) return malformed(path, "element type '" + header.descr + "'");
  const std::size_t width = *letters;
  Tensor tensor{.type = ElementType::kString, .extents = header.extents, .data = {}, .strings = {}};
  const auto count = static_cast<std::size_t>(tensor.size());
  if (width > data.size() || (width != 0 && count > data.size() / (4 * width)) || data.size() != count * 4 * width)
    return malformed(path, std::to_string(data.size()) + " bytes of data for its shape");
  if (width == 0 && count > std::size_t{1} << 20) return malformed(path, "a shape of empty strings only");
  for (const std::size_t place : file_order(header, count)) {
    std::string& text = tensor.strings.emplace_back();
    std::size_t used = width;
    const char* element = data.data() + place * 4 * width;
    while (used > 0 && little_endian({element + (used - 1) * 4, 4}) == 0) --used;
    for (std::size_t i = 0; i < used; ++i)
      append_utf8(text, static_cast<std::uint32_t>(little_endian({element + i * 4, 4})));
  }
  return tensor;
}

std::vector<std::uint32_t> code_points(const std::string& text) {
  std::vector<std::uint32_t> codes;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i++]);
    const int more = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0;
    std::uint32_t code = more == 0 ? byte : byte & (0x3FU >> more);
    for (int k = 0; k < more && i < text.size(); ++k)
      code = code << 6 | (static_cast<unsigned char>(text[i++]) & 0x3FU);
    codes.push_back(code);
  }
  return codes;
}

std::string string_bytes(const Tensor& tensor, std::size_t& width) {
  std::vector<std::vector<std::uint32_t>> texts;
  width = 1;
  for (const std::string& text : tensor.strings) width = std::max(width, texts.emplace_back(code_points(text)).size());
  std::string bytes;
  for (auto& codes : texts) {
    codes.resize(width, 0);
    bytes.append(reinterpret_cast<const char*>(codes.data()), width * 4);
  }
  return bytes;
}

std::string widened_bf16(const Tensor& tensor) {
  std::string bytes(static_cast<std::size_t>(tensor.size()) * 4, '\0');
  const auto* halves = reinterpret_cast<const unsigned char*>(tensor.data.data());
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.size()); ++i) {
    bytes[4 * i + 2] = static_cast<char>(halves[2 * i]);
    bytes[4 * i + 3] = static_cast<char>(halves[2 * i + 1]);
  }
  return bytes;
}

std::string header_of(const std::string& descr, const Extents& extents) {
  std::string shape;
  for (const std::int64_t extent : extents) shape += std::to_string(extent) + ", ";
  if (extents.size() > 1)
    shape.resize(shape.size() - 2);
  else if (extents.size() == 1)
    shape.resize(shape.size() - 1);
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  const bool is_long = text.size() + 80 > 65535;
  const std::size_t before = is_long ? 12 : 10;
  text.append(63 - (before + text.size()) % 64, ' ');
  text += '\n';
  std::string header(kMagic);
  header += is_long ? '\2' : '\1';
  header += '\0';
  for (std::size_t i = 0; i < before - 8; ++i) header += static_cast<char>(text.size() >> (8 * i) & 0xFF);
  return header + text;
}

}  // namespace

Result<Tensor> read_npy(const std::string& path) {
  auto file = read_model_file(path);
  if (!file) {
    Error error = std::move(file).error();
    error.code = error.code == "import/not-found" ? "tensor/not-found" : "tensor/cannot-read";
    error.allowed = "a .npy file";
    return std::unexpected(std::move(error));
  }
  COLLAGE_TRY(const Header header, read_header(path, file->bytes));
  const std::string_view data = std::string_view(file->bytes).substr(header.data_at);
  if (header.descr.starts_with("<U")) return read_strings(path, header, data);
  const auto type = type_of(header.descr);
  if (!type)
    return unsupported(path, "element type '" + header.descr + "'", "little-endian numbers, bool and 'U' strings");
  Tensor tensor{.type = *type, .extents = header.extents, .data = {}, .strings = {}};
  const auto bytes = checked_byte_count(*type, tensor.extents);
  if (!bytes || *bytes != data.size())
    return malformed(path, std::to_string(data.size()) + " bytes of data for " + to_string(tensor.value_type()));
  if (!header.fortran_order) {
    tensor.data = Buffer::copy_of(std::as_bytes(std::span(data)));
    return tensor;
  }
  const std::size_t size = static_cast<std::size_t>(bits_of(*type)) / 8;
  const auto order = file_order(header, *bytes / size);
  tensor.data = Buffer::make(*bytes, [&](std::span<std::byte> out) {
    for (std::size_t i = 0; i < order.size(); ++i)
      std::memcpy(out.data() + i * size, data.data() + order[i] * size, size);
  });
  return tensor;
}

Result<void> write_npy(const std::string& path, const Tensor& tensor) {
  std::string descr;
  std::string converted;
  std::string_view data = tensor.data.text();
  if (const auto known = std::ranges::find(kDescrs, tensor.type, &DescrName::type); known != kDescrs.end()) {
    descr = known->descr;
  } else if (tensor.type == ElementType::kBfloat16) {
    descr = "<f4";
    data = converted = widened_bf16(tensor);
  } else if (tensor.type == ElementType::kString) {
    std::size_t width = 0;
    data = converted = string_bytes(tensor, width);
    descr = "<U" + std::to_string(width);
  } else {
    return unsupported(path, "elements of type " + std::string(name_of(tensor.type)), "types that NumPy has");
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::string header = header_of(descr, tensor.extents);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  file.write(data.data(), static_cast<std::streamsize>(data.size()));
  file.close();
  if (!file) return fail(ExitCode::kIo, "tensor/cannot-write", path, std::strerror(errno), "a writable place");
  return {};
}

}  // namespace collage
