#include "store/strikes.h"

#include <set>

#include <fmt/format.h>

#include "region/instance_name.h"
#include "region/value_json.h"

namespace collage {
namespace {

constexpr const char* kPrefix = "strikes backend=";

std::string key_of(const std::string& backend, const std::string& build, const std::string& operators) {
  return fmt::format("{}{} build={} operators={}", kPrefix, backend, build, operators);
}

Json to_json(const Strike& strike) {
  return {{"backend", strike.backend},
          {"build", strike.build},
          {"operators", strike.operators},
          {"count", strike.count},
          {"last", strike.last}};
}

std::optional<Strike> strike_from(const std::string& text) {
  const auto json = parse_json(text, "store");
  if (!json) return std::nullopt;
  auto strike = read_json("store", [&] {
    return Strike{.backend = json->at("backend").get<std::string>(),
                  .build = json->at("build").get<std::string>(),
                  .operators = json->at("operators").get<std::string>(),
                  .count = json->at("count").get<int>(),
                  .last = json->at("last").get<std::string>()};
  });
  return strike ? std::optional(*std::move(strike)) : std::nullopt;
}

bool is_death(RefusalReason reason) { return reason == RefusalReason::kCrashed || reason == RefusalReason::kTimeout; }

/// The instance in a cost's key; empty when there is none.
std::string backend_in(const std::string& key) {
  constexpr std::string_view kField = " backend=";
  const std::size_t begin = key.find(kField);
  if (begin == std::string::npos) return {};
  const std::size_t name = begin + kField.size();
  return key.substr(name, key.find(' ', name) - name);
}

std::size_t forget_deaths(Store& store, const std::string& backend) {
  std::size_t count = 0;
  for (const auto& [key, cost] : store.costs_like(" backend=" + backend)) {
    const auto* refused = std::get_if<Infeasible>(&cost);
    if (refused == nullptr || !is_death(refused->refusal.reason) || !is_instance_of(backend_in(key), backend)) continue;
    store.remove_cost(key);
    ++count;
  }
  return count;
}

}  // namespace

std::string operators_of(const Graph& graph, const Region& region) {
  std::set<std::string> names;
  for (const std::size_t n : region.nodes.members()) {
    const Node& node = graph.nodes[n];
    names.insert(node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type);
  }
  return fmt::format("{}", fmt::join(names, "+"));
}

void Strikes::add(const BackendInfo& backend, const std::string& operators, const Refusal& why) {
  if (!is_death(why.reason)) return;
  if (why.reason == RefusalReason::kTimeout) ++hangs_[backend.name];
  const std::string key = key_of(backend.name, backend.build, operators);
  Strike strike;
  if (const auto stored = store_.verdict(key)) strike = strike_from(*stored).value_or(strike);
  strike = {.backend = backend.name,
            .build = backend.build,
            .operators = operators,
            .count = strike.count + 1,
            .last = fmt::format("{}: {}", name_of(why.reason), why.detail)};
  store_.put_verdict(key, to_line(to_json(strike)));
}

std::optional<Refusal> Strikes::block_of(const BackendInfo& backend, const std::string& operators) {
  if (const auto hangs = hangs_.find(backend.name); hangs != hangs_.end() && hangs->second >= kMostHangs)
    return Refusal{.reason = RefusalReason::kTimeout,
                   .detail = fmt::format("not tried: {} hung {} times already", backend.name, hangs->second)};
  const auto stored = store_.verdict(key_of(backend.name, backend.build, operators));
  const auto strike = stored ? strike_from(*stored) : std::nullopt;
  if (!strike || strike->count < kMostStrikes) return std::nullopt;
  return Refusal{.reason = RefusalReason::kCrashed,
                 .detail = fmt::format("not tried: {} crashed or hung {} times on {}, the last time: {}; "
                                       "collage backends --lift {} allows it again",
                                       backend.name, strike->count, operators, strike->last, backend.name)};
}

std::vector<Strike> strikes_in(Store& store) {
  std::vector<Strike> found;
  for (const auto& [key, text] : store.verdicts_like(kPrefix))
    if (auto strike = strike_from(text)) found.push_back(*std::move(strike));
  return found;
}

std::size_t lift_strikes(Store& store, const std::string& backend, const std::string& operators) {
  std::size_t count = 0;
  for (const Strike& strike : strikes_in(store)) {
    if (!is_instance_of(strike.backend, backend) || (!operators.empty() && strike.operators != operators)) continue;
    store.remove(key_of(strike.backend, strike.build, strike.operators));
    ++count;
  }
  return operators.empty() ? count + forget_deaths(store, backend) : count;
}

}  // namespace collage
