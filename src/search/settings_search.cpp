#include "search/settings_search.h"

#include <algorithm>

namespace collage {
namespace {

/// The fastest, from whom children come.
constexpr std::uint64_t kParents = 6;
constexpr double kDrawn = 0.15;               ///< share of settings drawn anew
constexpr double kCrossed = 0.4;              ///< share of children of two parents
constexpr double kSecondMove = 0.4;           ///< share of children in which another choice moves
constexpr double kNeighbour = 0.7;            ///< share of moves to a neighbouring value, or the one after it
constexpr int kTries = 64;                    ///< to breed something new
constexpr std::size_t kMostWalked = 200'000;  ///< settings looked at for one that is left

}  // namespace

SettingsSearch::SettingsSearch(TuningSpace space, std::uint64_t seed)
    : space_(std::move(space)), random_(seed), seeds_(space_.seeds), walked_(space_.choices.size(), 0) {}

void SettingsSearch::add_seed(const Settings& settings) {
  if (known_.contains(settings) || !space_.is_legal(settings)) return;
  seeds_.insert(seeds_.begin() + static_cast<std::ptrdiff_t>(std::max(first_own_, next_seed_)), settings);
  first_own_ = std::max(first_own_, next_seed_) + 1;
}

void SettingsSearch::learn(const Settings& settings, std::optional<std::int64_t> ns) {
  known_.insert(settings);
  if (ns) timed_.emplace(*ns, settings);
}

std::vector<Settings> SettingsSearch::next(std::size_t count) {
  std::vector<Settings> proposed;
  while (proposed.size() < count) {
    std::optional<Settings> one = seeded();
    if (!one) one = bred();
    if (!one) one = left_over();
    if (!one) break;
    proposed.push_back(*std::move(one));
  }
  return proposed;
}

bool SettingsSearch::take(const Settings& settings) {
  return !known_.contains(settings) && space_.is_legal(settings) && known_.insert(settings).second;
}

std::optional<Settings> SettingsSearch::seeded() {
  while (next_seed_ < seeds_.size())
    if (const Settings& one = seeds_[next_seed_++]; take(one)) return one;
  return std::nullopt;
}

std::optional<Settings> SettingsSearch::bred() {
  for (int i = 0; i < kTries; ++i) {
    Settings one = timed_.empty() || random_.uniform() < kDrawn ? drawn() : child();
    if (take(one)) return one;
  }
  return std::nullopt;
}

/// Goes on where the last walk ended: what it passed is known or illegal for good.
std::optional<Settings> SettingsSearch::left_over() {
  for (std::size_t looked = 0; looked < kMostWalked && !is_walked_; ++looked) {
    Settings one;
    for (std::size_t i = 0; i < walked_.size(); ++i) one.push_back(space_.choices[i].values[walked_[i]]);
    std::size_t i = 0;
    while (i < walked_.size() && ++walked_[i] == space_.choices[i].values.size()) walked_[i++] = 0;
    is_walked_ = i == walked_.size();
    if (take(one)) return one;
  }
  return std::nullopt;
}

Settings SettingsSearch::drawn() {
  Settings settings;
  for (const TuningSpace::Choice& choice : space_.choices)
    settings.push_back(choice.values[random_.below(choice.values.size())]);
  return settings;
}

/// The better of two draws among the fastest.
const Settings& SettingsSearch::parent() {
  const std::uint64_t count = std::min<std::uint64_t>(kParents, timed_.size());
  const std::uint64_t place = std::min(random_.below(count), random_.below(count));
  return std::next(timed_.begin(), static_cast<std::ptrdiff_t>(place))->second;
}

Settings SettingsSearch::child() {
  Settings settings = parent();
  if (random_.uniform() < kCrossed) {
    const Settings& other = parent();
    for (std::size_t i = 0; i < settings.size(); ++i)
      if (random_.below(2) == 0) settings[i] = other[i];
  }
  if (settings.empty()) return settings;
  move(settings, random_.below(settings.size()));
  if (random_.uniform() < kSecondMove) move(settings, random_.below(settings.size()));
  return settings;
}

void SettingsSearch::move(Settings& settings, std::size_t choice) {
  const std::vector<std::int64_t>& values = space_.choices[choice].values;
  const auto count = static_cast<std::int64_t>(values.size());
  std::int64_t place = std::ranges::lower_bound(values, settings[choice]) - values.begin();
  if (random_.uniform() < kNeighbour) {
    const auto step = static_cast<std::int64_t>(1 + random_.below(2));
    place = std::clamp<std::int64_t>(place + (random_.below(2) == 0 ? step : -step), 0, count - 1);
  } else {
    place = static_cast<std::int64_t>(random_.below(values.size()));
  }
  settings[choice] = values[static_cast<std::size_t>(place)];
}

}  // namespace collage
