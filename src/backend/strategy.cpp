#include "backend/strategy.h"

#include <algorithm>

#include "base/number_text.h"

namespace collage {
namespace {

/// Takes "NAME=VALUE" and the comma after it off the text.
std::optional<std::int64_t> take_value(std::string_view& text, const TuningSpace::Choice& choice) {
  if (!text.starts_with(choice.name)) return std::nullopt;
  text.remove_prefix(choice.name.size());
  if (!text.starts_with('=')) return std::nullopt;
  text.remove_prefix(1);
  const auto value = take_number<std::int64_t>(text);
  return value && std::ranges::binary_search(choice.values, *value) ? value : std::nullopt;
}

}  // namespace

std::string name_of(const TuningSpace& space, const Settings& settings) {
  std::string name = space.way;
  for (std::size_t i = 0; i < settings.size(); ++i)
    name += (i == 0 ? '/' : ',') + space.choices[i].name + '=' + std::to_string(settings[i]);
  return name;
}

std::optional<Settings> settings_of(const TuningSpace& space, std::string_view name) {
  if (way_of(name) != space.way) return std::nullopt;
  name.remove_prefix(space.way.size());
  Settings settings;
  for (const TuningSpace::Choice& choice : space.choices) {
    if (!name.starts_with(settings.empty() ? '/' : ',')) return std::nullopt;
    name.remove_prefix(1);
    const auto value = take_value(name, choice);
    if (!value) return std::nullopt;
    settings.push_back(*value);
  }
  if (!name.empty() || !space.is_legal(settings)) return std::nullopt;
  return settings;
}

}  // namespace collage
