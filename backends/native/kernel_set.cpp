#include "kernel_set.h"

#include <algorithm>
#include <array>

namespace collage::native {
namespace {

/// Buffers count elements in 32 bits.
constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - 1;
constexpr std::size_t kMostRank = 8;

bool is_small(std::int64_t number) { return number >= -kMostElements && number <= kMostElements; }

std::string fault_of(const KernelSet& set, const Terms& terms) {
  for (const Term& term : terms) {
    if (!is_small(term.factor) || term.factor < 0) return "a factor of " + std::to_string(term.factor);
    if (term.sizes.size() > kMostRank) return "a product of " + std::to_string(term.sizes.size()) + " sizes";
    for (const std::uint32_t size : term.sizes)
      if (size >= set.sizes.size()) return "no size " + std::to_string(size);
  }
  return "";
}

std::string fault_of(const KernelSet& set, const Symbol& symbol) {
  if (symbol.low < 1 || symbol.high < symbol.low || !is_small(symbol.high)) return "no range of " + symbol.name;
  if (symbol.input >= set.inputs.size() || symbol.axis >= set.inputs[symbol.input].size())
    return "no axis that tells " + symbol.name;
  return "";
}

std::string fault_of(const KernelSet& set, const Size& size) {
  if (size.symbol >= set.symbols.size()) return "no symbol " + std::to_string(size.symbol);
  if (size.divide < 1 || !is_small(size.divide) || !is_small(size.add) || !is_small(size.plus))
    return "a size of " + set.symbols[size.symbol].name + " that is none";
  if (size.at(set.symbols[size.symbol].low) < 1) return "an empty size of " + set.symbols[size.symbol].name;
  return "";
}

std::string fault_of(const KernelSet& set, const Member& member) {
  if (member.arguments.size() != member.views.size()) return "arguments without views";
  for (std::size_t i = 0; i < member.views.size(); ++i) {
    const OpenView& view = member.views[i];
    const TensorArgument& argument = member.arguments[i];
    if (view.extents.size() != view.strides.size() || view.extents.size() > kMostRank) return "a view of other rank";
    if (argument.kind == ArgumentKind::kInput && argument.index >= set.inputs.size()) return "no such input";
    if (argument.kind == ArgumentKind::kOutput && argument.index >= set.outputs.size()) return "no such output";
    for (const Terms* terms : {&view.extents, &view.strides})
      if (std::string fault = fault_of(set, *terms); !fault.empty()) return fault;
  }
  for (const Guard& guard : member.guards)
    if (std::string fault = fault_of(set, {guard.term}); !fault.empty()) return fault;
  return "";
}

/// Its ranges are parts of the domain.
bool fits(const KernelSet& set, const SetCase& one) {
  if (one.member >= set.members.size() || one.low.size() != set.symbols.size() || one.high.size() != one.low.size())
    return false;
  for (std::size_t i = 0; i < one.low.size(); ++i)
    if (one.low[i] > one.high[i] || one.low[i] < set.symbols[i].low || one.high[i] > set.symbols[i].high) return false;
  return true;
}

bool takes_all(const KernelSet& set, const SetCase& one) {
  for (std::size_t i = 0; i < set.symbols.size(); ++i)
    if (one.low[i] != set.symbols[i].low || one.high[i] != set.symbols[i].high) return false;
  return set.members[one.member].guards.empty();
}

template <class List>
std::string first_fault(const KernelSet& set, const List& list) {
  for (const auto& one : list)
    if (std::string fault = fault_of(set, one); !fault.empty()) return fault;
  return "";
}

}  // namespace

std::int64_t Size::at(std::int64_t extent) const {
  const std::int64_t sum = extent + add;
  // Towards minus infinity.
  return sum / divide - (sum % divide < 0 ? 1 : 0) + plus;
}

Term operator*(const Term& a, const Term& b) {
  Term product{.factor = a.factor * b.factor, .sizes = a.sizes};
  product.sizes.insert(product.sizes.end(), b.sizes.begin(), b.sizes.end());
  std::ranges::sort(product.sizes);
  return product;
}

std::string fault_of(const KernelSet& set) {
  if (set.symbols.empty()) return "no open dimension";
  if (set.symbols.size() > kMostSymbols || set.sizes.size() > kMostSizes) return "more dimensions than there are";
  std::string fault = first_fault(set, set.symbols);
  if (fault.empty()) fault = first_fault(set, set.sizes);
  if (fault.empty()) fault = first_fault(set, set.inputs);
  if (fault.empty()) fault = first_fault(set, set.outputs);
  if (fault.empty()) fault = first_fault(set, set.members);
  if (!fault.empty()) return fault;
  for (const SetCase& one : set.cases)
    if (!fits(set, one)) return "a case outside of the domain";
  if (set.cases.empty() || !takes_all(set, set.cases.back())) return "no case for what the others leave";
  return "";
}

Extents sizes_at(const KernelSet& set, std::span<const std::int64_t> symbols) {
  Extents sizes;
  for (const Size& size : set.sizes) sizes.push_back(size.at(symbols[size.symbol]));
  return sizes;
}

std::int64_t value_of(const Term& term, std::span<const std::int64_t> sizes) {
  std::int64_t value = term.factor;
  for (const std::uint32_t size : term.sizes)
    if (__builtin_mul_overflow(value, sizes[size], &value)) return INT64_MAX;
  return value;
}

Extents values_of(const Terms& terms, std::span<const std::int64_t> sizes) {
  Extents values;
  for (const Term& term : terms) values.push_back(value_of(term, sizes));
  return values;
}

Result<Extents> symbols_of(const KernelSet& set, std::span<const Extents> inputs) {
  const auto wrong = [](std::size_t input, std::string saw) {
    return fail(ExitCode::kBadInput, "input/wrong-shape", "native input " + std::to_string(input), std::move(saw),
                "extents that fit the kernel");
  };
  if (inputs.size() != set.inputs.size()) return wrong(inputs.size(), "another number of inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].size() != set.inputs[i].size()) return wrong(i, "rank " + std::to_string(inputs[i].size()));
  Extents symbols;
  for (const Symbol& symbol : set.symbols) symbols.push_back(inputs[symbol.input][symbol.axis]);
  const Extents sizes = sizes_at(set, symbols);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] != values_of(set.inputs[i], sizes)) return wrong(i, "extents that differ from those of other inputs");
  return symbols;
}

Result<Extents> symbols_at(const KernelSet& set, std::span<const Extents> inputs) {
  COLLAGE_TRY(const Extents symbols, symbols_of(set, inputs));
  for (std::size_t i = 0; i < symbols.size(); ++i)
    if (const Symbol& symbol = set.symbols[i]; symbols[i] < symbol.low || symbols[i] > symbol.high)
      return fail(ExitCode::kBadInput, "shape/outside", symbol.name, std::to_string(symbols[i]),
                  std::to_string(symbol.low) + ".." + std::to_string(symbol.high));
  return symbols;
}

bool serves(const Member& member, std::span<const std::int64_t> sizes) {
  return std::ranges::all_of(member.guards,
                             [&](const Guard& guard) { return value_of(guard.term, sizes) >= guard.least; });
}

Dispatcher::Dispatcher(const KernelSet& set) : symbols_(set.symbols.size()) {
  for (const SetCase& one : set.cases) {
    const Member& member = set.members[one.member];
    Row row{.member = one.member, .first_guard = static_cast<std::uint32_t>(guards_.size()), .last_guard = 0};
    for (const Guard& guard : member.guards) {
      const auto first = static_cast<std::uint32_t>(sizes_.size());
      for (const std::uint32_t size : guard.term.sizes) sizes_.push_back(set.sizes[size]);
      guards_.push_back({.factor = guard.term.factor,
                         .least = guard.least,
                         .first = first,
                         .last = static_cast<std::uint32_t>(sizes_.size())});
    }
    row.last_guard = static_cast<std::uint32_t>(guards_.size());
    rows_.push_back(row);
    for (std::size_t i = 0; i < symbols_; ++i) ranges_.insert(ranges_.end(), {one.low[i], one.high[i]});
  }
}

bool Dispatcher::holds(const Bound& bound, std::span<const std::int64_t> symbols) const {
  std::int64_t value = bound.factor;
  for (std::uint32_t i = bound.first; i < bound.last; ++i)
    if (__builtin_mul_overflow(value, sizes_[i].at(symbols[sizes_[i].symbol]), &value)) return true;
  return value >= bound.least;
}

std::size_t Dispatcher::find(std::span<const std::int64_t> symbols) const {
  const std::int64_t* range = ranges_.data();
  for (const Row& row : rows_) {
    bool is_inside = true;
    for (std::size_t i = 0; i < symbols_; ++i, range += 2)
      is_inside &= symbols[i] >= range[0] && symbols[i] <= range[1];
    for (std::uint32_t g = row.first_guard; is_inside && g < row.last_guard; ++g)
      is_inside = holds(guards_[g], symbols);
    if (is_inside) return row.member;
  }
  return rows_.back().member;
}

std::optional<std::size_t> Dispatcher::find(const KernelSet& set, std::span<const Extents> inputs) const {
  if (inputs.size() != set.inputs.size()) return std::nullopt;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].size() != set.inputs[i].size()) return std::nullopt;
  std::array<std::int64_t, kMostSymbols> symbols{};
  for (std::size_t i = 0; i < set.symbols.size(); ++i) {
    const Symbol& symbol = set.symbols[i];
    symbols[i] = inputs[symbol.input][symbol.axis];
    if (symbols[i] < symbol.low || symbols[i] > symbol.high) return std::nullopt;
  }
  std::array<std::int64_t, kMostSizes> sizes{};
  for (std::size_t i = 0; i < set.sizes.size(); ++i) sizes[i] = set.sizes[i].at(symbols[set.sizes[i].symbol]);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t axis = 0; axis < inputs[i].size(); ++axis)
      if (native::value_of(set.inputs[i][axis], sizes) != inputs[i][axis]) return std::nullopt;
  return find(std::span(symbols).first(symbols_));
}

}  // namespace collage::native
