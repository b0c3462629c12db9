#include "tune/price/shipped_effects.h"

#include "backend/registry.h"
#include "base/buffer.h"

namespace collage {

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
    for (const Json& section : json->at("sections"))
      if (section.at("processor") == processor_class() && section.at("threads") == threads)
        return effects_from(section.at("effects"));
    return EffectTable();
  });
  return effects ? *std::move(effects) : EffectTable();
}

EffectTable shipped_effects(int threads) {
  const auto file = Buffer::map_file(own_module_folder() + "/priors.json");
  return file ? effects_in(file->text(), threads) : EffectTable();
}

}  // namespace collage
