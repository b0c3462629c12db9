#include "ir/text_attributes.h"

namespace collage {
namespace {

std::optional<AttributeValue> empty_list(std::string_view word) {
  if (word == "floats") return AttributeValue(std::vector<float>{});
  if (word == "ints") return AttributeValue(std::vector<std::int64_t>{});
  if (word == "strings") return AttributeValue(std::vector<std::string>{});
  if (word == "tensors") return AttributeValue(std::vector<Tensor>{});
  if (word == "graphs") return AttributeValue(std::vector<Body>{});
  return std::nullopt;
}

class AttributeParser {
 public:
  AttributeParser(Scanner& scanner, const AttributeSources& sources) : scanner_(scanner), sources_(sources) {}

  Result<std::vector<Attribute>> read() {
    std::vector<Attribute> attributes;
    do {
      Attribute attribute;
      COLLAGE_TRY(attribute.name, scanner_.name());
      COLLAGE_TRY_VOID(scanner_.expect("="));
      if (scanner_.take("[")) {
        COLLAGE_TRY(attribute.value, read_list());
      } else {
        COLLAGE_TRY(attribute.value, read_scalar());
      }
      attributes.push_back(std::move(attribute));
    } while (scanner_.take(","));
    COLLAGE_TRY_VOID(scanner_.expect("}"));
    return attributes;
  }

 private:
  Result<AttributeValue> read_scalar() {
    if (scanner_.peek() == '"') {
      COLLAGE_TRY(std::string text, scanner_.string());
      return AttributeValue(std::move(text));
    }
    const std::string word(scanner_.peek_word());
    if (word == "graph") {
      COLLAGE_TRY(Body body, sources_.read_body());
      return AttributeValue(std::move(body));
    }
    if (auto empty = empty_list(word)) {
      scanner_.take_word(word);
      COLLAGE_TRY_VOID(scanner_.expect("["));
      COLLAGE_TRY_VOID(scanner_.expect("]"));
      return std::move(*empty);
    }
    if (element_type_of(word)) {
      COLLAGE_TRY(Tensor tensor, scanner_.tensor(sources_.constants));
      return AttributeValue(std::move(tensor));
    }
    COLLAGE_TRY(const auto number, scanner_.number());
    return std::visit([](auto value) { return AttributeValue(value); }, number);
  }

  /// "a, b]": at least one element, all of the first one's type.
  Result<AttributeValue> read_list() {
    COLLAGE_TRY(AttributeValue first, read_scalar());
    if (auto* value = std::get_if<float>(&first)) return read_rest(*value);
    if (auto* value = std::get_if<std::int64_t>(&first)) return read_rest(*value);
    if (auto* value = std::get_if<std::string>(&first)) return read_rest(std::move(*value));
    if (auto* value = std::get_if<Tensor>(&first)) return read_rest(std::move(*value));
    if (auto* value = std::get_if<Body>(&first)) return read_rest(std::move(*value));
    return scanner_.wrong("a list of numbers, strings, tensors or graphs before this");
  }

  template <class T>
  Result<AttributeValue> read_rest(T first) {
    std::vector<T> values;
    values.push_back(std::move(first));
    while (scanner_.take(",")) {
      COLLAGE_TRY(AttributeValue next, read_scalar());
      T* value = std::get_if<T>(&next);
      if (value == nullptr) return scanner_.wrong("elements of one type before this");
      values.push_back(std::move(*value));
    }
    COLLAGE_TRY_VOID(scanner_.expect("]"));
    return AttributeValue(std::move(values));
  }

  Scanner& scanner_;
  const AttributeSources& sources_;
};

}  // namespace

Result<std::vector<Attribute>> read_attributes(Scanner& scanner, const AttributeSources& sources) {
  return AttributeParser(scanner, sources).read();
}

}  // namespace collage
