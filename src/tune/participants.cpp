#include "tune/participants.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/extensions/export_extension.h"
#include "backend/roles.h"
#include "base/hash.h"
#include "region/instance_name.h"
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

std::vector<std::pair<std::string, std::string>> conflicts_among(const std::vector<std::string>& names,
                                                                 Registry& registry) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& a : names)
    for (const std::string& b : names) {
      const auto first = registry.get(a);
      const auto second = registry.get(b);
      if (!first || !second || a == b) continue;
      const std::vector<std::string>& enemies = (*first)->info().conflicts_with;
      if (std::ranges::find(enemies, (*second)->info().kind) != enemies.end()) pairs.emplace_back(a, b);
    }
  return pairs;
}

/// A library of one model holds no others; what they would run is timed as a rival only.
void leave_out_unlinkable(Registry& registry, Participants& who) {
  std::erase_if(who.backends, [&](const std::string& name) {
    const auto backend = registry.get(name);
    if (backend && extension_of<ExportExtension>(**backend) != nullptr) return false;
    who.notes.push_back(name + " runs no nodes: it is no part of a library (--deploy library)");
    return true;
  });
}

/// What follows from `who.backends`.
void gather_proposing(Participants& who, Registry& registry, bool for_library) {
  who.locations = locations_of(registry, who.backends);
  who.proposing = who.backends;
  who.proposing.insert(who.proposing.begin(), kHostBackend);
  if (!for_library && std::ranges::find(who.proposing, kFillerEngine) == who.proposing.end() &&
      registry.get(kFillerEngine))
    who.proposing.emplace_back(kFillerEngine);
  std::vector<std::string> together = who.proposing;
  for (const std::string& rival : who.rivals)
    if (std::ranges::find(together, rival) == together.end()) together.push_back(rival);
  who.conflicts = conflicts_among(together, registry);
}

void leave_out(const std::string& name, const Refusal& refusal, Registry& registry, bool for_library,
               Participants& who) {
  who.absent[name] = why(refusal);
  registry.exclude(name, who.absent[name]);
  who.notes.push_back(name + " takes no part: " + who.absent[name]);
  std::erase(who.backends, name);
  std::erase(who.rivals, name);
  gather_proposing(who, registry, for_library);
}

RehearsalRequest request_for(std::vector<std::string> names, std::string graph_file, const TuneOptions& options,
                             const MeasureEnv& env) {
  return {.backends = std::move(names),
          .graph_file = std::move(graph_file),
          .folder = env.folder.path(),
          .compile = options.compile(),
          .limit = options.compile_limit,
          .stop = env.stop};
}

/// Tries in the worker those that were not tried yet.
Result<void> probe(std::vector<std::string> names, const TuneOptions& options, const MeasureEnv& env,
                   Participants& who) {
  std::erase_if(names, [&](const std::string& name) {
    return name == kHostBackend || name == kControlBackend || !who.probed.insert(name).second;
  });
  COLLAGE_TRY(const Rehearsed tried, rehearse(env.worker, request_for(std::move(names), {}, options, env)));
  for (const auto& [name, refusal] : tried.refused) env.registry.exclude(name, why(refusal));
  return {};
}

/// Engines as they compute when left alone: rivals in accuracy class fast.
std::vector<std::string> at_default_precision(const TuneOptions& options) {
  std::vector<std::string> instances;
  if (options.accuracy != Accuracy::kFast) return instances;
  for (const DefaultPrecision& one : kDefaultPrecisions)
    if (!options.only && std::ranges::find(options.backends, one.engine) != options.backends.end())
      instances.emplace_back(one.instance);
  return instances;
}

std::vector<std::string> named_in(const TuneOptions& options) {
  std::vector<std::string> names = options.backends;
  for (const std::string& rival : at_default_precision(options)) names.push_back(rival);
  names.insert(names.end(), options.required.begin(), options.required.end());
  if (options.only) names.push_back(*options.only);
  names.emplace_back(kFillerEngine);
  for (const NodeRule& rule : options.rules) names.push_back(rule.backend);
  return names;
}

Result<void> rehearse_graph(const Prepared& prepared, const TuneOptions& options, const MeasureEnv& env,
                            Participants& who) {
  const std::string graph = structure_key(prepared.graph, whole_region(prepared.graph, uses_of(prepared.graph)));
  const auto key_of = [&](const std::string& name) {
    const BackendInfo& info = (*env.registry.get(name))->info();
    return fmt::format("rehearsed backend={} build={} graph={}", info.name, info.build, hash_hex(graph));
  };
  std::vector<std::string> names = who.proposing;
  std::erase_if(names, [&](const std::string& name) {
    return name == kHostBackend || env.store.verdict(key_of(name)).has_value();
  });
  RehearsalRequest request = request_for(names, prepared.graph_file, options, env);
  request.record_file = prepared.record;
  COLLAGE_TRY(Rehearsed tried, rehearse(env.worker, request));
  if (env.stop.stop_requested()) return {};
  who.proposals = std::move(tried.proposals);
  for (const std::string& name : names) {
    const auto refusal = tried.refused.find(name);
    if (refusal == tried.refused.end())
      env.store.put_verdict(key_of(name), "\"went well\"");
    else
      leave_out(name, refusal->second, env.registry, options.for_library, who);
  }
  return {};
}

/// A pin that the model carries itself counts where its backend and its nodes are here.
Result<void> take_pin(const NodeRule& pin, const Prepared& prepared, const TuneOptions& options, const MeasureEnv& env,
                      Participants& who) {
  COLLAGE_TRY_VOID(probe({pin.backend}, options, env, who));
  const bool is_here = env.registry.get(pin.backend) || !backends_on(pin.backend, env.registry, who.proposing).empty();
  const bool names_a_node = check_rules(prepared.graph, {&pin, 1}).has_value();
  if (is_here && names_a_node)
    who.rules.push_back(pin);
  else
    who.notes.push_back(fmt::format("the model's pin {}={} is left out: {}", pin.glob, pin.backend,
                                    is_here ? "it names no node" : "that backend is not here"));
  return {};
}

Result<void> gather_rules(const Prepared& prepared, const TuneOptions& options, const MeasureEnv& env,
                          Participants& who) {
  who.rules = options.rules;
  const auto carried = prepared.imported.metadata.find(kPinMetadata);
  const bool has_pins = carried != prepared.imported.metadata.end();
  const bool user_pins =
      std::ranges::any_of(who.rules, [](const NodeRule& r) { return r.kind == NodeRule::Kind::kPin; });
  if (has_pins && user_pins) {
    who.notes.emplace_back("the model's own pins give way to --pin");
  } else if (has_pins) {
    COLLAGE_TRY(const std::vector<NodeRule> pins, parse_pins(carried->second));
    for (const NodeRule& pin : pins) COLLAGE_TRY_VOID(take_pin(pin, prepared, options, env, who));
  }
  COLLAGE_TRY_VOID(resolve_devices(env.registry, who.proposing, who.rules));
  return check_rules(prepared.graph, who.rules);
}

}  // namespace

Result<Participants> choose_participants(const TuneOptions& options, const MeasureEnv& env) {
  Participants who;
  Registry& registry = env.registry;
  COLLAGE_TRY_VOID(probe(named_in(options), options, env, who));
  for (const std::string& name : options.required)
    if (const auto backend = registry.get(name); !backend && backends_on(name, registry, options.backends).empty())
      return std::unexpected(backend.error());
  std::vector<std::string> wanted = options.backends;
  if (options.only) {
    const std::vector<std::string> on_device = backends_on(*options.only, registry, options.backends);
    wanted = on_device.empty() ? std::vector{*options.only} : on_device;
  }
  for (const std::string& name : wanted) {
    if (name == kHostBackend) continue;
    const auto backend = registry.get(name);
    if (backend) {
      who.backends.push_back(name);
    } else if (options.only) {
      return std::unexpected(backend.error());
    } else {
      who.absent[name] = backend.error().saw;
      who.notes.push_back(name + " takes no part: " + to_string(backend.error()));
    }
  }
  who.rivals = who.backends;
  for (const std::string& rival : at_default_precision(options))
    if (registry.get(rival)) who.rivals.push_back(rival);
  if (options.for_library) leave_out_unlinkable(registry, who);
  gather_proposing(who, registry, options.for_library);
  COLLAGE_TRY_VOID(check_take_part(options.rules, registry, who.proposing));
  // The probe loaded all of them into one process.
  if (!who.conflicts.empty()) env.worker.stop();
  return who;
}

Result<Participants> rehearsed(Participants who, const Prepared& prepared, const TuneOptions& options,
                               const MeasureEnv& env) {
  COLLAGE_TRY_VOID(rehearse_graph(prepared, options, env, who));
  COLLAGE_TRY_VOID(gather_rules(prepared, options, env, who));
  COLLAGE_TRY_VOID(check_user_rules(prepared.graph, uses_of(prepared.graph), options.user_rules, who.proposing));
  return who;
}

}  // namespace collage
