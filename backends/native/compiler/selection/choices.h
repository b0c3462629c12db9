// Parses the space of schedules of an implementation from the text in its table row, and the condition for legal
// schedules.
// In:  "rows: 0|1, tile_c: 1..6" and a condition. Out: values, a legality test, a space for tuners.
//   choices = choice {", " choice}   choice = NAME ": " (NUMBER ".." NUMBER | NUMBER {"|" NUMBER})
// Cost: microseconds.
// Source: knobs of AutoTVM (Chen et al., NeurIPS 2018), with constraints as conditions over the facts.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "backend/strategy.h"
#include "compiler/selection/strategy.h"
#include "region/variant.h"

namespace collage::native {

/// Sorted by name, or what is wrong with the text.
[[nodiscard]] std::expected<std::vector<TuningSpace::Choice>, std::string> choices_of(std::string_view text);

/// Why the implementation has no such schedule here; empty when it has: one that space() gives, or one of the choices.
[[nodiscard]] std::string why_illegal(const Implementation& implementation, const Site& site, const Facts& facts,
                                      const Schedule& schedule);

/// What a tuner may try beyond the variant; nothing for an implementation without choices.
[[nodiscard]] std::optional<TuningSpace> tuning_space_of(const Site& site, const Variant& variant);

}  // namespace collage::native
