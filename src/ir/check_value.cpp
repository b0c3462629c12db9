#include "ir/check_value.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "ir/fits_shape.h"

namespace collage {
namespace {

class Checker {
 public:
  explicit Checker(const ValueLimits& limits) : bytes_left_(limits.most_bytes), items_left_(limits.most_items) {}

  Result<void> check(const std::string& where, const ValueType& type, const Tensor& value) {
    const ValueType seen = value.value_type();
    if (seen.kind != type.kind) return wrong("input/wrong-type", where, to_string(seen), to_string(type));
    switch (type.kind) {
      case ValueKind::kTensor:
        return check_tensor(where, type, value);
      case ValueKind::kSequence:
        return check_items(where, type, value);
      case ValueKind::kOptional:
        if (value.items.size() > 1)
          return wrong("input/malformed", where, fmt::format("{} values", value.items.size()), "one or none");
        return check_items(where, type, value);
      case ValueKind::kMap:
        return check_map(where, type, value);
      case ValueKind::kUnknown:
        break;
    }
    return wrong("input/wrong-type", where, to_string(seen), "a known type");
  }

 private:
  static std::unexpected<Error> wrong(std::string code, const std::string& where, std::string saw,
                                      std::string allowed) {
    return fail(ExitCode::kBadInput, std::move(code), where, std::move(saw), std::move(allowed));
  }

  Result<void> take(const std::string& where, std::size_t bytes, std::size_t items) {
    bytes_left_ -= static_cast<std::int64_t>(std::min<std::size_t>(bytes, std::size_t{1} << 48));
    items_left_ -= static_cast<std::int64_t>(items);
    if (bytes_left_ >= 0 && items_left_ >= 0) return {};
    return fail(ExitCode::kLimit, "input/too-large", where, bytes_left_ < 0 ? "too many bytes" : "too many items",
                "4 GiB in 16,000,000 strings and items of sequences");
  }

  Result<void> check_tensor(const std::string& where, const ValueType& type, const Tensor& value) {
    if (value.type != type.element)
      return wrong("input/wrong-type", where, to_string(value.value_type()), to_string(type));
    if (!fits_shape(type, value.extents) || !fits_shape({}, value.extents))
      return wrong("input/wrong-shape", where, to_string(value.value_type()), to_string(type));
    if (type.element != ElementType::kString) {
      const std::size_t bytes = byte_count(value.type, value.extents);
      if (value.data.size() != bytes)
        return wrong("input/malformed", where, fmt::format("{} bytes", value.data.size()), fmt::format("{}", bytes));
      return take(where, bytes, 0);
    }
    if (value.strings.size() != static_cast<std::size_t>(value.size()))
      return wrong("input/malformed", where, fmt::format("{} strings", value.strings.size()),
                   fmt::format("{}", value.size()));
    for (std::size_t i = 0; i < value.strings.size(); ++i) {
      COLLAGE_TRY_VOID(take(where, value.strings[i].size(), 1));
      if (!is_utf8(value.strings[i]))
        return wrong("input/not-utf8", fmt::format("{}, string {}", where, i), "bytes that are no text",
                     "text in UTF-8");
    }
    return {};
  }

  Result<void> check_items(const std::string& where, const ValueType& type, const Tensor& value) {
    COLLAGE_TRY_VOID(take(where, 0, value.items.size()));
    if (type.inner.size() != 1) return wrong("input/wrong-type", where, to_string(value.value_type()), "a known type");
    for (std::size_t i = 0; i < value.items.size(); ++i)
      COLLAGE_TRY_VOID(check(fmt::format("{}, item {}", where, i), type.inner.front(), value.items[i]));
    return {};
  }

  Result<void> check_map(const std::string& where, const ValueType& type, const Tensor& value) {
    if (value.items.size() != 2 || type.inner.size() != 1)
      return wrong("input/malformed", where, fmt::format("{} parts", value.items.size()), "keys and values");
    const Tensor& keys = value.items[0];
    ValueType of_keys{.kind = ValueKind::kTensor, .element = type.element, .shape = Shape(1)};
    COLLAGE_TRY_VOID(check(where + ", keys", of_keys, keys));
    ValueType of_values = type.inner.front();
    of_values.shape = Shape{Dim{.extent = keys.extents.front(), .symbol = {}}};
    return check(where + ", values", of_values, value.items[1]);
  }

  std::int64_t bytes_left_;
  std::int64_t items_left_;
};

}  // namespace

Result<void> check_value(const std::string& where, const ValueType& type, const Tensor& value,
                         const ValueLimits& limits) {
  return Checker(limits).check(where, type, value);
}

}  // namespace collage
