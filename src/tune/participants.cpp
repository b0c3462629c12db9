#include "tune/participants.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/roles.h"
#include "base/hash.h"
#include "region/instance_name.h"
#include "tune/confirm/whole_model.h"
#include "tune/rehearsal.h"

namespace collage {
namespace {

std::string why(const Refusal& refusal) { return fmt::format("{}: {}", name_of(refusal.reason), refusal.detail); }

/// A rule of the user's about a backend or device that takes no part would do nothing.
Result<void> check_take_part(const std::vector<NodeRule>& rules, Registry& registry,
                             const std::vector<std::string>& proposing) {
  const auto takes_part = [&](const std::string& name) {
    return name == kControlBackend || !backends_on(name, registry, proposing).empty() ||
           std::ranges::any_of(proposing, [&](const std::string& instance) { return is_instance_of(instance, name); });
  };
  for (const NodeRule& rule : rules)
    if (!takes_part(rule.backend))
      return fail(ExitCode::kUsage, "tune/bad-rule", rule.kind == NodeRule::Kind::kBan ? "--ban" : "--pin",
                  rule.glob + "=" + rule.backend + ", a backend that takes no part",
                  fmt::format("one of {}", fmt::join(proposing, ", ")));
  return {};
}

}  // namespace

Result<void> Participants::choose() {
  COLLAGE_TRY_VOID(probe_all());
  for (const std::string& name : options_.required)
    if (const auto backend = registry_.get(name); !backend && backends_on(name, registry_, options_.backends).empty())
      return std::unexpected(backend.error());
  std::vector<std::string> wanted = options_.backends;
  if (options_.only) {
    const std::vector<std::string> on_device = backends_on(*options_.only, registry_, options_.backends);
    wanted = on_device.empty() ? std::vector{*options_.only} : on_device;
  }
  for (const std::string& name : wanted) {
    if (name == kHostBackend) continue;
    const auto backend = registry_.get(name);
    if (backend) {
      backends_.push_back(name);
    } else if (options_.only) {
      return std::unexpected(backend.error());
    } else {
      absent_[name] = backend.error().saw;
      notes_.push_back(name + " takes no part: " + to_string(backend.error()));
    }
  }
  gather_proposing();
  COLLAGE_TRY_VOID(check_take_part(options_.rules, registry_, proposing_));
  // The probe loaded all of them into one process.
  if (!conflicts().empty()) worker_.stop();
  return {};
}

void Participants::gather_proposing() {
  locations_ = locations_of(registry_, backends_);
  proposing_ = backends_;
  proposing_.insert(proposing_.begin(), kHostBackend);
  if (std::ranges::find(proposing_, kFillerEngine) == proposing_.end() && registry_.get(kFillerEngine))
    proposing_.emplace_back(kFillerEngine);
}

Result<void> Participants::probe_all() {
  std::vector<std::string> names = options_.backends;
  names.insert(names.end(), options_.required.begin(), options_.required.end());
  if (options_.only) names.push_back(*options_.only);
  names.emplace_back(kFillerEngine);
  for (const NodeRule& rule : options_.rules) names.push_back(rule.backend);
  return probe(std::move(names));
}

Result<void> Participants::probe(std::vector<std::string> names) {
  std::erase_if(names, [&](const std::string& name) {
    return name == kHostBackend || name == kControlBackend || !probed_.insert(name).second;
  });
  COLLAGE_TRY(const auto bad, collage::rehearse(worker_, {.backends = names,
                                                          .graph_file = {},
                                                          .compile = compile_options(),
                                                          .limit = options_.compile_limit,
                                                          .stop = options_.stop}));
  for (const auto& [name, refusal] : bad) registry_.exclude(name, why(refusal));
  return {};
}

CompileOptions Participants::compile_options() const {
  return {.threads = options_.threads, .accuracy = options_.accuracy};
}

Result<void> Participants::rehearse(const Prepared& prepared) {
  const std::string graph = structure_key(prepared.graph, whole_region(prepared.graph, uses_of(prepared.graph)));
  const auto key_of = [&](const std::string& name) {
    const BackendInfo& info = (*registry_.get(name))->info();
    return fmt::format("rehearsed backend={} build={} graph={}", info.name, info.build, hash_hex(graph));
  };
  std::vector<std::string> names = proposing_;
  std::erase_if(
      names, [&](const std::string& name) { return name == kHostBackend || store_.verdict(key_of(name)).has_value(); });
  COLLAGE_TRY(const auto bad, collage::rehearse(worker_, {.backends = names,
                                                          .graph_file = prepared.graph_file,
                                                          .compile = compile_options(),
                                                          .limit = options_.compile_limit,
                                                          .stop = options_.stop}));
  if (options_.stop.stop_requested()) return {};
  for (const std::string& name : names) {
    const auto refusal = bad.find(name);
    if (refusal == bad.end())
      store_.put_verdict(key_of(name), "\"went well\"");
    else
      leave_out(name, refusal->second);
  }
  return {};
}

void Participants::leave_out(const std::string& name, const Refusal& refusal) {
  absent_[name] = why(refusal);
  registry_.exclude(name, absent_[name]);
  notes_.push_back(name + " takes no part: " + absent_[name]);
  std::erase(backends_, name);
  gather_proposing();
}

Result<void> Participants::gather_rules(const Prepared& prepared) {
  rules_ = options_.rules;
  const auto carried = prepared.imported.metadata.find(kPinMetadata);
  const bool user_pins = std::ranges::any_of(rules_, [](const NodeRule& r) { return r.kind == NodeRule::Kind::kPin; });
  if (carried != prepared.imported.metadata.end() && user_pins) {
    notes_.push_back("the model's own pins give way to --pin");
  } else if (carried != prepared.imported.metadata.end()) {
    COLLAGE_TRY(const std::vector<NodeRule> pins, parse_pins(carried->second));
    for (const NodeRule& pin : pins) COLLAGE_TRY_VOID(take_pin(pin, prepared.graph));
  }
  COLLAGE_TRY_VOID(resolve_devices(registry_, proposing_, rules_));
  return check_rules(prepared.graph, rules_);
}

Result<void> Participants::take_pin(const NodeRule& pin, const Graph& graph) {
  COLLAGE_TRY_VOID(probe({pin.backend}));
  const bool is_here = registry_.get(pin.backend) || !backends_on(pin.backend, registry_, proposing_).empty();
  const bool names_a_node = check_rules(graph, {&pin, 1}).has_value();
  if (is_here && names_a_node)
    rules_.push_back(pin);
  else
    notes_.push_back(fmt::format("the model's pin {}={} is left out: {}", pin.glob, pin.backend,
                                 is_here ? "it names no node" : "that backend is not here"));
  return {};
}

std::vector<std::pair<std::string, std::string>> Participants::conflicts() const {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& a : proposing_)
    for (const std::string& b : proposing_) {
      const auto first = registry_.get(a);
      const auto second = registry_.get(b);
      if (!first || !second || a == b) continue;
      const std::vector<std::string>& enemies = (*first)->info().conflicts_with;
      if (std::ranges::find(enemies, (*second)->info().kind) != enemies.end()) pairs.emplace_back(a, b);
    }
  return pairs;
}

}  // namespace collage
