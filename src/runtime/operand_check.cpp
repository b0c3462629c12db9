#include "runtime/operand_check.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "runtime/open_step.h"

namespace collage {
namespace {

/// An operand at its address.
struct Operand {
  const PlanValue* value = nullptr;
  const std::byte* data = nullptr;
  Extents extents;
  std::size_t count = 0;
  std::optional<OpenSource> source = {};  ///< of a value of open shape, which has data and extents during a run only
};

struct BoundCheck {
  const PlanCheck* check = nullptr;
  Operand operand;
  Operand dividend;
};

/// Calls `use` with an integer of the C++ type behind `type`.
template <class Use>
auto with_integer(ElementType type, Use use) {
  switch (type) {
    case ElementType::kInt8:
      return use(std::int8_t{});
    case ElementType::kUint8:
      return use(std::uint8_t{});
    case ElementType::kInt16:
      return use(std::int16_t{});
    case ElementType::kUint16:
      return use(std::uint16_t{});
    case ElementType::kInt32:
      return use(std::int32_t{});
    case ElementType::kUint32:
      return use(std::uint32_t{});
    case ElementType::kUint64:
      return use(std::uint64_t{});
    default:
      return use(std::int64_t{});
  }
}

/// The first element that `is_bad`. Whole blocks are looked at without a branch for each element.
template <class T, class IsBad>
std::optional<std::size_t> first_bad(const T* data, std::size_t count, IsBad is_bad) {
  constexpr std::size_t kBlock = 64;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, count);
    bool any = false;
    for (std::size_t i = begin; i < end; ++i) any |= is_bad(data[i]);
    if (!any) continue;
    for (std::size_t i = begin; i < end; ++i)
      if (is_bad(data[i])) return i;
  }
  return std::nullopt;
}

/// Numbers of T inside a range, as one comparison; nothing when T holds none of them.
template <class T>
struct ValueWindow {
  using Unsigned = std::make_unsigned_t<T>;
  T low = 0;
  Unsigned width = 0;

  static std::optional<ValueWindow> of(const OperandRange& range) {
    const bool is_wide = std::in_range<std::int64_t>(std::numeric_limits<T>::max());
    const std::int64_t least = std::in_range<std::int64_t>(std::numeric_limits<T>::min())
                                   ? static_cast<std::int64_t>(std::numeric_limits<T>::min())
                                   : 0;
    const std::int64_t most =
        is_wide ? static_cast<std::int64_t>(std::numeric_limits<T>::max()) : std::numeric_limits<std::int64_t>::max();
    const std::int64_t low = std::max(range.low, least);
    const std::int64_t high = std::min(range.high, most);
    if (high < low) return std::nullopt;
    return ValueWindow{static_cast<T>(low),
                       static_cast<Unsigned>(static_cast<Unsigned>(high) - static_cast<Unsigned>(low))};
  }
  [[nodiscard]] bool lacks(T number) const {
    return static_cast<Unsigned>(static_cast<Unsigned>(number) - static_cast<Unsigned>(low)) > width;
  }
};

template <class T>
std::optional<std::size_t> first_outside(const T* data, std::size_t count, const OperandRange& range) {
  const auto window = ValueWindow<T>::of(range);
  if (!window) return count > 0 ? std::optional<std::size_t>(0) : std::nullopt;
  return first_bad(data, count, [&](T number) { return window->lacks(number); });
}

/// Several ranges: element i lies in number i modulo their count.
template <class T>
std::optional<std::size_t> first_outside(const T* data, std::size_t count, const std::vector<OperandRange>& ranges) {
  if (ranges.size() == 1) return first_outside(data, count, ranges.front());
  for (std::size_t begin = 0; begin < count; begin += ranges.size())
    for (std::size_t k = 0; k < ranges.size() && begin + k < count; ++k)
      if (const auto window = ValueWindow<T>::of(ranges[k]); !window || window->lacks(data[begin + k]))
        return begin + k;
  return std::nullopt;
}

std::string number_at(const Operand& operand, std::size_t i) {
  return with_integer(operand.value->type.element, [&](auto zero) {
    return fmt::format("{}", +reinterpret_cast<const decltype(zero)*>(operand.data)[i]);
  });
}

/// "[2,0]"; nothing for a scalar.
std::string position(const Operand& operand, std::size_t i) {
  std::string text;
  for (std::size_t d = operand.extents.size(); d-- > 0;) {
    const auto extent = static_cast<std::size_t>(operand.extents[d]);
    text = fmt::format("{}{}{}", i % extent, text.empty() ? "" : ",", text);
    i /= extent;
  }
  return text.empty() ? text : " at [" + text + "]";
}

std::unexpected<Error> bad(const BoundCheck& bound, std::string saw, std::string allowed) {
  const PlanCheck& check = *bound.check;
  return fail(ExitCode::kBadInput, "runtime/bad-operand",
              fmt::format("{} {}: {}", check.op_type, check.node, bound.operand.value->name), std::move(saw),
              std::move(allowed));
}

Result<void> check_range(const BoundCheck& bound) {
  const Operand& operand = bound.operand;
  const auto& ranges = bound.check->ranges;
  const auto at = with_integer(operand.value->type.element, [&](auto zero) {
    return first_outside(reinterpret_cast<const decltype(zero)*>(operand.data), operand.count, ranges);
  });
  if (!at) return {};
  return bad(bound, number_at(operand, *at) + position(operand, *at), to_string(ranges[*at % ranges.size()]));
}

Result<void> check_divisor(const BoundCheck& bound) {
  const Operand& operand = bound.operand;
  const auto at = with_integer(operand.value->type.element, [&](auto zero) {
    return first_bad(reinterpret_cast<const decltype(zero)*>(operand.data), operand.count,
                     [](auto number) { return number == 0; });
  });
  if (!at) return {};
  return bad(bound, "0" + position(operand, *at), "anything but 0");
}

Result<void> check_quotient(const BoundCheck& bound) {
  const ElementType type = bound.operand.value->type.element;
  const auto at = with_integer(type, [&](auto zero) -> std::optional<std::size_t> {
    using T = decltype(zero);
    const auto divisor = first_bad(reinterpret_cast<const T*>(bound.operand.data), bound.operand.count,
                                   [](T number) { return number == static_cast<T>(-1); });
    if (!divisor) return std::nullopt;
    return first_bad(reinterpret_cast<const T*>(bound.dividend.data), bound.dividend.count,
                     [](T number) { return number == std::numeric_limits<T>::min(); });
  });
  if (!at) return {};
  return bad(bound,
             fmt::format("-1 where {} holds {}{}", bound.dividend.value->name, number_at(bound.dividend, *at),
                         position(bound.dividend, *at)),
             fmt::format("quotients that {} holds", name_of(type)));
}

Result<void> check(const BoundCheck& bound) {
  switch (bound.check->rule) {
    case OperandRule::kRange:
      return check_range(bound);
    case OperandRule::kNonZero:
      return check_divisor(bound);
    case OperandRule::kNoOverflow:
      return check_quotient(bound);
  }
  return {};
}

class CheckedCall final : public Call {
 public:
  CheckedCall(std::vector<BoundCheck> checks, std::unique_ptr<Call> call)
      : checks_(std::move(checks)), call_(std::move(call)) {}

  Result<void> run() override {
    for (BoundCheck& bound : checks_) {
      COLLAGE_TRY_VOID(locate(bound.operand));
      COLLAGE_TRY_VOID(locate(bound.dividend));
      COLLAGE_TRY_VOID(check(bound));
    }
    return call_->run();
  }

  Result<DynamicOutput> dynamic_output(std::size_t port) override { return call_->dynamic_output(port); }

 private:
  static Result<void> locate(Operand& operand) {
    if (!operand.source) return {};
    COLLAGE_TRY(DynamicOutput given, operand.source->read());
    operand.data = static_cast<const std::byte*>(given.data);
    operand.count = static_cast<std::size_t>(element_count(given.extents));
    operand.extents = std::move(given.extents);
    return {};
  }

  std::vector<BoundCheck> checks_;
  std::unique_ptr<Call> call_;
};

Operand operand_at(const LoadedBody& body, const BodyMemory& memory, PlanIndex index) {
  const PlanValue& value = body.plan->values[index];
  Operand operand{.value = &value, .data = address_of(body, memory, index), .extents = {}, .count = 0};
  if (value.storage == Storage::kDynamic) {
    operand.source = source_of(body, memory, index);
    return operand;
  }
  operand.extents = extents_of(memory, value);
  operand.count = static_cast<std::size_t>(element_count(operand.extents));
  return operand;
}

}  // namespace

std::unique_ptr<Call> with_checks(const LoadedBody& body, const BodyMemory& memory, const PlanStep& step,
                                  std::unique_ptr<Call> call) {
  if (checks_of(step).empty() || call == nullptr) return call;
  std::vector<BoundCheck> checks;
  for (const PlanCheck& one : checks_of(step)) {
    BoundCheck bound{.check = &one, .operand = operand_at(body, memory, one.value), .dividend = {}};
    if (one.dividend != kNoValue) bound.dividend = operand_at(body, memory, one.dividend);
    checks.push_back(std::move(bound));
  }
  return std::make_unique<CheckedCall>(std::move(checks), std::move(call));
}

}  // namespace collage
