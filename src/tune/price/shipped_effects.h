// What tunes on other machines have shown of the effects of the cost model: a file of the installation, made by
// tools/train_priors.py from stores.
// In:  lib/collage/priors.json. Out: the effects for processors like this one.
#pragma once

#include <string>
#include <string_view>

#include "tune/price/effect_table.h"

namespace collage {

inline constexpr const char* kPriorsSchema = "collage.priors/1";

/// Vector instructions on which the order of implementations depends most: avx512, avx2, other.
[[nodiscard]] std::string processor_class();

/// Those that a file of this text has for processors like this one; none in any other text.
[[nodiscard]] EffectTable effects_in(std::string_view text, int threads);

/// None for another class of processor or number of threads than the file knows, or without a file that can be read.
[[nodiscard]] EffectTable shipped_effects(int threads);

}  // namespace collage
