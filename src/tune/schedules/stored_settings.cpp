#include "tune/schedules/stored_settings.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "backend/strategy.h"
#include "base/hash.h"
#include "base/json.h"
#include "store/keys.h"

namespace collage {
namespace {

using ShapeFacts = std::map<std::string, std::int64_t>;

std::string slot_of_key(const std::string& key) {
  std::map<std::string, std::string> fields = fields_by_name(key);
  return fmt::format("region={} way={} in={} out={}", fields["region"], way_of(fields["variant"]), fields["in"],
                     fields["out"]);
}

/// What a cost key says after the formats.
std::string surroundings_of(const std::string& key) { return key.substr(key.find(" backend=")); }

/// The fastest; empty when none was timed.
std::string fastest_of(const StoredSettings::Known& known) {
  std::string name;
  std::int64_t least = 0;
  for (const auto& [variant, cost] : known)
    if (const auto* measured = std::get_if<Measured>(&cost);
        measured && (name.empty() || measured->median_ns < least)) {
      name = variant;
      least = measured->median_ns;
    }
  return name;
}

}  // namespace

double shape_distance(const ShapeFacts& a, const ShapeFacts& b) {
  double sum = 0;
  const auto log_of = [](std::int64_t n) { return std::log2(1.0 + std::abs(static_cast<double>(n))); };
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    sum += std::abs(log_of(value) - (other != b.end() ? log_of(other->second) : 0));
  }
  for (const auto& [name, value] : b)
    if (!a.contains(name)) sum += log_of(value);
  return sum;
}

StoredSettings::StoredSettings(Store& store, const BackendInfo& backend, MeasureContext context)
    : store_(store), backend_(backend), context_(std::move(context)) {
  const std::string surroundings = surroundings_of(cost_key("", {}, backend_, context_));
  for (auto& [key, cost] : store_.costs_like(surroundings))
    if (key.starts_with("region=") && key.ends_with(surroundings))
      known_[slot_of_key(key)].emplace_back(field_of(key, "variant"), std::move(cost));
}

std::string StoredSettings::slot_of(const std::string& structure, const Variant& variant) const {
  return slot_of_key(cost_key(structure, variant, backend_, context_));
}

const StoredSettings::Known& StoredSettings::of(const std::string& structure, const Variant& variant) const {
  static const Known kNone;
  const auto found = known_.find(slot_of(structure, variant));
  return found != known_.end() ? found->second : kNone;
}

std::string StoredSettings::shape_key(const Variant& variant) const {
  return fmt::format("shape {} {} {}|", way_of(variant.name),
                     names_of(variant.input_formats) + "->" + names_of(variant.output_formats),
                     hash_hex(surroundings_of(cost_key("", {}, backend_, context_))));
}

std::vector<std::string> StoredSettings::near(const std::string& structure, const Variant& variant,
                                              const ShapeFacts& shape, std::size_t count) {
  const std::string own = slot_of(structure, variant);
  const std::string key = shape_key(variant);
  std::vector<std::pair<double, std::string>> found;
  for (const auto& [name, text] : store_.verdicts_like(key)) {
    if (!name.starts_with(key) || name.substr(key.size()) == own) continue;
    const auto known = known_.find(name.substr(key.size()));
    const auto json = parse_json(text, "stored shape");
    if (known == known_.end() || !json) continue;
    const auto other = read_json("stored shape", [&] { return json->get<ShapeFacts>(); });
    if (const std::string best = fastest_of(known->second); other && !best.empty())
      found.emplace_back(shape_distance(shape, *other), best);
  }
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (const auto& [distance, name] : found)
    if (names.size() < count && std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

void StoredSettings::note_shape(const std::string& structure, const Variant& variant, const ShapeFacts& shape) {
  const std::string key = shape_key(variant) + slot_of(structure, variant);
  if (!store_.verdict(key)) store_.put_verdict(key, to_line(Json(shape)));
}

void StoredSettings::note_cost(const std::string& structure, const Variant& variant, const Cost& cost) {
  if (!std::holds_alternative<Unknown>(cost)) known_[slot_of(structure, variant)].emplace_back(variant.name, cost);
}

}  // namespace collage
