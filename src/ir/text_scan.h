// The tokeniser for the text form of graphs, used by text_parse.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "ir/tensor.h"

namespace collage {

/// A position in a text, which only moves forward. All functions skip white space first.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : whole_(text), rest_(text) {}

  /// Takes these characters if they are next.
  bool take(std::string_view characters);
  /// Takes this word if it is next and not the beginning of a longer one.
  bool take_word(std::string_view word);
  /// Takes these characters, which must be next.
  Result<void> expect(std::string_view characters);
  /// True when only white space is left.
  [[nodiscard]] bool at_end();
  /// The next character, '\0' at the end.
  [[nodiscard]] char peek();
  /// The bare word that is next, possibly empty; takes nothing.
  [[nodiscard]] std::string_view peek_word();

  /// A bare or quoted name.
  Result<std::string> name();
  Result<std::string> string();
  Result<ValueType> type();
  /// A number with a point, an exponent, inf or nan is a float, any other an integer.
  Result<std::variant<float, std::int64_t>> number();
  Result<std::int64_t> integer();
  /// A tensor; contents given by hash come from `constants`.
  Result<Tensor> tensor(const std::map<std::string, Tensor>& constants);

  /// Error ir/parse at this position.
  [[nodiscard]] std::unexpected<Error> wrong(std::string allowed);

 private:
  void skip_space();
  [[nodiscard]] std::string_view number_text();
  Result<Tensor> listed_tensor(ElementType type, Extents extents);
  Result<Tensor> hex_tensor(ElementType type, Extents extents);
  Result<Tensor> hashed_tensor(ElementType type, const Extents& extents,
                               const std::map<std::string, Tensor>& constants);
  /// One number as the bytes of an element of `type`, appended to `bytes`.
  Result<void> append_element(ElementType type, std::string& bytes);

  std::string_view whole_;
  std::string_view rest_;
};

}  // namespace collage
