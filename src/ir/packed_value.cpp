#include "ir/packed_value.h"

#include "base/binary.h"

namespace collage {
namespace {

/// As deep as types nest (type_proto), and one more.
constexpr int kDeepestPacked = 10;

struct PackedValue {
  std::string type;
  std::string_view data;
  std::vector<std::string> strings;
  std::vector<std::string> items;  ///< packed likewise
};

auto members(PackedValue& of) { return std::tie(of.type, of.data, of.strings, of.items); }

std::optional<Tensor> unpack(std::string_view bytes, int depth) {
  const auto packed = from_binary<PackedValue>(bytes);
  if (!packed || depth > kDeepestPacked) return std::nullopt;
  const auto type = parse_value_type(packed->type);
  if (!type) return std::nullopt;
  if (type->kind != ValueKind::kTensor) {
    Tensor value = make_container(*type, {});
    for (const std::string& item : packed->items) {
      auto inner = unpack(item, depth + 1);
      if (!inner) return std::nullopt;
      value.items.push_back(*std::move(inner));
    }
    return value;
  }
  Tensor value{.type = type->element, .extents = type->extents(), .strings = packed->strings};
  const bool is_text = type->element == ElementType::kString;
  if (packed->data.size() != (is_text ? 0 : byte_count(value.type, value.extents)) ||
      packed->strings.size() != (is_text ? static_cast<std::size_t>(value.size()) : 0))
    return std::nullopt;
  value.data = Buffer::copy_of(std::as_bytes(std::span(packed->data)));
  return value;
}

}  // namespace

std::string pack_value(const Tensor& value) {
  PackedValue packed{.type = to_string(value.value_type()), .data = value.data.text(), .strings = value.strings};
  for (const Tensor& item : value.items) packed.items.push_back(pack_value(item));
  return to_binary(std::move(packed));
}

std::optional<Tensor> unpack_value(std::string_view bytes) { return unpack(bytes, 0); }

}  // namespace collage
