// Variants that read or write 16-bit elements in place of float32 ones.
// In:  a variant of a region, the 16-bit element type. Out: the same kernel choice with narrow formats at its ports.
// Cost: linear in the ports.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "region/accuracy.h"
#include "region/region.h"
#include "region/variant.h"

namespace collage {

/// Which float32 ports become narrow.
enum class NarrowPorts : std::uint8_t { kAll, kInputs, kOutputs };

/// The variant with narrow formats at its float32 ports of common formats. Behind its name stands ".bf16", with "_in"
/// or
/// "_out" where one side alone is narrow; a view keeps its name. Nothing when that leaves every port as it is.
[[nodiscard]] std::optional<Variant> narrow_variant(const Graph& graph, const Region& region, const Variant& variant,
                                                    ElementType element, NarrowPorts ports = NarrowPorts::kAll);

/// Whether a port has a narrow format.
[[nodiscard]] bool has_narrow_port(const Variant& variant);
/// The 16-bit type in which numbers are stored or computed, at the ports or inside. Views do neither. A variant that
/// computes in 16 bits or keeps weights in them between full ports says so by "bf16", "f16" or "i16" as a word of its
/// name.
[[nodiscard]] std::optional<ElementType> narrow_element_in(const Variant& variant);
/// Whether it multiplies 16-bit integers that have scales, whatever its ports: its name has the word "i16".
[[nodiscard]] bool multiplies_fixed_point(const Variant& variant);
/// Whether it does and rounds nothing to 16-bit floats: it errs several times less than those that do.
[[nodiscard]] inline bool is_fixed_point(const Variant& variant) {
  return narrow_element_in(variant) == ElementType::kInt16;
}
[[nodiscard]] inline bool is_narrow(const Variant& variant) { return narrow_element_in(variant).has_value(); }

/// Whether it computes in 16 bits or has a narrow format at a port, as views may.
[[nodiscard]] inline bool has_16_bits(const Variant& variant) { return is_narrow(variant) || has_narrow_port(variant); }

/// The word in the names of variants whose products are of bfloat16 numbers of which several stand for a float32: their
/// numbers keep the bound of class standard, where they are not offered all the same.
inline constexpr std::string_view kSplitFloats = "bf16x2";
/// Whether its name has that word.
[[nodiscard]] bool is_split(const Variant& variant);
/// Whether it has 16-bit numbers at ports or inside, also as parts of others.
[[nodiscard]] bool has_few_bits(const Variant& variant);

/// The class that a variant is compiled, judged and stored in by a tune of class `asked`: without 16 bits it is the
/// same in class fast as in standard.
[[nodiscard]] inline Accuracy class_of(const Variant& variant, Accuracy asked) {
  return has_16_bits(variant) ? asked : without_16_bits(asked);
}

}  // namespace collage
