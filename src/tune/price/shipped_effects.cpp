#include "tune/price/shipped_effects.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/registry.h"
#include "base/buffer.h"

namespace collage {
namespace {

/// How far one number of threads is from another.
double distance(int threads, int other) { return std::abs(std::log2(static_cast<double>(threads) / other)); }

}  // namespace

std::string processor_class() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "avx512";
  if (__builtin_cpu_supports("avx2")) return "avx2";
#endif
  return "other";
}

EffectTable effects_in(std::string_view text, int threads) {
  const auto json = parse_json(text, "priors");
  if (!json) return {};
  auto effects = read_json("priors", [&] {
    if (json->at("schema") != kPriorsSchema) return EffectTable();
    const Json* nearest = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (const Json& section : json->at("sections")) {
      if (section.at("processor") != processor_class()) continue;
      const double here = distance(threads, section.at("threads"));
      if (here < least) nearest = &section;
      least = std::min(least, here);
    }
    return nearest == nullptr ? EffectTable() : effects_from(nearest->at("effects"));
  });
  return effects ? *std::move(effects) : EffectTable();
}

EffectTable shipped_effects(int threads) {
  const auto file = Buffer::map_file(own_module_folder() + "/priors.json");
  return file ? effects_in(file->text(), threads) : EffectTable();
}

}  // namespace collage
