#include "tests/backends/native/random_regions/region_writer.h"

#include <algorithm>

namespace collage::test {
namespace {

Extents broadcast(const Extents& a, const Extents& b) {
  Extents out(std::max(a.size(), b.size()), 1);
  for (const Extents* one : {&a, &b})
    for (std::size_t i = 0; i < one->size(); ++i) {
      std::int64_t& extent = out[out.size() - one->size() + i];
      extent = std::max(extent, (*one)[i]);
    }
  return out;
}

std::string type_text(const Made& value) { return '%' + value.name + ": " + value.element + list(value.extents); }

}  // namespace

std::string list(const Extents& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(numbers[i]);
  return text + "]";
}

Extents RegionWriter::some_extents(std::size_t rank, std::int64_t most) {
  Extents extents(rank);
  for (std::int64_t& extent : extents) extent = dice_.one_in(8) ? 1 : from(1, most);
  return extents;
}

Extents RegionWriter::narrowed(const Extents& extents) {
  Extents out = extents;
  if (dice_.one_in(2)) return out;
  for (std::int64_t& extent : out)
    if (dice_.one_in(3)) extent = 1;
  if (dice_.one_in(2)) out.erase(out.begin(), out.begin() + from(0, static_cast<std::int64_t>(out.size())));
  return out;
}

Made RegionWriter::port(const std::string& prefix, const std::string& element, const Extents& extents) {
  Made made{.name = prefix + std::to_string(count_++), .element = element, .extents = extents};
  ports_ += (ports_.empty() ? "" : ", ") + type_text(made);
  return made;
}

std::string RegionWriter::constant(const std::string& element, const std::string& number) {
  const std::string name = "c" + std::to_string(count_++);
  constants_ += "  constant %" + name + " = " + element + "[]{" + number + "}\n";
  return name;
}

Made RegionWriter::node(const std::string& op, const std::vector<std::string>& inputs, const Extents& extents,
                        const std::string& attributes, const std::string& element) {
  Made made{.name = "v" + std::to_string(count_++), .element = element, .extents = extents};
  nodes_ += "  " + type_text(made) + " = " + op + "(";
  for (std::size_t i = 0; i < inputs.size(); ++i) nodes_ += (i > 0 ? ", %" : "%") + inputs[i];
  nodes_ += ")" + (attributes.empty() ? "" : " {" + attributes + "}") + "\n";
  return made;
}

Made RegionWriter::unary(const Made& x) {
  static const std::vector<std::string> kOperators = {
      "Relu", "LeakyRelu", "Elu",  "Selu", "Celu", "Sigmoid",  "HardSigmoid", "HardSwish", "Tanh", "Abs",
      "Neg",  "Softplus",  "Mish", "Gelu", "Erf",  "Softsign", "Sin",         "Cos",       "Atan", "Identity"};
  if (dice_.one_in(8)) return node("Clip", {x.name, scalar("-0.75"), scalar("0.5")}, x.extents);
  if (dice_.one_in(8)) {
    // Away from zero, where a small difference of the operand is a large one of the result.
    const Made size = node("Abs", {x.name}, x.extents);
    return node(dice_.one_in(2) ? "Sqrt" : "Reciprocal", {node("Add", {size.name, scalar("0.5")}, x.extents).name},
                x.extents);
  }
  const std::string& op = dice_.pick(kOperators);
  // Of a large operand a small share is a large part of the period.
  const bool is_periodic = op == "Sin" || op == "Cos";
  return node(op, {is_periodic ? node("Tanh", {x.name}, x.extents).name : x.name}, x.extents);
}

Made RegionWriter::binary(const Made& x, const Made& y) {
  static const std::vector<std::string> kOperators = {"Add", "Add", "Sub", "Mul", "Mul", "Max", "Min", "Sum", "Mean"};
  const Extents extents = broadcast(x.extents, y.extents);
  const bool flips = dice_.one_in(2);
  return node(dice_.pick(kOperators), {flips ? y.name : x.name, flips ? x.name : y.name}, extents);
}

Made RegionWriter::mask(const Extents& extents) {
  static const std::vector<std::string> kComparisons = {"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"};
  if (dice_.one_in(2)) return input(extents, "bool");
  const std::string element = dice_.one_in(2) ? "i32" : "f32";
  const Made a = input(narrowed(extents), element);
  const Made b = input(extents, element);
  Made made = node(dice_.pick(kComparisons), {a.name, b.name}, extents, "", "bool");
  if (dice_.one_in(2)) made = node("Not", {made.name}, extents, "", "bool");
  if (dice_.one_in(3)) made = node("And", {made.name, input(extents, "bool").name}, extents, "", "bool");
  return made;
}

Made RegionWriter::integers(const Extents& extents) {
  static const std::vector<std::string> kTypes = {"i32", "i64", "u8", "i8"};
  static const std::vector<std::string> kOperators = {"Add", "Mul", "Max", "Min"};
  const std::string element = dice_.pick(kTypes);
  Made made = input(extents, element);
  // The reference engine has arithmetic on the wide types only.
  if (element.size() == 3)
    made = node(dice_.pick(kOperators), {made.name, input(narrowed(extents), element).name}, extents, "", element);
  return node("Cast", {made.name}, extents, "to=1");
}

Made RegionWriter::chosen(const Extents& within, const Made& a, const Made& b) {
  return node("Where", {mask(within).name, a.name, b.name}, broadcast(within, broadcast(a.extents, b.extents)));
}

Made RegionWriter::epilogue(Made value) {
  const Extents extents = value.extents;
  std::vector<Made> known = {value};
  const std::int64_t nodes = from(0, 4);
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::size_t form = dice_.below(6);
    if (form <= 1) {
      value = unary(value);
    } else if (form == 2) {
      value = binary(value, input(extents));
    } else if (form == 3) {
      value = binary(value, dice_.one_in(2) ? weight(narrowed(extents)) : input(narrowed(extents)));
    } else if (form == 4 && extents.size() >= 3) {
      Extents channels(extents.size() - 1, 1);
      channels[0] = extents[1];
      value = binary(value, weight(channels));
    } else {
      value = dice_.one_in(2) ? binary(value, dice_.pick(known)) : chosen(extents, value, dice_.pick(known));
    }
    known.push_back(value);
  }
  return value;
}

Made RegionWriter::prologue(Made value) {
  for (std::int64_t i = from(0, 2); i > 0; --i)
    value = dice_.one_in(2) ? unary(value) : binary(value, input(narrowed(value.extents)));
  return value;
}

std::string RegionWriter::text(const std::vector<Made>& outputs) const {
  std::string out = "graph(" + ports_ + ") -> (";
  for (std::size_t i = 0; i < outputs.size(); ++i) out += (i > 0 ? ", %" : "%") + outputs[i].name;
  return out + ") {\n" + constants_ + nodes_ + "}";
}

std::int64_t RegionWriter::from(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(dice_.below(static_cast<std::size_t>(high - low + 1)));
}

}  // namespace collage::test
