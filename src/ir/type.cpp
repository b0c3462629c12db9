// Names, sizes and text form of value types.
// In: types as ONNX numbers them. Out: the short names used by every text form, message and key.
#include "ir/type.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/number_text.h"
#include "ir/text_names.h"

namespace collage {
namespace {

struct ElementFacts {
  ElementType type;
  std::string_view name;
  int bits;
};

constexpr std::array kElements = {
    ElementFacts{ElementType::kUndefined, "undef", 0},
    ElementFacts{ElementType::kFloat32, "f32", 32},
    ElementFacts{ElementType::kUint8, "u8", 8},
    ElementFacts{ElementType::kInt8, "i8", 8},
    ElementFacts{ElementType::kUint16, "u16", 16},
    ElementFacts{ElementType::kInt16, "i16", 16},
    ElementFacts{ElementType::kInt32, "i32", 32},
    ElementFacts{ElementType::kInt64, "i64", 64},
    ElementFacts{ElementType::kString, "str", 0},
    ElementFacts{ElementType::kBool, "bool", 8},
    ElementFacts{ElementType::kFloat16, "f16", 16},
    ElementFacts{ElementType::kFloat64, "f64", 64},
    ElementFacts{ElementType::kUint32, "u32", 32},
    ElementFacts{ElementType::kUint64, "u64", 64},
    ElementFacts{ElementType::kComplex64, "c64", 64},
    ElementFacts{ElementType::kComplex128, "c128", 128},
    ElementFacts{ElementType::kBfloat16, "bf16", 16},
    ElementFacts{ElementType::kFloat8E4M3Fn, "f8e4m3fn", 8},
    ElementFacts{ElementType::kFloat8E4M3Fnuz, "f8e4m3fnuz", 8},
    ElementFacts{ElementType::kFloat8E5M2, "f8e5m2", 8},
    ElementFacts{ElementType::kFloat8E5M2Fnuz, "f8e5m2fnuz", 8},
    ElementFacts{ElementType::kUint4, "u4", 4},
    ElementFacts{ElementType::kInt4, "i4", 4},
    ElementFacts{ElementType::kFloat4E2M1, "f4e2m1", 4},
    ElementFacts{ElementType::kFloat8E8M0, "f8e8m0", 8},
    ElementFacts{ElementType::kUint2, "u2", 2},
    ElementFacts{ElementType::kInt2, "i2", 2},
};

const ElementFacts& facts_of(ElementType type) {
  const auto index = static_cast<std::size_t>(type);
  return index < kElements.size() ? kElements[index] : kElements[0];
}

// Types nest only by hand (sequences of sequences); the limit keeps malformed text from exhausting the stack.
constexpr int kMaxNesting = 16;

/// Reads one type from the front of `text`, which keeps what follows.
class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : text_(text) {}

  std::optional<ValueType> read(int depth) {
    if (depth > kMaxNesting) return std::nullopt;
    if (take("?")) return ValueType{};
    if (take("seq(")) return read_wrapped(ValueKind::kSequence, depth);
    if (take("opt(")) return read_wrapped(ValueKind::kOptional, depth);
    if (take("map(")) return read_map(depth);
    return read_tensor();
  }

  [[nodiscard]] std::string_view rest() const { return text_; }

 private:
  bool take(std::string_view prefix) {
    if (!text_.starts_with(prefix)) return false;
    text_.remove_prefix(prefix.size());
    return true;
  }

  std::optional<ValueType> read_wrapped(ValueKind kind, int depth) {
    auto inner = read(depth + 1);
    if (!inner || !take(")")) return std::nullopt;
    ValueType type{.kind = kind, .element = {}, .shape = {}, .inner = {}};
    type.inner.push_back(std::move(*inner));
    return type;
  }

  std::optional<ValueType> read_map(int depth) {
    const std::size_t comma = text_.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    const auto key = element_type_of(text_.substr(0, comma));
    if (!key) return std::nullopt;
    text_.remove_prefix(comma + 1);
    auto type = read_wrapped(ValueKind::kMap, depth);
    if (type) type->element = *key;
    return type;
  }

  std::optional<ValueType> read_tensor() {
    const std::size_t bracket = text_.find('[');
    if (bracket == std::string_view::npos) return std::nullopt;
    const auto element = element_type_of(text_.substr(0, bracket));
    if (!element) return std::nullopt;
    text_.remove_prefix(bracket + 1);
    ValueType type{.kind = ValueKind::kTensor, .element = *element, .shape = {}, .inner = {}};
    if (take("*]")) return type;
    type.shape.emplace();
    if (take("]")) return type;
    do {
      auto dim = read_dim();
      if (!dim) return std::nullopt;
      type.shape->push_back(std::move(*dim));
    } while (take(","));
    if (!take("]")) return std::nullopt;
    return type;
  }

  std::optional<Dim> read_dim() {
    if (take("?")) return Dim{};
    Dim dim;
    if (auto extent = read_extent()) {
      dim.extent = *extent;
      return dim;
    }
    auto symbol = read_symbol(text_);
    if (!symbol || symbol->empty()) return std::nullopt;
    dim.symbol = std::move(*symbol);
    if (take("=")) {
      auto extent = read_extent();
      if (!extent) return std::nullopt;
      dim.extent = *extent;
    }
    return dim;
  }

  std::optional<std::int64_t> read_extent() {
    if (text_.empty() || text_.front() < '0' || text_.front() > '9') return std::nullopt;
    return take_number<std::int64_t>(text_);
  }

  std::string_view text_;
};

void append_dim(std::string& text, const Dim& dim) {
  if (!dim.symbol.empty()) {
    text += symbol_text(dim.symbol);
    if (dim.is_static()) text += '=';
  }
  if (dim.is_static()) text += std::to_string(dim.extent);
  if (dim.symbol.empty() && !dim.is_static()) text += '?';
}

}  // namespace

std::string_view name_of(ElementType type) { return facts_of(type).name; }

std::optional<ElementType> element_type_of(std::string_view name) {
  for (const ElementFacts& facts : kElements)
    if (facts.name == name) return facts.type;
  return std::nullopt;
}

int bits_of(ElementType type) { return facts_of(type).bits; }

bool is_float(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kFloat16:
    case ElementType::kFloat64:
    case ElementType::kBfloat16:
    case ElementType::kFloat8E4M3Fn:
    case ElementType::kFloat8E4M3Fnuz:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2Fnuz:
    case ElementType::kFloat4E2M1:
    case ElementType::kFloat8E8M0:
      return true;
    default:
      return false;
  }
}

bool is_integer(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
    case ElementType::kUint32:
    case ElementType::kUint64:
    case ElementType::kUint4:
    case ElementType::kInt4:
    case ElementType::kUint2:
    case ElementType::kInt2:
      return true;
    default:
      return false;
  }
}

bool is_16bit_float(ElementType type) { return type == ElementType::kFloat16 || type == ElementType::kBfloat16; }

ValueType ValueType::tensor(ElementType element, const Extents& extents) {
  ValueType type{.kind = ValueKind::kTensor, .element = element, .shape = Shape{}, .inner = {}};
  type.shape->reserve(extents.size());
  for (const std::int64_t extent : extents) type.shape->push_back(Dim{.extent = extent, .symbol = {}});
  return type;
}

bool ValueType::is_static() const {
  return kind == ValueKind::kTensor && shape && bits_of(element) > 0 &&
         std::all_of(shape->begin(), shape->end(), [](const Dim& dim) { return dim.is_static(); });
}

bool ValueType::is_open() const { return kind == ValueKind::kTensor && shape && bits_of(element) > 0 && !is_static(); }

bool ValueType::is_held() const {
  if (kind == ValueKind::kTensor) return element == ElementType::kString;
  if (kind == ValueKind::kUnknown || inner.size() != 1) return false;
  const ValueType& content = inner.front();
  return content.is_held() || (content.kind == ValueKind::kTensor && bits_of(content.element) > 0);
}

std::optional<Extents> ValueType::known_extents() const {
  if (kind != ValueKind::kTensor || !shape || bits_of(element) == 0) return std::nullopt;
  Extents extents;
  for (const Dim& dim : *shape) {
    extents.push_back(dim.is_static() ? dim.extent : dim.recorded);
    if (extents.back() < 0) return std::nullopt;
  }
  return extents;
}

Extents ValueType::extents() const {
  Extents extents;
  if (!shape) return extents;
  extents.reserve(shape->size());
  for (const Dim& dim : *shape) extents.push_back(dim.extent);
  return extents;
}

std::int64_t element_count(const Extents& extents) {
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent <= 0; })) return 0;
  std::int64_t count = 1;
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(count, extent, &count)) return std::numeric_limits<std::int64_t>::max();
  return count;
}

std::size_t byte_count(ElementType type, const Extents& extents) {
  const auto count = static_cast<std::size_t>(element_count(extents));
  const auto bits = static_cast<std::size_t>(bits_of(type));
  if (bits < 8) return count / 8 * bits + (count % 8 * bits + 7) / 8;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, bits / 8, &bytes)) return std::numeric_limits<std::size_t>::max();
  return bytes;
}

std::string to_string(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kUnknown:
      return "?";
    case ValueKind::kSequence:
    case ValueKind::kOptional:
    case ValueKind::kMap: {
      const std::string inner = type.inner.empty() ? "?" : to_string(type.inner.front());
      if (type.kind == ValueKind::kMap) return "map(" + std::string(name_of(type.element)) + "," + inner + ")";
      return (type.kind == ValueKind::kSequence ? "seq(" : "opt(") + inner + ")";
    }
    case ValueKind::kTensor:
      break;
  }
  std::string text(name_of(type.element));
  if (!type.shape) return text + "[*]";
  text += '[';
  for (std::size_t i = 0; i < type.shape->size(); ++i) {
    if (i > 0) text += ',';
    append_dim(text, (*type.shape)[i]);
  }
  return text + ']';
}

std::optional<ValueType> read_value_type(std::string_view& text) {
  TypeReader reader(text);
  auto type = reader.read(0);
  if (type) text = reader.rest();
  return type;
}

std::optional<ValueType> parse_value_type(std::string_view text) {
  auto type = read_value_type(text);
  if (!type || !text.empty()) return std::nullopt;
  return type;
}

}  // namespace collage
