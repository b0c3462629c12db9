#include "store/region_facts.h"

#include <algorithm>
#include <utility>

#include "store/keys.h"
#include "store/strikes.h"

namespace collage {
namespace {

std::vector<std::string> types_of(const Graph& graph, const std::vector<ValueId>& values, std::size_t most) {
  std::vector<std::string> types;
  for (std::size_t i = 0; i < std::min(values.size(), most); ++i)
    types.push_back(to_string(graph.value(values[i]).type));
  return types;
}

}  // namespace

void add_place(const Graph& graph, const Region& region, RegionFacts& facts) {
  for (const std::size_t n : region.nodes.members()) {
    if (facts.nodes.size() >= kMostNodes) return;
    const std::string& name = graph.nodes[n].name;
    if (std::ranges::find(facts.nodes, name) == facts.nodes.end()) facts.nodes.push_back(name);
  }
}

RegionFacts facts_of(const Graph& graph, const Region& region, const std::string& model) {
  RegionFacts facts{.operators = operators_of(graph, region),
                    .node_count = region.nodes.count(),
                    .inputs = types_of(graph, region.inputs, region.inputs.size()),
                    .constants = types_of(graph, region.constants, kMostConstants),
                    .outputs = types_of(graph, region.outputs, region.outputs.size()),
                    .model = model,
                    .nodes = {}};
  add_place(graph, region, facts);
  return facts;
}

Json to_json(const RegionFacts& facts) {
  return {{"operators", facts.operators}, {"node_count", facts.node_count}, {"inputs", facts.inputs},
          {"constants", facts.constants}, {"outputs", facts.outputs},       {"model", facts.model},
          {"nodes", facts.nodes}};
}

RegionFacts facts_from(const Json& json) {
  return {.operators = json.at("operators").get<std::string>(),
          .node_count = json.at("node_count").get<std::size_t>(),
          .inputs = json.at("inputs").get<std::vector<std::string>>(),
          .constants = json.at("constants").get<std::vector<std::string>>(),
          .outputs = json.at("outputs").get<std::vector<std::string>>(),
          .model = json.at("model").get<std::string>(),
          .nodes = json.at("nodes").get<std::vector<std::string>>()};
}

std::optional<RegionFacts> parse_facts(const std::string& text) {
  const auto json = parse_json(text, "store");
  if (!json) return std::nullopt;
  auto facts = read_json("store", [&] { return facts_from(*json); });
  return facts ? std::optional(*std::move(facts)) : std::nullopt;
}

void FactsKeeper::note(const std::string& structure_key, const Graph& graph, const Region& region) {
  const std::string key = region_key(structure_key);
  auto found = known_.find(key);
  if (found == known_.end()) {
    const auto stored = store_.region(key);
    auto facts = stored ? parse_facts(*stored) : std::nullopt;
    if (!facts) changed_.insert(key);
    found = known_.emplace(key, facts ? *std::move(facts) : facts_of(graph, region, model_)).first;
  }
  RegionFacts& facts = found->second;
  if (facts.model != model_) return;
  const std::size_t count = facts.nodes.size();
  add_place(graph, region, facts);
  if (facts.nodes.size() > count) changed_.insert(key);
}

void FactsKeeper::keep() {
  std::vector<std::pair<std::string, std::string>> records;
  for (const std::string& key : std::exchange(changed_, {}))
    records.emplace_back(key, to_line(to_json(known_.at(key))));
  if (!records.empty()) store_.put_regions(records);
}

}  // namespace collage
