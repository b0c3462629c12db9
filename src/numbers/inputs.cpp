#include "numbers/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.h"
#include "base/narrow_float.h"
#include "base/random.h"
#include "base/suggest.h"
#include "ir/operand_conditions.h"
#include "numbers/held_inputs.h"

namespace collage {
namespace {

/// Writes `count` elements, each from `make`.
template <class T, class Make>
Buffer filled(std::size_t count, Make&& make) {
  return Buffer::make(count * sizeof(T), [&](std::span<std::byte> out) {
    for (std::size_t i = 0; i < count; ++i) {
      const T value = make();
      std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
}

using Range = std::optional<std::pair<double, double>>;

std::optional<Buffer> float_bytes(ElementType type, std::size_t count, const Range& range, Random& random) {
  const auto draw = [&] {
    return range ? range->first + (range->second - range->first) * random.uniform() : random.normal();
  };
  switch (type) {
    case ElementType::kFloat32:
      return filled<float>(count, [&] { return static_cast<float>(draw()); });
    case ElementType::kFloat64:
      return filled<double>(count, draw);
    case ElementType::kFloat16:
      return filled<std::uint16_t>(count, [&] { return to_half(static_cast<float>(draw())); });
    case ElementType::kBfloat16:
      return filled<std::uint16_t>(count, [&] { return to_bfloat(static_cast<float>(draw())); });
    case ElementType::kComplex64:
      return filled<float>(2 * count, [&] { return static_cast<float>(draw()); });
    case ElementType::kComplex128:
      return filled<double>(2 * count, draw);
    default:
      return std::nullopt;
  }
}

struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 1;  ///< included
};

/// The integers of [range] that the type holds; empty (low > high) when there are none.
IntegerRange integers_in(const std::pair<double, double>& range, int bits, bool is_signed) {
  const double least = is_signed ? -std::ldexp(1.0, bits - 1) : 0.0;
  // 2^53 is as far as a double given by the user tells integers apart.
  const double most = std::min(std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1.0, 0x1p53);
  const double low = std::ceil(std::max({range.first, least, -0x1p53}));
  const double high = std::floor(std::min(range.second, most));
  if (!(low <= high)) return {.low = 1, .high = 0};
  return {.low = static_cast<std::int64_t>(low), .high = static_cast<std::int64_t>(high)};
}

bool is_signed_type(ElementType type) {
  using enum ElementType;
  return type == kInt8 || type == kInt16 || type == kInt32 || type == kInt64 || type == kInt4 || type == kInt2;
}

Buffer packed_integers(std::size_t bytes, int bits, std::size_t count, const IntegerRange& range, Random& random) {
  return Buffer::make(bytes, [&](std::span<std::byte> out) {
    const auto per_byte = static_cast<std::size_t>(8 / bits);
    for (std::size_t i = 0; i < count; ++i) {
      const auto span = static_cast<std::uint64_t>(range.high - range.low) + 1;
      const auto value = static_cast<std::uint64_t>(range.low) + random.below(span);
      const auto field = static_cast<unsigned>(value & ((1U << bits) - 1U));
      out[i / per_byte] |= static_cast<std::byte>(field << ((i % per_byte) * static_cast<std::size_t>(bits)));
    }
  });
}

Buffer integer_bytes(ElementType type, std::size_t bytes, std::size_t count, const IntegerRange& range,
                     Random& random) {
  const auto span = static_cast<std::uint64_t>(range.high - range.low) + 1;
  const auto draw = [&] { return static_cast<std::uint64_t>(range.low) + random.below(span); };
  switch (bits_of(type)) {
    case 8:
      return filled<std::uint8_t>(count, [&] { return static_cast<std::uint8_t>(draw()); });
    case 16:
      return filled<std::uint16_t>(count, [&] { return static_cast<std::uint16_t>(draw()); });
    case 32:
      return filled<std::uint32_t>(count, [&] { return static_cast<std::uint32_t>(draw()); });
    case 64:
      return filled<std::uint64_t>(count, draw);
    default:
      return packed_integers(bytes, bits_of(type), count, range, random);
  }
}

/// Of the whole machine.
double memory_bytes() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// In floating point, because a user's extents may be too large for integers.
double estimated_bytes(const ValueType& type) {
  double bytes = bits_of(type.element) / 8.0;
  for (const std::int64_t extent : type.extents()) bytes *= static_cast<double>(extent);
  return bytes;
}

std::unexpected<Error> bad_range(const std::string& name, const Range& range) {
  return fail(ExitCode::kUsage, "input/bad-range", name,
              std::to_string(range->first) + ".." + std::to_string(range->second), "LOW..HIGH with values of its type");
}

/// Operators whose first output holds elements of the listed inputs, moved or cast.
bool passes_elements(const Node& node, std::size_t input) {
  static const std::set<std::string, std::less<>> kAny = {"Concat", "Min", "Max", "Where"};
  static const std::set<std::string, std::less<>> kFirst = {
      "Identity", "Cast", "CastLike", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Slice",
      "Expand",   "Tile", "Clip",     "Split",   "Gather",  "Reverse",   "Mod",     "Pad"};
  if (!node.domain.empty()) return false;
  return kAny.contains(node.op_type) || (input == 0 && kFirst.contains(node.op_type));
}

/// What the uses of a value ask of its integers.
struct Limit {
  std::optional<std::int64_t> below;  ///< exclusive
  bool is_positive = false;

  void join(const Limit& other) {
    if (other.below) below = below ? std::min(*below, *other.below) : *other.below;
    is_positive = is_positive || other.is_positive;
  }
};

/// What this node asks of a value; indices count from the front.
Limit limit_of(const Graph& graph, const Node& node, ValueId value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Limit limit;
  for (const OperandCondition& condition : operand_conditions(graph, node)) {
    if (condition.value != value) continue;
    limit.join({.below = {}, .is_positive = condition.rule == OperandRule::kNonZero});
    for (const OperandRange& range : condition.ranges)
      limit.join(
          {.below = range.high < kMost ? std::optional(range.high + 1) : std::nullopt, .is_positive = range.low > 0});
  }
  return limit;
}

Limit limit_in(const Graph& graph, ValueId value, std::set<std::pair<const Graph*, ValueId>>& seen);

/// The value under its own name inside the bodies of a node that captures it.
Limit limit_in_bodies(const Graph& graph, const Node& node, ValueId value,
                      std::set<std::pair<const Graph*, ValueId>>& seen) {
  Limit limit;
  const std::string& name = graph.value(value).name;
  const auto look = [&](const Body& body) {
    for (const ValueId capture : body.graph->captures)
      if (body.graph->value(capture).name == name) limit.join(limit_in(*body.graph, capture, seen));
  };
  for (const Attribute& attribute : node.attributes) {
    if (const auto* body = std::get_if<Body>(&attribute.value)) look(*body);
    if (const auto* bodies = std::get_if<std::vector<Body>>(&attribute.value))
      for (const Body& body : *bodies) look(body);
  }
  return limit;
}

/// `seen` bounds the walk: every value is followed once.
Limit limit_in(const Graph& graph, ValueId value, std::set<std::pair<const Graph*, ValueId>>& seen) {
  std::vector<ValueId> open = {value};
  Limit limit;
  while (!open.empty()) {
    const ValueId current = open.back();
    open.pop_back();
    if (!seen.emplace(&graph, current).second) continue;
    for (const Node& node : graph.nodes) {
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] != current) continue;
        limit.join(limit_of(graph, node, current));
        if (!passes_elements(node, i)) continue;
        for (const ValueId output : node.outputs)
          if (output.valid()) open.push_back(output);
      }
      if (std::ranges::find(node.captures, current) != node.captures.end())
        limit.join(limit_in_bodies(graph, node, current, seen));
    }
  }
  return limit;
}

}  // namespace

std::optional<std::int64_t> index_limit(const Graph& graph, ValueId value) {
  std::set<std::pair<const Graph*, ValueId>> seen;
  return limit_in(graph, value, seen).below;
}

bool must_be_positive(const Graph& graph, ValueId value) {
  std::set<std::pair<const Graph*, ValueId>> seen;
  return limit_in(graph, value, seen).is_positive;
}

Result<Tensor> make_input(const std::string& name, const ValueType& type, std::uint64_t seed, Range range,
                          std::optional<std::int64_t> limit) {
  if (!type.is_static())
    return fail(ExitCode::kBadInput, "input/unbound", name, to_string(type), "known extents: --shape " + name + "=...");
  if (estimated_bytes(type) > memory_bytes())
    return fail(ExitCode::kLimit, "input/too-large", name, to_string(type), "less than this machine's memory");
  Tensor tensor{.type = type.element, .extents = type.extents(), .data = {}, .strings = {}};
  const auto count = static_cast<std::size_t>(tensor.size());
  const std::size_t bytes = byte_count(type.element, tensor.extents);
  Random random(hash_text(name, seed));
  if (range && !(range->first <= range->second && std::isfinite(range->first) && std::isfinite(range->second)))
    return bad_range(name, range);
  if (const auto floats = float_bytes(type.element, count, range, random)) {
    tensor.data = *floats;
    return tensor;
  }
  const bool is_bool = type.element == ElementType::kBool;
  if (!is_bool && !is_integer(type.element))
    return fail(ExitCode::kUnsupported, "input/unsupported-type", name, to_string(type),
                "numbers: give the input's file");
  const int bits = is_bool ? 1 : bits_of(type.element);
  IntegerRange integers{.low = 0, .high = 1};
  // A two-bit signed type holds -2..1, so 0 and 1 fit every integer type there is.
  if (limit)
    integers = integers_in({0.0, static_cast<double>(std::max<std::int64_t>(*limit, 1) - 1)}, bits,
                           is_signed_type(type.element));
  if (range) integers = integers_in(*range, bits, is_signed_type(type.element));
  if (integers.low > integers.high) return bad_range(name, range);
  tensor.data = integer_bytes(type.element, bytes, count, integers, random);
  return tensor;
}

Result<std::vector<Tensor>> make_inputs(const Graph& graph, const InputOptions& options) {
  std::vector<Tensor> tensors;
  std::set<std::string> names;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    names.insert(value.name);
    const auto given = options.ranges.find(value.name);
    if (value.type.is_held()) {
      if (given != options.ranges.end())
        return fail(ExitCode::kUsage, "input/bad-range", "--input-range " + value.name, to_string(value.type),
                    "a range for a tensor of numbers");
      COLLAGE_TRY(tensors.emplace_back(), make_held_input(graph, id, options.seed));
      continue;
    }
    const std::optional<std::int64_t> limit = index_limit(graph, id);
    Range range = given == options.ranges.end() ? std::nullopt : Range(given->second);
    if (!range && is_integer(value.type.element) && must_be_positive(graph, id))
      range = {1.0, limit ? static_cast<double>(std::max<std::int64_t>(*limit - 1, 1)) : 3.0};
    COLLAGE_TRY(Tensor tensor, make_input(value.name, value.type, options.seed, range, limit));
    tensors.push_back(std::move(tensor));
  }
  const std::vector<std::string> known(names.begin(), names.end());
  for (const auto& [name, range] : options.ranges)
    if (!names.contains(name))
      return fail(ExitCode::kUsage, "input/unknown-name", "--input-range " + name,
                  "no input " + name + did_you_mean(name, known), fmt::format("{}", fmt::join(known, ", ")));
  return tensors;
}

}  // namespace collage
