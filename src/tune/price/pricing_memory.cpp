#include "tune/price/pricing_memory.h"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/hash.h"
#include "timing/machine.h"
#include "tune/price/shipped_effects.h"

namespace collage {
namespace {

struct Stored {
  EffectTable known;
  EffectTable learnt;
};

/// Nothing for a record that this version cannot read.
std::optional<Stored> stored_from(const std::string& text) {
  const auto json = parse_json(text, "effects");
  if (!json) return std::nullopt;
  auto stored = read_json("effects", [&] {
    return Stored{.known = effects_from(json->at("known")), .learnt = effects_from(json->at("learnt"))};
  });
  return stored ? std::optional(*std::move(stored)) : std::nullopt;
}

}  // namespace

PricingMemory::PricingMemory(Store& store, const Graph& graph, const MeasureOptions& options)
    : store_(store), threads_(options.threads) {
  const std::string all = fmt::format("effects threads={} accuracy={} machine={} graph=", options.threads,
                                      name_of(options.accuracy), machine_print());
  key_ = all + hash_hex(structure_key(graph, whole_region(graph, uses_of(graph))));
  if (const auto text = store.verdict(key_))
    if (auto stored = stored_from(*text)) {
      known_ = std::move(stored->known);
      return;
    }
  std::vector<EffectTable> of_models;
  for (const auto& [key, text] : store.verdicts_like(all))
    if (auto stored = stored_from(text)) of_models.push_back(std::move(stored->learnt));
  known_ = pooled_effects(of_models, shipped_effects(options.threads));
}

void PricingMemory::keep(const EffectTable& learnt) {
  if (learnt.empty()) return;
  store_.put_verdict(key_, to_line(Json{{"processor", processor_class()},
                                        {"threads", threads_},
                                        {"known", to_json(known_)},
                                        {"learnt", to_json(learnt)}}));
}

}  // namespace collage
