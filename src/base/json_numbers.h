// nlohmann's JSON, with integers that fit: reading a number that the type asked for cannot hold is an exception
// (Json::exception, as for a text), where the library would cut it to some other number, or convert a fraction out of
// range, which has no defined result. All sources include this header in place of the library's.
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

namespace nlohmann {

template <class T>
concept CountedInteger = std::same_as<T, signed char> || std::same_as<T, unsigned char> || std::same_as<T, short> ||
    std::same_as<T, unsigned short> || std::same_as<T, int> || std::same_as<T, unsigned> || std::same_as<T, long> ||
    std::same_as<T, unsigned long> || std::same_as<T, long long> || std::same_as<T, unsigned long long>;

template <CountedInteger T>
struct adl_serializer<T, void> {
  template <class Json>
  static void to_json(Json& json, T value) {
    ::nlohmann::to_json(json, value);
  }

  template <class Json>
  static void from_json(const Json& json, T& value) {
    if (!fits(json))
      throw detail::other_error::create(501,
                                        "a number that is not from " + std::to_string(std::numeric_limits<T>::min()) +
                                            " to " + std::to_string(std::numeric_limits<T>::max()),
                                        &json);
    ::nlohmann::from_json(json, value);
  }

 private:
  template <class Json>
  static bool fits(const Json& json) {
    using Unsigned = typename Json::number_unsigned_t;
    using Signed = typename Json::number_integer_t;
    using Float = typename Json::number_float_t;
    if (json.is_number_unsigned()) return std::in_range<T>(*json.template get_ptr<const Unsigned*>());
    if (json.is_number_integer()) return std::in_range<T>(*json.template get_ptr<const Signed*>());
    if (!json.is_number_float()) return true;  // what is no number the library refuses
    const Float number = *json.template get_ptr<const Float*>();
    // The type's largest number may be none of Float's; the next power of two is.
    const Float end = 2 * (static_cast<Float>(std::numeric_limits<T>::max() / 2) + 1);
    return number >= static_cast<Float>(std::numeric_limits<T>::min()) && number < end;
  }
};

}  // namespace nlohmann
