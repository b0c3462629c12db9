// In: text that may be malformed in any way. Out: names, types, numbers, tensors, or error ir/parse with line and
// column.
#include "ir/text_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "base/narrow_float.h"
#include "base/number_text.h"
#include "ir/text_names.h"

namespace collage {
namespace {

constexpr std::size_t kShownCharacters = 24;

template <class T>
void append_bytes(std::string& bytes, T value) {
  const auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
  bytes.append(raw.data(), raw.size());
}

template <class T>
bool append_integer(std::string& bytes, std::int64_t value) {
  if (!std::in_range<T>(value)) return false;
  append_bytes(bytes, static_cast<T>(value));
  return true;
}

bool append_integer(ElementType type, std::string& bytes, std::int64_t value) {
  switch (type) {
    case ElementType::kBool:
      return value <= 1 && append_integer<std::uint8_t>(bytes, value);
    case ElementType::kUint8:
      return append_integer<std::uint8_t>(bytes, value);
    case ElementType::kInt8:
      return append_integer<std::int8_t>(bytes, value);
    case ElementType::kUint16:
      return append_integer<std::uint16_t>(bytes, value);
    case ElementType::kInt16:
      return append_integer<std::int16_t>(bytes, value);
    case ElementType::kUint32:
      return append_integer<std::uint32_t>(bytes, value);
    case ElementType::kInt32:
      return append_integer<std::int32_t>(bytes, value);
    case ElementType::kUint64:
      return append_integer<std::uint64_t>(bytes, value);
    case ElementType::kInt64:
      return append_integer<std::int64_t>(bytes, value);
    default:
      return false;
  }
}

bool is_hex_digit(char c) { return hex_value(c) >= 0; }

Buffer buffer_of(const std::string& bytes) { return Buffer::copy_of(std::as_bytes(std::span(bytes))); }

/// A tensor type with known extents, of any element type; the symbols of its dimensions mean nothing here.
bool has_extents(const ValueType& type) {
  return type.kind == ValueKind::kTensor && type.shape &&
         std::all_of(type.shape->begin(), type.shape->end(), [](const Dim& dim) { return dim.is_static(); });
}

std::string_view front_run(std::string_view text, bool (*belongs)(char)) {
  const auto end = std::find_if_not(text.begin(), text.end(), belongs);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

}  // namespace

void Scanner::skip_space() {
  rest_.remove_prefix(front_run(rest_, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }).size());
}

bool Scanner::take(std::string_view characters) {
  skip_space();
  if (!rest_.starts_with(characters)) return false;
  rest_.remove_prefix(characters.size());
  return true;
}

bool Scanner::take_word(std::string_view word) {
  if (peek_word() != word) return false;
  rest_.remove_prefix(word.size());
  return true;
}

Result<void> Scanner::expect(std::string_view characters) {
  if (take(characters)) return {};
  return wrong("'" + std::string(characters) + "'");
}

bool Scanner::at_end() {
  skip_space();
  return rest_.empty();
}

char Scanner::peek() {
  skip_space();
  return rest_.empty() ? '\0' : rest_.front();
}

std::string_view Scanner::peek_word() {
  skip_space();
  return front_run(rest_, is_name_char);
}

Result<std::string> Scanner::name() {
  if (peek() == '"') return string();
  const std::string_view word = peek_word();
  if (word.empty()) return wrong("a name");
  rest_.remove_prefix(word.size());
  return std::string(word);
}

Result<std::string> Scanner::string() {
  skip_space();
  auto text = read_quoted(rest_);
  if (!text) return wrong("a quoted string");
  return std::move(*text);
}

Result<ValueType> Scanner::type() {
  skip_space();
  auto type = read_value_type(rest_);
  if (!type) return wrong("a type such as f32[1,3,N]");
  return std::move(*type);
}

std::string_view Scanner::number_text() {
  skip_space();
  return front_run(rest_, [](char c) { return is_name_char(c) || c == '+'; });
}

Result<std::variant<float, std::int64_t>> Scanner::number() {
  const std::string_view text = number_text();
  if (const auto integer = number_in<std::int64_t>(text)) {
    rest_.remove_prefix(text.size());
    return *integer;
  }
  const bool is_whole = text.find_first_not_of("-0123456789") == std::string_view::npos;
  if (const auto value = number_in<float>(text); value && !is_whole) {
    rest_.remove_prefix(text.size());
    return *value;
  }
  return wrong(is_whole && !text.empty() ? "an integer of 64 bits" : "a number");
}

Result<std::int64_t> Scanner::integer() {
  const std::string_view text = number_text();
  const auto value = number_in<std::int64_t>(text);
  if (!value) return wrong("an integer of 64 bits");
  rest_.remove_prefix(text.size());
  return *value;
}

Result<Tensor> Scanner::tensor(const std::map<std::string, Tensor>& constants) {
  COLLAGE_TRY(const ValueType type, this->type());
  if (!has_extents(type)) return wrong("a tensor type with known extents before this");
  if (take("#")) return hashed_tensor(type.element, type.extents(), constants);
  if (take("x")) return hex_tensor(type.element, type.extents());
  if (take("{")) return listed_tensor(type.element, type.extents());
  return wrong("{ELEMENTS}, xBYTES or #HASH");
}

Result<Tensor> Scanner::hashed_tensor(ElementType type, const Extents& extents,
                                      const std::map<std::string, Tensor>& constants) {
  const std::string hash(front_run(rest_, is_hex_digit));
  const auto found = constants.find(hash);
  if (found == constants.end()) return wrong("the hash of a constant that was given");
  if (found->second.type != type || found->second.extents != extents)
    return wrong("the hash of a constant of this type");
  rest_.remove_prefix(hash.size());
  return found->second;
}

Result<Tensor> Scanner::hex_tensor(ElementType type, Extents extents) {
  const std::string_view digits = front_run(rest_, is_hex_digit);
  if (digits.size() % 2 != 0 || digits.size() / 2 != byte_count(type, extents))
    return wrong(std::to_string(byte_count(type, extents)) + " bytes in hexadecimal");
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(hex_value(digits[i]) * 16 + hex_value(digits[i + 1]));
  rest_.remove_prefix(digits.size());
  return Tensor{.type = type, .extents = std::move(extents), .data = buffer_of(bytes), .strings = {}};
}

Result<Tensor> Scanner::listed_tensor(ElementType type, Extents extents) {
  std::string bytes;
  std::vector<std::string> strings;
  std::int64_t count = 0;
  if (peek() != '}') {
    do {
      if (type == ElementType::kString) {
        COLLAGE_TRY(std::string element, string());
        strings.push_back(std::move(element));
      } else {
        COLLAGE_TRY_VOID(append_element(type, bytes));
      }
      ++count;
    } while (take(","));
  }
  if (count != element_count(extents)) return wrong(std::to_string(element_count(extents)) + " elements");
  if (!take("}")) return wrong("',' or '}'");
  Buffer data = type == ElementType::kString ? Buffer{} : buffer_of(bytes);
  return Tensor{.type = type, .extents = std::move(extents), .data = std::move(data), .strings = std::move(strings)};
}

Result<void> Scanner::append_element(ElementType type, std::string& bytes) {
  const std::string_view text = number_text();
  if (type == ElementType::kFloat64) {
    const auto value = number_in<double>(text);
    if (!value) return wrong("a float");
    append_bytes(bytes, *value);
  } else if (is_float(type)) {
    const auto value = number_in<float>(text);
    const bool is_known =
        type == ElementType::kFloat32 || type == ElementType::kFloat16 || type == ElementType::kBfloat16;
    if (!value || !is_known) return wrong(is_known ? "a float" : "bytes in hexadecimal for this type");
    if (type == ElementType::kFloat32) append_bytes(bytes, *value);
    if (type == ElementType::kFloat16) append_bytes(bytes, to_half(static_cast<float>(*value)));
    if (type == ElementType::kBfloat16) append_bytes(bytes, to_bfloat(static_cast<float>(*value)));
  } else {
    const auto value = number_in<std::int64_t>(text);
    if (!value || !append_integer(type, bytes, *value)) return wrong("an integer of " + std::string(name_of(type)));
  }
  rest_.remove_prefix(text.size());
  return {};
}

std::unexpected<Error> Scanner::wrong(std::string allowed) {
  skip_space();
  const std::string_view read = whole_.substr(0, whole_.size() - rest_.size());
  const auto line = std::count(read.begin(), read.end(), '\n') + 1;
  const std::size_t line_start = read.rfind('\n') + 1;  // npos + 1 is 0: the first line
  const std::string saw = rest_.empty() ? "the end of the text" : quoted(rest_.substr(0, kShownCharacters));
  return fail(ExitCode::kBadInput, "ir/parse",
              "line " + std::to_string(line) + ", column " + std::to_string(read.size() - line_start + 1), saw,
              std::move(allowed));
}

}  // namespace collage
