#include "store/find_costs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/suggest.h"
#include "region/instance_name.h"
#include "region/rules/partition_rule.h"
#include "store/keys.h"
#include "store/strikes.h"

namespace collage {
namespace {

using Facts = std::map<std::string, RegionFacts>;

Facts all_facts(Store& store) {
  Facts all;
  for (const auto& [key, text] : store.regions())
    if (auto facts = parse_facts(text)) all.emplace(key, *std::move(facts));
  return all;
}

FoundCost described(std::string key, Cost cost, const Facts& facts) {
  FoundCost found{
      .key = std::move(key), .cost = std::move(cost), .operators = {}, .backend = {}, .variant = {}, .facts = {}};
  for (auto& [name, value] : fields_of(found.key)) {
    if (name == "backend") found.backend = std::move(value);
    if (name == "variant") found.variant = std::move(value);
    if (name == "convert") found.operators = kConversionOperators;
  }
  const auto known = facts.find(region_in(found.key));
  if (known == facts.end()) return found;
  found.facts = known->second;
  found.operators = known->second.operators;
  return found;
}

bool has_text(const FoundCost& found, const std::string& text) {
  if (found.key.contains(text) || found.operators.contains(text)) return true;
  if (!found.facts) return false;
  return found.facts->model.contains(text) ||
         std::ranges::any_of(found.facts->nodes, [&](const std::string& node) { return node.contains(text); });
}

bool has_operator(const FoundCost& found, const std::string& name) {
  const std::vector<std::string> operators = split_operators(found.operators);
  return std::ranges::find(operators, name) != operators.end();
}

bool has_node(const FoundCost& found, const std::string& glob) {
  return found.facts &&
         std::ranges::any_of(found.facts->nodes, [&](const std::string& node) { return matches_glob(node, {glob}); });
}

bool fits(const FoundCost& found, const CostFilter& filter) {
  return (filter.text.empty() || has_text(found, filter.text)) &&
         (filter.operator_name.empty() || has_operator(found, filter.operator_name)) &&
         (filter.backend.empty() || is_instance_of(found.backend, filter.backend)) &&
         (filter.node.empty() || has_node(found, filter.node));
}

struct KnownWords {
  std::set<std::string> operators;
  std::set<std::string> backends;
  std::set<std::string> nodes;
  std::set<std::string> models;
};

KnownWords words_of(Store& store) {
  KnownWords words;
  for (const FoundCost& found : find_costs(store, {})) {
    for (std::string& name : split_operators(found.operators)) words.operators.insert(std::move(name));
    words.backends.insert(found.backend);
    words.backends.emplace(kind_of_instance(found.backend));
    if (!found.facts) continue;
    words.nodes.insert(found.facts->nodes.begin(), found.facts->nodes.end());
    words.models.insert(found.facts->model);
  }
  return words;
}

/// Empty when the word is one of them: then something else is why nothing was found.
std::string near_one_of(const std::string& word, std::initializer_list<const std::set<std::string>*> sets) {
  std::vector<std::string> known;
  for (const auto* set : sets) {
    if (set->contains(word)) return "";
    known.insert(known.end(), set->begin(), set->end());
  }
  return did_you_mean(word, known);
}

}  // namespace

std::string region_in(const std::string& key) {
  return key.starts_with("region=") ? key.substr(0, key.find(' ')) : std::string();
}

std::string subject_in(const std::string& key) {
  const std::string region = region_in(key);
  return region.empty() ? key.substr(0, key.find(" backend=")) : region;
}

std::vector<std::string> split_operators(const std::string& operators) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < operators.size();) {
    const std::size_t end = std::min(operators.find('+', begin), operators.size());
    names.push_back(operators.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::vector<FoundCost> find_costs(Store& store, const CostFilter& filter) {
  const Facts facts = all_facts(store);
  std::vector<FoundCost> all;
  for (auto& [key, cost] : store.costs_like("")) {
    FoundCost found = described(std::move(key), std::move(cost), facts);
    if (fits(found, filter)) all.push_back(std::move(found));
  }
  const auto rank = [](const FoundCost& found) {
    return std::tuple(found.operators.empty(), std::string_view(found.operators), subject_in(found.key),
                      nanoseconds_of(found.cost).value_or(std::numeric_limits<std::int64_t>::max()),
                      std::string_view(found.key));
  };
  std::ranges::sort(all, [&](const FoundCost& a, const FoundCost& b) { return rank(a) < rank(b); });
  return all;
}

std::string suggestion_for(Store& store, const CostFilter& filter) {
  const KnownWords words = words_of(store);
  for (const std::string& suggestion :
       {near_one_of(filter.operator_name, {&words.operators}), near_one_of(filter.backend, {&words.backends}),
        near_one_of(filter.node, {&words.nodes}),
        near_one_of(filter.text, {&words.operators, &words.backends, &words.nodes, &words.models})})
    if (!suggestion.empty()) return suggestion;
  return "";
}

}  // namespace collage
