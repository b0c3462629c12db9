#include "numbers/input_sets.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "numbers/input_draw.h"
#include "numbers/inputs.h"
#include "numbers/magnitude_twin.h"
#include "numbers/reference_run.h"
#include "numbers/region_numbers.h"

namespace collage {
namespace {

/// Where a run of the reference takes longer than this, ties are left out, and so is a second look after the timing.
constexpr std::int64_t kCheapNs = 10'000'000;
/// From here on bounds do without the twin's run.
constexpr std::int64_t kLongNs = 100'000'000;
/// Regions with larger borders get no sets, and from half of it on the seeded one only: sets lie in memory while the
/// candidates are timed.
constexpr std::size_t kMostBytes = std::size_t{128} << 20;
/// Larger weights are not copied for the twin.
constexpr std::size_t kMostWeights = std::size_t{64} << 20;

bool is_finite(const Tensor& tensor) {
  // Of f32, the common case, without widening.
  if (tensor.type == ElementType::kFloat32)
    return std::ranges::all_of(tensor.data.as<float>(), [](float v) { return std::isfinite(v); });
  const auto values = floats_of(tensor);
  return !values || std::ranges::all_of(*values, [](double v) { return std::isfinite(v); });
}

bool all_finite(const std::vector<Tensor>& tensors) { return std::ranges::all_of(tensors, is_finite); }

class Maker {
 public:
  Maker(const Graph& graph, const Uses& uses, const Region& region, const std::vector<Tensor>& recorded,
        Backend& reference, const InputSetOptions& options)
      : numbers_(study(graph, uses, region)),
        part_(extract(graph, region)),
        recorded_(recorded),
        reference_(reference),
        options_(options) {
    for (const ValueId id : region.outputs) add_choice(choice_behind(graph, uses, region, id), graph);
    for (const Value& value : part_.values) {
      if (value.constant) weights_ += value.constant->data.size();
      if (value.type.element == ElementType::kBfloat16) numbers_.may_stress = false;
      narrow_ |= is_16bit_float(value.type.element);
    }
    narrow_ |= options.accuracy == Accuracy::kFast;
  }

  std::vector<InputSet> run() {
    if (std::ranges::any_of(part_.inputs, [&](ValueId id) { return part_.value(id).type.is_open(); }))
      return other_extents();
    std::vector<InputSet> sets;
    if (!numbers_.may_seed || border_bytes() > kMostBytes) return sets;
    auto made = ReferenceRun::create(reference_, part_);
    if (!made) return sets;
    if (!make("seeded", Draw::kSeeded, *made, nullptr, sets)) return sets;
    const std::int64_t run_ns = made->run_ns();
    const bool has_float =
        std::ranges::any_of(recorded_, [](const Tensor& tensor) { return floats_of_type(tensor.type); });
    if (numbers_.may_stress && has_float && border_bytes() <= kMostBytes / 2) stress(*made, run_ns, sets);
    for (InputSet& set : sets) set.is_cheap = run_ns <= kCheapNs;
    return sets;
  }

 private:
  static bool floats_of_type(ElementType type) {
    return is_16bit_float(type) || type == ElementType::kFloat32 || type == ElementType::kFloat64;
  }

  void stress(ReferenceRun& run, std::int64_t run_ns, std::vector<InputSet>& sets) {
    std::optional<Graph> twin;
    std::optional<ReferenceRun> twin_run;
    if (numbers_.may_size && run_ns <= kLongNs && weights_ <= kMostWeights) {
      twin = magnitude_twin(part_);
      if (auto made = ReferenceRun::create(reference_, *twin)) twin_run = std::move(*made);
    }
    ReferenceRun* const sizes = twin_run ? &*twin_run : nullptr;
    (void)make("large", Draw::kLarge, run, sizes, sets);
    if (numbers_.may_tie && run_ns <= kCheapNs) (void)make("ties", Draw::kTies, run, sizes, sets);
  }

  /// Adds a set; false when it cannot be judged.
  bool make(const char* name, Draw draw, ReferenceRun& run, ReferenceRun* twin, std::vector<InputSet>& sets) {
    InputSet set{.name = name};
    for (std::size_t i = 0; i < recorded_.size(); ++i)
      set.inputs.push_back(numbers_.kept[i] ? recorded_[i] : draw_like(recorded_[i], draw, seed_of(name, i), narrow_));
    auto outputs = run.run(set.inputs);
    if (!outputs || !all_finite(*outputs)) return false;
    if (twin != nullptr) {
      std::vector<Tensor> magnitudes;
      for (const Tensor& input : set.inputs) magnitudes.push_back(magnitudes_of(input));
      auto sizes = twin->run(magnitudes);
      if (sizes && all_finite(*sizes)) set.sizes = std::move(*sizes);
    }
    for (const auto& rule : rules_) {
      if (!rule) {
        set.choices.emplace_back();
        continue;
      }
      const Tensor* data = data_of(*rule, set.inputs, *outputs);
      set.choices.push_back(data == nullptr ? std::nullopt
                                            : std::optional(Choice{*data, rule->rule.axis, rule->rule.kind}));
    }
    outputs->resize(rules_.size());
    if (!set.sizes.empty()) set.sizes.resize(rules_.size());
    set.expected = std::move(*outputs);
    sets.push_back(std::move(set));
    return true;
  }

  /// The recorded elements in inputs of other extents: none, one, more. Where the reference has no result, extents do
  /// not fit together, or indices lie outside.
  std::vector<InputSet> other_extents() {
    std::vector<InputSet> sets;
    std::size_t bytes = 0;
    for (const Tensor& tensor : recorded_) bytes += tensor.data.size();
    const bool chooses = std::ranges::any_of(rules_, [](const auto& rule) { return rule.has_value(); });
    if (chooses || bytes > kMostBytes / 8) return sets;
    auto made = ReferenceRun::create(reference_, part_);
    if (!made) return sets;
    add_extents("no rows", *made, sets, [](std::int64_t) { return 0; });
    add_extents("one row", *made, sets, [](std::int64_t) { return 1; });
    add_extents("more rows", *made, sets, [](std::int64_t extent) { return 2 * extent + 3; });
    return sets;
  }

  template <class Change>
  void add_extents(const char* name, ReferenceRun& run, std::vector<InputSet>& sets, Change change) {
    InputSet set{.name = name};
    for (std::size_t i = 0; i < recorded_.size(); ++i) {
      Extents extents = recorded_[i].extents;
      const ValueType& type = part_.value(part_.inputs[i]).type;
      for (std::size_t d = 0; d < extents.size() && type.is_open(); ++d)
        if (!(*type.shape)[d].is_static()) extents[d] = change(extents[d]);
      const bool is_drawn = recorded_[i].data.size() == 0 && !numbers_.kept[i];
      set.inputs.push_back(is_drawn ? drawn(recorded_[i].type, extents, seed_of(name, i))
                                    : repeated(recorded_[i], extents));
    }
    auto outputs = run.run(set.inputs);
    if (!outputs || !all_finite(*outputs)) return;
    set.expected = std::move(*outputs);
    set.choices.resize(set.expected.size());
    sets.push_back(std::move(set));
  }

  /// In place of a record without elements: what that would have held is not known.
  static Tensor drawn(ElementType type, const Extents& extents, std::uint64_t seed) {
    const bool is_index = is_integer(type);
    auto made = make_input("rows", ValueType::tensor(type, extents), seed, std::nullopt,
                           is_index ? std::optional<std::int64_t>(1) : std::nullopt);
    return made ? *std::move(made) : repeated({.type = type, .extents = {}, .data = {}, .strings = {}}, extents);
  }

  /// A tensor of these extents with the elements of another one, over and over; zeros for none.
  static Tensor repeated(const Tensor& tensor, const Extents& extents) {
    const std::size_t size = byte_count(tensor.type, extents);
    const std::size_t whole = tensor.data.size();
    Tensor made{.type = tensor.type, .extents = extents, .data = {}, .strings = {}};
    made.data = Buffer::make(size, [&](std::span<std::byte> out) {
      std::ranges::fill(out, std::byte{0});
      for (std::size_t begin = 0; whole > 0 && begin < size; begin += whole)
        std::ranges::copy(tensor.data.bytes().first(std::min(whole, size - begin)),
                          out.begin() + static_cast<std::ptrdiff_t>(begin));
    });
    return made;
  }

  [[nodiscard]] std::uint64_t seed_of(const std::string& name, std::size_t input) const {
    return hash_text(name + " " + std::to_string(input), options_.seed);
  }

  [[nodiscard]] std::size_t border_bytes() const {
    std::size_t bytes = 0;
    for (const auto* ids : {&part_.inputs, &part_.outputs})
      for (const ValueId id : *ids) bytes += byte_count(part_.value(id).type.element, part_.value(id).type.extents());
    return bytes;
  }

  /// A rule in terms of the part: the data is one of its inputs, constants or outputs.
  struct PartRule {
    ChoiceRule rule;
    std::string data;
  };

  /// What indices are chosen from becomes one more output of the part.
  void add_choice(const std::optional<ChoiceRule>& rule, const Graph& graph) {
    rules_.emplace_back();
    if (!rule || !rule->data.valid()) return;
    const std::string& name = graph.value(rule->data).name;
    for (std::uint32_t v = 0; v < part_.values.size(); ++v) {
      if (part_.values[v].name != name) continue;
      const ValueId id{v};
      const bool is_listed = std::ranges::find(part_.outputs, id) != part_.outputs.end() ||
                             std::ranges::find(part_.inputs, id) != part_.inputs.end();
      if (!is_listed && !part_.values[v].constant) part_.outputs.push_back(id);
      rules_.back() = PartRule{.rule = *rule, .data = name};
    }
  }

  [[nodiscard]] const Tensor* data_of(const PartRule& rule, const std::vector<Tensor>& inputs,
                                      const std::vector<Tensor>& outputs) const {
    for (std::size_t i = 0; i < part_.inputs.size(); ++i)
      if (part_.value(part_.inputs[i]).name == rule.data) return &inputs[i];
    for (std::size_t o = 0; o < part_.outputs.size(); ++o)
      if (part_.value(part_.outputs[o]).name == rule.data) return &outputs[o];
    return nullptr;
  }

  RegionNumbers numbers_;
  Graph part_;
  const std::vector<Tensor>& recorded_;
  Backend& reference_;
  const InputSetOptions& options_;
  std::vector<std::optional<PartRule>> rules_;  ///< by output of the region
  std::size_t weights_ = 0;
  bool narrow_ = false;
};

}  // namespace

std::vector<InputSet> make_input_sets(const Graph& graph, const Uses& uses, const Region& region,
                                      const std::vector<Tensor>& recorded, Backend& reference,
                                      const InputSetOptions& options) {
  if (region.outputs.empty() || !has_passed_border(graph, uses, region)) return {};
  // Strings, sequences, optionals and maps are not drawn: others may be no inputs of the region.
  const auto is_held = [&](ValueId id) { return graph.value(id).type.is_held(); };
  if (std::ranges::any_of(region.inputs, is_held) || std::ranges::any_of(region.outputs, is_held)) return {};
  return Maker(graph, uses, region, recorded, reference, options).run();
}

}  // namespace collage
