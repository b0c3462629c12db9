#include "numbers/held_inputs.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/hash.h"
#include "base/random.h"
#include "numbers/inputs.h"

namespace collage {
namespace {

/// Words that no vocabulary is likely to have: several words, none, other scripts, digits, white space.
constexpr std::array<std::string_view, 8> kOthers = {
    "collage", "Several words, with a comma", "", "Grüße", "числа", "12", " space ", "a-b_c.d@e.org"};
constexpr std::array<std::string_view, 6> kNumbers = {"0", "1", "2", "3", "7", "12"};
/// Of so many strings one is none that the graph knows.
constexpr std::uint64_t kOneOther = 4;
/// Strings that are kept of a vocabulary.
constexpr std::size_t kMostWords = 4096;

/// What the operators of a graph know of the strings and keys that they read.
struct Vocabulary {
  std::vector<std::string> words;
  std::vector<std::int64_t> keys;
  bool is_closed = false;  ///< others are errors
  bool is_numbers = false;

  void add(const std::vector<std::string>& more) {
    for (const std::string& word : more)
      if (words.size() < kMostWords) words.push_back(word);
  }
};

void study(const Graph& graph, const Node& node, Vocabulary& known) {
  // What comes out is no input.
  static const std::set<std::string, std::less<>> kResults = {"values_strings", "classlabels_strings", "stopwords"};
  for (const Attribute& attribute : node.attributes) {
    if (const auto* words = std::get_if<std::vector<std::string>>(&attribute.value);
        words != nullptr && !kResults.contains(attribute.name))
      known.add(*words);
    if (const auto* keys = std::get_if<std::vector<std::int64_t>>(&attribute.value);
        keys != nullptr && attribute.name == "int64_vocabulary")
      known.keys = *keys;
    if (const auto* tensor = std::get_if<Tensor>(&attribute.value);
        tensor != nullptr && attribute.name.starts_with("keys"))
      known.add(tensor->strings);
  }
  known.is_closed |= node.op_type == "OneHotEncoder" && attribute_or<std::int64_t>(node, "zeros", 1) == 0;
  for (const ValueId input : node.inputs) {
    if (!input.valid()) continue;
    const Value& value = graph.value(input);
    if (value.constant) known.add(value.constant->strings);
    known.is_numbers |= node.op_type == "Cast" && value.type.is_held() && value.type.kind == ValueKind::kTensor;
  }
  for (const Graph* body : bodies_of(node))
    for (const Node& inner : body->nodes) study(*body, inner, known);
}

class HeldMaker {
 public:
  HeldMaker(const Graph& graph, std::string name, std::uint64_t seed)
      : name_(std::move(name)), seed_(seed), random_(hash_text(name_, seed)) {
    for (const Node& node : graph.nodes) study(graph, node, known_);
  }

  Result<Tensor> make(const ValueType& type) {
    switch (type.kind) {
      case ValueKind::kTensor:
        return type.element == ElementType::kString ? strings(type.extents()) : numbers(type);
      case ValueKind::kSequence:
        return items(type, 2 + random_.below(3));
      case ValueKind::kOptional:
        return items(type, 1);
      case ValueKind::kMap:
        return map(type);
      case ValueKind::kUnknown:
        break;
    }
    return fail(ExitCode::kUnsupported, "input/unsupported-type", name_, to_string(type), "give the input's file");
  }

 private:
  std::string word() {
    const auto of = [&](const auto& list) { return std::string(list[random_.below(list.size())]); };
    if (known_.is_numbers) return of(kNumbers);
    const bool is_other = known_.words.empty() || (!known_.is_closed && random_.below(kOneOther) == 0);
    return is_other ? of(kOthers) : of(known_.words);
  }

  Tensor strings(const Extents& extents) {
    Tensor made{.type = ElementType::kString, .extents = extents, .strings = {}};
    made.strings.resize(static_cast<std::size_t>(made.size()));
    std::ranges::generate(made.strings, [&] { return word(); });
    return made;
  }

  Result<Tensor> numbers(const ValueType& type) { return make_input(name_, type, hash_text(name_, ++seed_)); }

  /// The type of what is inside, its extents closed.
  [[nodiscard]] ValueType closed(ValueType type) {
    if (type.kind != ValueKind::kTensor) return type;
    if (!type.shape) type.shape = Shape(1);
    for (std::size_t d = 0; d < type.shape->size(); ++d) {
      Dim& dim = (*type.shape)[d];
      if (dim.is_static()) continue;
      const std::string name = dim.symbol.empty() ? name_ + std::to_string(d) : dim.symbol;
      dim = {.extent = static_cast<std::int64_t>(2 + hash_text(name, seed_of_extents()) % 3), .symbol = {}};
    }
    return type;
  }

  [[nodiscard]] static std::uint64_t seed_of_extents() { return 1; }

  Result<Tensor> items(const ValueType& type, std::size_t count) {
    const ValueType inner = closed(type.inner.front());
    Tensor made = make_container(type, {});
    for (std::size_t i = 0; i < count; ++i) {
      COLLAGE_TRY(made.items.emplace_back(), make(inner));
    }
    return made;
  }

  /// Some of the known keys, each once.
  Result<Tensor> map(const ValueType& type) {
    std::set<std::string> words;
    std::set<std::int64_t> numbers;
    for (int tries = 0; tries < 6; ++tries) {
      words.insert(word());
      numbers.insert(known_.keys.empty() ? static_cast<std::int64_t>(random_.below(8))
                                         : known_.keys[random_.below(known_.keys.size())]);
    }
    const bool is_text = type.element == ElementType::kString;
    if (!is_text && type.element != ElementType::kInt64)
      return fail(ExitCode::kUnsupported, "input/unsupported-type", name_, to_string(type), "give the input's file");
    const auto count = static_cast<std::int64_t>(is_text ? words.size() : numbers.size());
    Tensor keys = make_tensor<std::int64_t>(ElementType::kInt64, {count}, {numbers.begin(), numbers.end()});
    if (is_text) keys = {.type = ElementType::kString, .extents = {count}, .strings = {words.begin(), words.end()}};
    ValueType of_values = type.inner.front();
    of_values.shape = Shape{Dim{.extent = count, .symbol = {}}};
    COLLAGE_TRY(Tensor values, make(of_values));
    return make_container(type, {std::move(keys), std::move(values)});
  }

  std::string name_;
  std::uint64_t seed_;
  Random random_;
  Vocabulary known_;
};

}  // namespace

Result<Tensor> make_held_input(const Graph& graph, ValueId input, std::uint64_t seed) {
  const Value& value = graph.value(input);
  const bool is_open =
      value.type.kind == ValueKind::kTensor &&
      (!value.type.shape || std::ranges::any_of(*value.type.shape, [](const Dim& dim) { return !dim.is_static(); }));
  if (is_open)
    return fail(ExitCode::kBadInput, "input/unbound", value.name, to_string(value.type),
                "known extents: --shape " + value.name + "=...");
  return HeldMaker(graph, value.name, seed).make(value.type);
}

}  // namespace collage
