// Operator strategies: for each family of operators, the implementations that can compute it and when each applies.
// In:  a region. Out: variants, each an implementation with one schedule; their tensor code.
// How: a family reads named facts from the region. A row of its table has a condition over the facts, a list of
//       schedules, best first, and a function that writes the computation and its schedule. The choice among the
//       implementations is measured; a priority only orders those that were not measured. To add one, write a file and
//       a row in the family's table.
// Cost: reading a region is linear in it; conditions and schedules take microseconds.
// Source: operator strategies of TVM (specialisations, implementations, priorities), with the choice by measurement.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/analysis/site.h"
#include "compiler/codegen/lowering.h"
#include "compiler/selection/domain.h"
#include "region/variant.h"

namespace collage::native {

/// Choices of one schedule, by name: {"tile_x", 14}.
class Schedule {
 public:
  Schedule() = default;
  Schedule(std::initializer_list<std::pair<const std::string, std::int64_t>> choices) : choices_(choices) {}
  explicit Schedule(const std::vector<std::pair<std::string, std::int64_t>>& choices)
      : choices_(choices.begin(), choices.end()) {}
  /// Precondition: there is one.
  [[nodiscard]] std::int64_t operator[](std::string_view name) const;
  bool operator==(const Schedule&) const = default;
  /// "tile_c=2,tile_x=14"; empty for no choices.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static std::optional<Schedule> parse(std::string_view text);
  [[nodiscard]] const std::map<std::string, std::int64_t, std::less<>>& choices() const { return choices_; }

 private:
  std::map<std::string, std::int64_t, std::less<>> choices_;
};

/// The memory formats in which an implementation takes and gives the region's large tensors.
enum class Layout : std::uint8_t { kPlain, kChannelsLast };
[[nodiscard]] std::string_view name_of(Layout layout);

/// Whether an implementation's float32 ports may hold 16-bit elements (region/format.h).
enum class NarrowUse : std::uint8_t {
  kAllowed,   ///< it reads through Lowering::read and writes what stored() gives
  kRefused,   ///< others read its ports, or its numbers are quantised
  kRequired,  ///< it multiplies such elements: its inputs are narrow
};

/// One way to compute a family.
struct Implementation {
  std::string_view name;
  std::string_view condition;  ///< over the facts (condition.h); empty = always
  int priority = 0;            ///< orders what was never measured, highest first
  std::vector<Layout> layouts;
  /// Schedules worth trying, best first by a model of the machine; never empty when the condition holds.
  std::vector<Schedule> (*space)(const Site& site, const Facts& facts);
  /// Writes the region's tensor code.
  void (*build)(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering);
  /// The whole space of schedules, for tuning: "rows: 0|1, tile_x: 1..28" (choices.h); empty: what space() gives is
  /// all.
  std::string_view choices = {};
  /// Which of their combinations can be built: a condition over the facts, `lanes`, `registers` and the choices.
  std::string_view legal = {};
  std::string_view source = {};           ///< the file it comes from; empty: built in
  std::vector<Layout> open_layouts = {};  ///< in which its code may have open dimensions (lowering.h)
  NarrowUse narrow = NarrowUse::kAllowed;
};

struct Family {
  std::string_view name;
  std::string_view operators;  ///< anchors, separated by '|', those of a chain by '+'; empty: regions without anchor
  /// The facts, or why the family does not take the region.
  std::expected<Facts, Refusal> (*read)(const Site& site);
  std::span<const Implementation> implementations;  ///< one of their conditions holds for whatever is read
  std::span<const Domain> domains = {};             ///< of facts that this rests on
  bool takes_moves = false;                         ///< of elements, before its anchor
  /// Without anchors: the operators it knows in some form, for lists.
  std::vector<std::string> (*known)() = nullptr;
};

/// Every family, one row each (families.cpp).
[[nodiscard]] std::span<const Family* const> all_families();

/// The implementation that a variant names, the facts it sees and the schedule, or why there is no such variant: any
/// text may be a name.
struct Chosen {
  const Implementation* implementation = nullptr;
  Facts facts;
  Schedule schedule;
};
[[nodiscard]] std::expected<Chosen, Refusal> chosen_by(const Site& site, const Variant& variant);

/// Variants of a region in order of priority, those with narrow ports last; a refusal when no family takes it.
[[nodiscard]] std::expected<std::vector<Variant>, Refusal> variants_of(const Site& site);

/// The tensor code of one variant. What Halide throws is for the caller to guard against. With an open form the site is
/// the region at writing_point(); refusal (shape) when the implementation has no open form.
[[nodiscard]] std::expected<TensorCode, Refusal> tensor_code_of(const Site& site, const Variant& variant,
                                                                const std::string& name, const OpenForm& open = {});

}  // namespace collage::native
