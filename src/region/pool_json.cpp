#include "region/pool_json.h"

#include "region/value_json.h"

namespace collage {
namespace {

/// As runs, [first, last, first, last ...]: regions of engines are long.
Json nodes_to_json(const NodeSet& nodes) {
  std::vector<std::size_t> ends;
  for (const std::size_t node : nodes.members()) {
    if (!ends.empty() && ends.back() + 1 == node)
      ends.back() = node;
    else
      ends.insert(ends.end(), 2, node);
  }
  return ends;
}

NodeSet nodes_from(const Json& json, const Graph& graph) {
  const auto ends = json.get<std::vector<std::size_t>>();
  NodeSet nodes(graph.nodes.size());
  for (std::size_t i = 0; i < ends.size(); i += 2) {
    if (i + 1 == ends.size() || ends[i + 1] >= nodes.universe())
      throw JsonFault{.where = "pool", .saw = "nodes " + json.dump()};
    for (std::size_t node = ends[i]; node <= ends[i + 1]; ++node) nodes.insert(node);
  }
  return nodes;
}

Json matches_to_json(const std::vector<Match>& matches) {
  Json list = Json::array();
  for (const Match& match : matches) list.push_back({{"label", match.label}, {"nodes", nodes_to_json(match.nodes)}});
  return list;
}

std::vector<Match> matches_from(const Json& json, const Graph& graph) {
  std::vector<Match> matches;
  for (const Json& match : json)
    matches.push_back({.label = match.at("label").get<std::string>(), .nodes = nodes_from(match.at("nodes"), graph)});
  return matches;
}

std::uint32_t region_from(const Json& json, const CandidatePool& pool) {
  const auto region = json.at("region").get<std::size_t>();
  if (region >= pool.regions.size()) throw JsonFault{.where = "pool", .saw = "region " + std::to_string(region)};
  return static_cast<std::uint32_t>(region);
}

}  // namespace

Json to_json(const CandidatePool& pool) {
  Json regions = Json::array();
  for (const Region& region : pool.regions)
    regions.push_back({{"nodes", nodes_to_json(region.nodes)}, {"repeated", nodes_to_json(region.repeated)}});
  Json candidates = Json::array();
  for (const Candidate& candidate : pool.candidates)
    candidates.push_back({{"region", candidate.region},
                          {"backend", candidate.backend},
                          {"variant", to_json(candidate.variant)},
                          {"matches", matches_to_json(candidate.matches)},
                          {"origin", candidate.origin}});
  Json refusals = Json::array();
  for (const RegionRefusal& refusal : pool.refusals)
    refusals.push_back(
        {{"region", refusal.region}, {"backend", refusal.backend}, {"refusal", to_json(refusal.refusal)}});
  return {{"regions", regions}, {"candidates", candidates}, {"refusals", refusals}};
}

CandidatePool pool_from(const Json& json, const Graph& graph, const Uses& uses) {
  CandidatePool pool;
  for (const Json& region : json.at("regions"))
    pool.regions.push_back(
        make_region(graph, uses, nodes_from(region.at("nodes"), graph), nodes_from(region.at("repeated"), graph)));
  for (const Json& candidate : json.at("candidates"))
    pool.candidates.push_back({.region = region_from(candidate, pool),
                               .backend = candidate.at("backend").get<std::string>(),
                               .variant = variant_from(candidate.at("variant")),
                               .matches = matches_from(candidate.at("matches"), graph),
                               .origin = candidate.at("origin").get<std::string>()});
  for (const Json& refusal : json.at("refusals"))
    pool.refusals.push_back({.region = region_from(refusal, pool),
                             .backend = refusal.at("backend").get<std::string>(),
                             .refusal = refusal_from(refusal.at("refusal"))});
  return pool;
}

}  // namespace collage
