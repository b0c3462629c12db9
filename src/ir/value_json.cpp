#include "ir/value_json.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/narrow_float.h"
#include "base/number_text.h"
#include "base/shorten.h"
#include "base/utf8.h"

namespace collage {
namespace {

/// Dimensions of a tensor in JSON.
constexpr std::size_t kMostDimensions = 64;

bool has_json_elements(ElementType type) {
  return type == ElementType::kString || type == ElementType::kBool ||
         ((is_float(type) || is_integer(type)) && bits_of(type) >= (is_float(type) ? 16 : 8));
}

std::unexpected<Error> unsupported(const std::string& where, ElementType type) {
  return fail(ExitCode::kBadInput, "tensor/unsupported-type", where, std::string(name_of(type)),
              "text, bool, integers and floats in JSON; .npy or .pb files for others");
}

/// Lists and objects may be nested so deeply that writing them takes all of the stack.
std::string shown(const Json& json) {
  if (json.is_structured()) return json.is_array() ? "a list" : "an object";
  return shortened(json.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

/// Reads the elements of one tensor in row-major order.
class TensorReader {
 public:
  TensorReader(const ValueType& type, std::string where) : type_(type), where_(std::move(where)) {}

  Result<Tensor> read(const Json& json) {
    measure(json);
    if (type_.shape && type_.shape->size() != tensor_.extents.size()) {
      // Of empty lists the inner extents are not to be seen.
      if (tensor_.size() != 0 || tensor_.extents.size() > type_.shape->size())
        return wrong(where_, fmt::format("lists {} deep", tensor_.extents.size()),
                     fmt::format("{} deep, for {}", type_.shape->size(), to_string(type_)));
      for (std::size_t d = tensor_.extents.size(); d < type_.shape->size(); ++d)
        tensor_.extents.push_back(std::max<std::int64_t>((*type_.shape)[d].extent, 0));
    }
    COLLAGE_TRY_VOID(add(json, 0, where_ + ", "));
    tensor_.type = element_;
    tensor_.data = Buffer::copy_of(std::as_bytes(std::span(bytes_)));
    return std::move(tensor_);
  }

 private:
  static std::unexpected<Error> wrong(const std::string& where, std::string saw, std::string allowed) {
    return fail(ExitCode::kBadInput, "tensor/malformed", where, std::move(saw), std::move(allowed));
  }

  /// The extents along the first elements, and the element type where none is asked for.
  void measure(const Json& json) {
    const Json* at = &json;
    while (at->is_array() && tensor_.extents.size() < kMostDimensions) {
      tensor_.extents.push_back(static_cast<std::int64_t>(at->size()));
      if (at->empty()) break;
      at = &at->front();
    }
    element_ = type_.kind == ValueKind::kTensor ? type_.element
               : at->is_string()                ? ElementType::kString
                                                : ElementType::kFloat64;
  }

  Result<void> add(const Json& json, std::size_t depth, const std::string& where) {
    if (depth == tensor_.extents.size() || (json.is_array() && json.empty() && tensor_.size() == 0)) {
      if (json.is_array() && json.empty()) return {};
      return element_ == ElementType::kString ? add_text(json, where) : add_number(json, where);
    }
    const auto length = static_cast<std::size_t>(tensor_.extents[depth]);
    if (!json.is_array() || json.size() != length)
      return wrong(where, json.is_array() ? fmt::format("a list of {}", json.size()) : shown(json),
                   fmt::format("a list of {}, as beside it", length));
    for (std::size_t i = 0; i < length; ++i) COLLAGE_TRY_VOID(add(json[i], depth + 1, fmt::format("{}[{}]", where, i)));
    return {};
  }

  Result<void> add_text(const Json& json, const std::string& where) {
    if (!json.is_string()) return wrong(where, shown(json), "text");
    tensor_.strings.push_back(json.get<std::string>());
    return {};
  }

  template <class T>
  void append(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  Result<void> add_number(const Json& json, const std::string& where) {
    if (is_float(element_)) return add_float(json, where);
    if (element_ == ElementType::kBool) {
      if (!json.is_boolean()) return wrong(where, shown(json), "true or false");
      append<std::uint8_t>(json.get<bool>() ? 1 : 0);
      return {};
    }
    switch (element_) {
      case ElementType::kInt8:
        return add_integer<std::int8_t>(json, where);
      case ElementType::kUint8:
        return add_integer<std::uint8_t>(json, where);
      case ElementType::kInt16:
        return add_integer<std::int16_t>(json, where);
      case ElementType::kUint16:
        return add_integer<std::uint16_t>(json, where);
      case ElementType::kInt32:
        return add_integer<std::int32_t>(json, where);
      case ElementType::kUint32:
        return add_integer<std::uint32_t>(json, where);
      case ElementType::kInt64:
        return add_integer<std::int64_t>(json, where);
      default:
        return add_integer<std::uint64_t>(json, where);
    }
  }

  template <class T>
  Result<void> add_integer(const Json& json, const std::string& where) {
    const auto put = [&](auto number) {
      if (std::in_range<T>(number)) append(static_cast<T>(number));
      return std::in_range<T>(number);
    };
    const bool fits = json.is_number_unsigned()  ? put(json.get<std::uint64_t>())
                      : json.is_number_integer() ? put(json.get<std::int64_t>())
                                                 : false;
    return fits ? Result<void>() : wrong(where, shown(json), "an integer of " + std::string(name_of(element_)));
  }

  Result<void> add_float(const Json& json, const std::string& where) {
    std::optional<double> number;
    if (json.is_number()) number = json.get<double>();
    if (json == "nan") number = std::numeric_limits<double>::quiet_NaN();
    if (json == "inf") number = std::numeric_limits<double>::infinity();
    if (json == "-inf") number = -std::numeric_limits<double>::infinity();
    if (!number) return wrong(where, shown(json), "a number, \"nan\", \"inf\" or \"-inf\"");
    if (element_ == ElementType::kFloat64) append(*number);
    const auto single = static_cast<float>(*number);
    if (element_ == ElementType::kFloat32) append(single);
    if (element_ == ElementType::kFloat16) append(to_half(single));
    if (element_ == ElementType::kBfloat16) append(to_bfloat(single));
    return {};
  }

  const ValueType& type_;
  std::string where_;
  ElementType element_ = ElementType::kUndefined;
  Tensor tensor_;
  std::string bytes_;
};

Result<Tensor> read_map(const Json& json, const ValueType& type, const std::string& where) {
  const auto wrong = [&](std::string saw, std::string allowed) {
    return fail(ExitCode::kBadInput, "tensor/malformed", where, std::move(saw), std::move(allowed));
  };
  if (!json.is_object()) return wrong(shown(json), "an object, for " + to_string(type));
  const bool is_text = type.element == ElementType::kString;
  if (!is_text && type.element != ElementType::kInt64) return unsupported(where, type.element);
  std::vector<std::string> words;
  std::vector<std::int64_t> numbers;
  Json values = Json::array();
  for (const auto& [key, value] : json.items()) {
    const auto number = number_in<std::int64_t>(key);
    if (!is_text && !number) return wrong("key '" + key + "'", "whole numbers as keys");
    is_text ? words.push_back(key) : numbers.push_back(*number);
    values.push_back(value);
  }
  const Extents extents = {static_cast<std::int64_t>(json.size())};
  Tensor keys = make_tensor(ElementType::kInt64, extents, numbers);
  if (is_text) keys = {.type = ElementType::kString, .extents = extents, .strings = std::move(words)};
  ValueType of_values = type.inner.front();
  of_values.shape = Shape(1);
  COLLAGE_TRY(Tensor read, value_from_json(values, of_values, where));
  return make_container(type, {std::move(keys), std::move(read)});
}

/// Element `i` of a tensor.
Json element_json(const Tensor& tensor, std::size_t i, const std::optional<std::vector<double>>& floats,
                  const std::optional<std::vector<std::int64_t>>& integers) {
  if (tensor.type == ElementType::kString) return tensor.strings[i];
  if (tensor.type == ElementType::kBool) return (*integers)[i] != 0;
  if (tensor.type == ElementType::kUint64) return tensor.data.as<std::uint64_t>()[i];
  if (integers) return (*integers)[i];
  const double number = (*floats)[i];
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

Json nested(const Extents& extents, std::size_t depth, std::size_t& next, const auto& element) {
  if (depth == extents.size()) return element(next++);
  Json list = Json::array();
  for (std::int64_t i = 0; i < extents[depth]; ++i) list.push_back(nested(extents, depth + 1, next, element));
  return list;
}

Result<Json> tensor_json(const Tensor& tensor, const std::string& where) {
  if (!has_json_elements(tensor.type)) return unsupported(where, tensor.type);
  for (std::size_t i = 0; i < tensor.strings.size(); ++i)
    if (!is_utf8(tensor.strings[i]))
      return fail(ExitCode::kUnsupported, "tensor/not-utf8", fmt::format("{}, string {}", where, i),
                  "bytes that are no text", "text in UTF-8");
  const auto floats = floats_of(tensor);
  const auto integers = integers_of(tensor);
  std::size_t next = 0;
  return nested(tensor.extents, 0, next, [&](std::size_t i) { return element_json(tensor, i, floats, integers); });
}

Result<Json> map_json(const Tensor& value, const std::string& where) {
  Json made = Json::object();
  if (value.items.size() != 2) return made;
  COLLAGE_TRY(const Json keys, tensor_json(value.items[0], where));
  COLLAGE_TRY(const Json values, tensor_json(value.items[1], where));
  for (std::size_t i = 0; i < keys.size() && i < values.size(); ++i)
    made[keys[i].is_string() ? keys[i].get<std::string>() : keys[i].dump()] = values[i];
  return made;
}

}  // namespace

Result<Tensor> value_from_json(const Json& json, const ValueType& type, const std::string& where) {
  switch (type.kind) {
    case ValueKind::kSequence: {
      if (!json.is_array())
        return fail(ExitCode::kBadInput, "tensor/malformed", where, shown(json), "a list, for " + to_string(type));
      Tensor made = make_container(type, {});
      for (std::size_t i = 0; i < json.size(); ++i) {
        COLLAGE_TRY(made.items.emplace_back(),
                    value_from_json(json[i], type.inner.front(), fmt::format("{}, item {}", where, i)));
      }
      return made;
    }
    case ValueKind::kOptional: {
      Tensor made = make_container(type, {});
      if (json.is_null()) return made;
      COLLAGE_TRY(made.items.emplace_back(), value_from_json(json, type.inner.front(), where));
      return made;
    }
    case ValueKind::kMap:
      return read_map(json, type, where);
    case ValueKind::kTensor:
      if (!has_json_elements(type.element)) return unsupported(where, type.element);
      break;
    case ValueKind::kUnknown:
      break;
  }
  return TensorReader(type, where).read(json);
}

Result<Json> value_to_json(const Tensor& value, const std::string& where) {
  const ValueType type = value.value_type();
  if (type.kind == ValueKind::kTensor) return tensor_json(value, where);
  if (type.kind == ValueKind::kMap) return map_json(value, where);
  if (type.kind == ValueKind::kOptional)
    return value.items.empty() ? Result<Json>(Json()) : value_to_json(value.items.front(), where);
  Json list = Json::array();
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    COLLAGE_TRY(Json item, value_to_json(value.items[i], fmt::format("{}, item {}", where, i)));
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace collage
