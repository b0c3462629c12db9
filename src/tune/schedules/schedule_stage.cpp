#include "tune/schedules/schedule_stage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/json.h"
#include "store/strikes.h"
#include "tune/price/hoped_gains.h"
#include "tune/schedules/schedule_tuning.h"
#include "tune/schedules/stored_settings.h"
#include "tune/schedules/tunable_kernels.h"

namespace collage {
namespace {

/// The part of its time that a kernel may hope to take with other settings; never less than its roofline.
constexpr double kHopedTime = 0.6;
/// Near shapes whose best settings are tried first.
constexpr std::size_t kNear = 3;

std::optional<std::int64_t> measured_ns(const Cost& cost) {
  const auto* measured = std::get_if<Measured>(&cost);
  return measured != nullptr ? std::optional(measured->median_ns) : std::nullopt;
}

/// One reader for each backend.
class StoredByBackend {
 public:
  explicit StoredByBackend(const ScheduleContext& context) : context_(context) {}

  StoredSettings& of(const std::string& backend) {
    const auto found = stored_.find(backend);
    if (found != stored_.end()) return found->second;
    const BackendInfo& info = (*context_.registry.get(backend))->info();
    return stored_.emplace(backend, StoredSettings(context_.store, info, context_.pricing.context())).first->second;
  }

 private:
  const ScheduleContext& context_;
  std::map<std::string, StoredSettings> stored_;
};

/// The candidate of the group that runs the region.
const Candidate& candidate_at(const CandidatePool& pool, const KernelGroup& group, std::uint32_t region) {
  const auto found =
      std::ranges::find(group.candidates, region, [&](std::size_t c) { return pool.candidates[c].region; });
  COLLAGE_CHECK(found != group.candidates.end(), "a region without a candidate of its group");
  return pool.candidates[*found];
}

/// A candidate for each region of the group, with the same settings and cost.
void add_candidates(const ScheduleContext& context, const KernelGroup& group, const std::string& name,
                    const Cost& cost) {
  for (const std::uint32_t region : group.regions) {
    Variant variant = group.variant;
    variant.name = name;
    context.pool.candidates.push_back({.region = region,
                                       .backend = group.backend,
                                       .variant = std::move(variant),
                                       .matches = candidate_at(context.pool, group, region).matches,
                                       .origin = "tuned"});
    context.costs.push_back(cost);
  }
}

/// Runs one search over the kernels of a pool.
class ScheduleTuner {
 public:
  ScheduleTuner(const ScheduleContext& context, const ScheduleSearch& search)
      : context_(context), search_(search), stored_(context) {}

  Result<ScheduleReport> run() {
    const Clock::time_point begin = Clock::now();
    const double done = seconds_done();
    until_ = begin + std::chrono::duration_cast<Clock::duration>(Seconds(search_.seconds - done));
    if (is_over()) return std::move(report_);
    find_kernels();
    COLLAGE_TRY_VOID(ask_gains());
    COLLAGE_TRY(const bool finished, tune_kernels(kernels_, hands()));
    report_.seconds = Seconds(Clock::now() - begin).count();
    if (!search_.stop.stop_requested()) put_seconds_done(finished ? -1 : done + report_.seconds);
    COLLAGE_TRY(const SearchResult best, context_.pricing.best(search_.request()));
    report_.after_ns = best.cover.cost_ns;
    for (std::size_t k = 0; k < kernels_.size(); ++k) tell(k);
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool is_over() const { return search_.stop.stop_requested() || Clock::now() >= until_; }

  // ---- what was asked before -------------------------------------------------------------------------------
  [[nodiscard]] std::string question() const { return "schedules|" + hash_hex(search_.question); }

  /// Seconds that earlier tunes spent on the same question.
  [[nodiscard]] double seconds_done() const {
    const auto text = context_.store.verdict(question());
    if (!text) return 0;
    const auto json = parse_json(*text, "stored verdict");
    if (!json) return 0;
    const auto seconds = read_json("stored verdict", [&] { return json->at("seconds").get<double>(); });
    if (!seconds) return 0;
    return *seconds < 0 ? search_.seconds : *seconds;
  }

  /// Negative: nothing is left to try.
  void put_seconds_done(double seconds) { context_.store.put_verdict(question(), to_line(Json{{"seconds", seconds}})); }

  // ---- kernels ---------------------------------------------------------------------------------------------
  void find_kernels() {
    for (KernelGroup& group : kernel_groups(context_.graph, context_.pool, context_.registry, context_.compile)) {
      TunableKernel kernel{.space =
                               *space_of(context_.registry, context_.graph, context_.pool, group, context_.compile)};
      for (const std::size_t c : group.candidates)
        know(kernel, context_.pool.candidates[c].variant.name, context_.costs[c]);
      if (kernel.fastest.empty()) continue;
      StoredSettings& stored = stored_.of(group.backend);
      for (const auto& [name, cost] : stored.of(group.structure, group.variant)) know(kernel, name, cost);
      before_.push_back(kernel.ns);
      kernels_.push_back(std::move(kernel));
      groups_.push_back(std::move(group));
    }
  }

  static void know(TunableKernel& kernel, const std::string& name, const Cost& cost) {
    const auto ns = measured_ns(cost);
    if (!ns && !std::holds_alternative<Infeasible>(cost)) return;
    if (const auto settings = settings_of(kernel.space, name)) kernel.known.emplace_back(*settings, ns);
    if (!ns || *ns <= 0 || (!kernel.fastest.empty() && *ns >= kernel.ns)) return;
    kernel.ns = *ns;
    kernel.fastest = name;
  }

  [[nodiscard]] Hope hope_of(std::size_t k) const {
    const auto hoped = static_cast<std::int64_t>(kHopedTime * static_cast<double>(kernels_[k].ns));
    const std::int64_t least = search_.bounds != nullptr ? search_.bounds->roofline(groups_[k].regions[0]) : 0;
    return {.candidates = groups_[k].candidates, .ns = std::min(kernels_[k].ns, std::max(hoped, least))};
  }

  Result<void> ask_gains() {
    std::vector<Hope> hopes;
    for (std::size_t k = 0; k < kernels_.size(); ++k) hopes.push_back(hope_of(k));
    COLLAGE_TRY(const HopedGains found, gains(hopes));
    report_.before_ns = report_.after_ns = found.best_ns;
    for (std::size_t k = 0; k < kernels_.size(); ++k) kernels_[k].gain_ns = found.gains[k];
    return {};
  }

  Result<HopedGains> gains(std::span<const Hope> hopes) {
    return hoped_gains(context_.pricing.completed(search_.request()), hopes, [this] { return is_over(); });
  }

  // ---- the search's hands ----------------------------------------------------------------------------------
  KernelTuning hands() {
    return {.measure = [this](std::size_t k, const std::vector<std::string>& names) { return measure(k, names); },
            .improved = [this](std::size_t k) { return improved(k); },
            .near = [this](std::size_t k) { return near(k); },
            .is_over = [this] { return is_over(); },
            .seed = search_.seed};
  }

  Result<std::vector<Cost>> measure(std::size_t k, const std::vector<std::string>& names) {
    const KernelGroup& group = groups_[k];
    std::vector<Variant> variants(names.size(), group.variant);
    for (std::size_t i = 0; i < names.size(); ++i) variants[i].name = names[i];
    const Region region = region_of(context_.pool, candidate_at(context_.pool, group, group.regions[0]));
    COLLAGE_TRY(std::vector<Cost> costs,
                context_.pricing.price_variants(region, group.backend, variants,
                                                {.deadline = until_, .latest = until_, .stop = search_.stop}));
    StoredSettings& stored = stored_.of(group.backend);
    for (std::size_t i = 0; i < names.size(); ++i) {
      stored.note_cost(group.structure, variants[i], costs[i]);
      if (const auto ns = measured_ns(costs[i]); ns && *ns < kernels_[k].ns && (!fresh_ || *ns < *measured_ns(*fresh_)))
        fresh_ = costs[i];
    }
    asked_ += names.size();
    if (search_.progress) search_.progress({.phase = "schedules", .done = asked_, .total = 0, .note = {}});
    return costs;
  }

  Result<std::int64_t> improved(std::size_t k) {
    KernelGroup& group = groups_[k];
    const std::size_t first = context_.pool.candidates.size();
    add_candidates(context_, group, kernels_[k].fastest, *std::exchange(fresh_, std::nullopt));
    for (std::size_t c = first; c < context_.pool.candidates.size(); ++c) group.candidates.push_back(c);
    const Hope hope = hope_of(k);
    COLLAGE_TRY(const HopedGains found, gains({&hope, 1}));
    return found.gains[0];
  }

  std::vector<Settings> near(std::size_t k) {
    const KernelGroup& group = groups_[k];
    StoredSettings& stored = stored_.of(group.backend);
    stored.note_shape(group.structure, group.variant, kernels_[k].space.shape);
    std::vector<Settings> settings;
    for (const std::string& name : stored.near(group.structure, group.variant, kernels_[k].space.shape, kNear))
      if (const auto one = settings_of(kernels_[k].space, name)) settings.push_back(*one);
    return settings;
  }

  void tell(std::size_t k) {
    const TunableKernel& kernel = kernels_[k];
    if (kernel.tried == 0) return;
    report_.tried += kernel.tried;
    report_.refused += kernel.refused;
    report_.kernels.push_back({.operators = operators_of(context_.graph, context_.pool.regions[groups_[k].regions[0]]),
                               .backend = groups_[k].backend,
                               .variant = kernel.fastest,
                               .places = groups_[k].regions.size(),
                               .before_ns = before_[k],
                               .after_ns = kernel.ns,
                               .tried = kernel.tried,
                               .refused = kernel.refused});
  }

  const ScheduleContext& context_;
  const ScheduleSearch& search_;
  StoredByBackend stored_;
  Clock::time_point until_;
  std::vector<TunableKernel> kernels_;
  std::vector<KernelGroup> groups_;   ///< by kernel
  std::vector<std::int64_t> before_;  ///< their times before, by kernel
  std::optional<Cost> fresh_;         ///< of the last batch: the fastest, where it is faster than what was known
  std::size_t asked_ = 0;
  ScheduleReport report_;
};

}  // namespace

std::size_t add_known_schedules(const ScheduleContext& context) {
  context.costs.resize(context.pool.candidates.size(), Unknown{});
  StoredByBackend stored(context);
  std::size_t added = 0;
  for (const KernelGroup& group : kernel_groups(context.graph, context.pool, context.registry, context.compile)) {
    const StoredSettings::Known* fastest = &stored.of(group.backend).of(group.structure, group.variant);
    const auto least = std::ranges::min_element(*fastest, {}, [](const auto& one) {
      return measured_ns(one.second).value_or(std::numeric_limits<std::int64_t>::max());
    });
    if (least == fastest->end() || !measured_ns(least->second)) continue;
    const bool is_offered = std::ranges::any_of(
        group.candidates, [&](std::size_t c) { return context.pool.candidates[c].variant.name == least->first; });
    if (is_offered) continue;
    add_candidates(context, group, least->first, least->second);
    added += group.regions.size();
  }
  return added;
}

Result<ScheduleReport> tune_schedules(const ScheduleContext& context, const ScheduleSearch& search) {
  return ScheduleTuner(context, search).run();
}

}  // namespace collage
