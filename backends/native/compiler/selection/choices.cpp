#include "compiler/selection/choices.h"

#include <algorithm>

#include "base/number_text.h"
#include "compiler/selection/condition.h"

namespace collage::native {
namespace {

/// More values than this in one range are a slip.
constexpr std::int64_t kMostValues = 4096;

/// Takes the text before `separator` off the front of `text`.
std::string_view take(std::string_view& text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  const std::string_view taken = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + separator.size());
  return taken;
}

/// "1..6" or "1|2|4"; empty for anything else.
std::vector<std::int64_t> values_of(std::string_view text) {
  std::vector<std::int64_t> values;
  if (text.find("..") != std::string_view::npos) {
    const auto first = number_in<std::int64_t>(take(text, ".."));
    const auto last = number_in<std::int64_t>(text);
    if (!first || !last || *last < *first || *last - *first >= kMostValues) return {};
    for (std::int64_t value = *first; value <= *last; ++value) values.push_back(value);
    return values;
  }
  if (text.ends_with('|')) return {};
  while (!text.empty()) {
    const auto value = number_in<std::int64_t>(take(text, "|"));
    if (!value || (!values.empty() && *value <= values.back())) return {};
    values.push_back(*value);
  }
  return values;
}

/// The facts as the condition on choices sees them.
Facts with_machine(const Site& site, Facts facts) {
  facts["lanes"] = site.lanes();
  facts["registers"] = site.set.registers;
  return facts;
}

/// Whether these values exist together, or what is wrong with the condition: it may come from elsewhere.
std::expected<bool, std::string> are_legal(std::string_view condition, Facts facts, const Schedule& schedule) {
  for (const auto& [name, value] : schedule.choices()) facts.insert_or_assign(name, value);
  return evaluate(condition, facts);
}

std::string why_no_choice(const std::vector<TuningSpace::Choice>& choices, const Schedule& schedule) {
  if (schedule.choices().size() != choices.size()) return "another number of choices";
  for (const TuningSpace::Choice& choice : choices) {
    const auto found = schedule.choices().find(choice.name);
    if (found == schedule.choices().end()) return "no choice of " + choice.name;
    if (!std::ranges::binary_search(choice.values, found->second))
      return choice.name + " cannot be " + std::to_string(found->second);
  }
  return "";
}

Schedule schedule_of(const std::vector<TuningSpace::Choice>& choices, const Settings& settings) {
  std::vector<std::pair<std::string, std::int64_t>> pairs;
  for (std::size_t i = 0; i < choices.size(); ++i) pairs.emplace_back(choices[i].name, settings[i]);
  return Schedule(pairs);
}

}  // namespace

std::expected<std::vector<TuningSpace::Choice>, std::string> choices_of(std::string_view text) {
  std::vector<TuningSpace::Choice> choices;
  while (!text.empty()) {
    std::string_view one = take(text, ", ");
    const std::string name(take(one, ": "));
    std::vector<std::int64_t> values = values_of(one);
    if (name.empty() || name.find_first_of("=,/ ") != std::string::npos || values.empty())
      return std::unexpected("no choice: '" + name + "' of '" + std::string(one) + "'");
    if (std::ranges::find(choices, name, &TuningSpace::Choice::name) != choices.end())
      return std::unexpected("twice: " + name);
    choices.push_back({.name = name, .values = std::move(values)});
  }
  std::ranges::sort(choices, {}, &TuningSpace::Choice::name);
  return choices;
}

std::string why_illegal(const Implementation& implementation, const Site& site, const Facts& facts,
                        const Schedule& schedule) {
  const std::vector<Schedule> best = implementation.space(site, facts);
  if (std::ranges::find(best, schedule) != best.end()) return "";
  if (implementation.choices.empty()) return "not one of its schedules";
  const auto choices = choices_of(implementation.choices);
  if (!choices) return choices.error();
  if (std::string wrong = why_no_choice(*choices, schedule); !wrong.empty()) return wrong;
  const auto legal = are_legal(implementation.legal, with_machine(site, facts), schedule);
  if (!legal) return legal.error();
  return *legal ? "" : "not so that " + std::string(implementation.legal);
}

std::optional<TuningSpace> tuning_space_of(const Site& site, const Variant& variant) {
  const auto chosen = chosen_by(site, variant);
  if (!chosen || chosen->implementation->choices.empty()) return std::nullopt;
  const Implementation& implementation = *chosen->implementation;
  auto choices = choices_of(implementation.choices);
  if (!choices) return std::nullopt;
  TuningSpace space{.way = std::string(way_of(variant.name)),
                    .choices = *std::move(choices),
                    .is_legal = {},
                    .seeds = {},
                    .shape = {chosen->facts.begin(), chosen->facts.end()}};
  space.is_legal = [choices = space.choices, facts = with_machine(site, chosen->facts),
                    condition = std::string(implementation.legal)](const Settings& settings) {
    return are_legal(condition, facts, schedule_of(choices, settings)).value_or(false);
  };
  for (const Schedule& schedule : implementation.space(site, chosen->facts))
    if (const auto settings = settings_of(space, space.way + '/' + schedule.text())) space.seeds.push_back(*settings);
  return space;
}

}  // namespace collage::native
