#include "tune/price/pricing.h"

#include <algorithm>
#include <iterator>

#include "region/weight_bytes.h"
#include "timing/displacer.h"
#include "tune/price/lazy_pricing.h"
#include "tune/price/making.h"

namespace collage {
namespace {

constexpr int kMostSearches = 24;
/// Of the time for measuring, for what comes after the samples; at least so many seconds, but no more than half of it:
/// verifying the steps of a cover takes a while even when there are few samples to choose from.
constexpr double kTimingShare = 0.2;
constexpr double kLeastTimingSeconds = 4;
/// Of that time: what has to be left for samples to be taken after the cover is measured.
constexpr double kLeastResumedShare = 0.05;

PricerOptions pricer_options(const PricingOptions& options, const Graph& graph) {
  PricerOptions result;
  result.displaced_bytes = displaced_bytes(weight_bytes(graph), cache_sizes());
  result.measure = options.measure;
  result.graph = options.files;
  result.repros = options.repros;
  return result;
}

/// When this share of the time until the deadline is over.
Clock::time_point after(Clock::time_point deadline, double share) {
  if (deadline == Clock::time_point::max()) return deadline;
  const Clock::time_point now = Clock::now();
  return now + std::chrono::duration_cast<Clock::duration>(share * (deadline - now));
}

/// When samples are taken of the time until a deadline.
class SamplingTime {
 public:
  explicit SamplingTime(Clock::time_point deadline)
      : deadline_(deadline), until_(deadline), least_s_(kLeastResumedShare * left_s()) {
    if (deadline != Clock::time_point::max())
      end_after(left_s() - std::max(kTimingShare * left_s(), kLeastTimingSeconds));
  }

  [[nodiscard]] double sampling_left_s() const { return Seconds(until_ - Clock::now()).count(); }

  [[nodiscard]] bool is_over() const { return Clock::now() > until_; }

  /// For half of the time that is left. False where that is little.
  bool resume() {
    if (!is_over() || left_s() < least_s_) return false;
    end_after(0);
    return true;
  }

 private:
  [[nodiscard]] double left_s() const { return std::max(0.0, Seconds(deadline_ - Clock::now()).count()); }
  /// At the earliest in half of the time that is left.
  void end_after(double seconds) {
    const Seconds from_now(std::max(seconds, left_s() / 2));
    until_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(from_now);
  }

  Clock::time_point deadline_;
  Clock::time_point until_;
  double least_s_;
};

std::vector<std::string> without_compilers(std::vector<std::string> names, Registry& registry) {
  std::erase_if(names, [&](const std::string& name) { return making_of(registry, name) == Making::kCompiler; });
  return names;
}

}  // namespace

Pricing::Pricing(PricingOptions options, const Graph& graph, Registry& registry, Store& store)
    : registry_(registry),
      free_borders_(options.free_borders),
      pricer_(std::make_unique<Pricer>(pricer_options(options, graph), registry, store)),
      candidates_(options, graph, *pricer_),
      conversions_(graph, options.converters, without_compilers(options.converters, registry),
                   std::move(options.locations)),
      artifacts_(graph, registry, *pricer_) {}

Result<std::vector<Cost>> Pricing::price(const CandidatePool& pool, const MeasureLimits& limits,
                                         std::vector<Cost> known) {
  return candidates_.price(pool, limits, std::move(known));
}

Result<std::vector<Cost>> Pricing::price_variants(const Region& region, const std::string& backend,
                                                  const std::vector<Variant>& variants, const MeasureLimits& limits) {
  return candidates_.price_variants(region, backend, variants, limits);
}

Result<LazyPrices> Pricing::price_lazily(CoverRequest request, CostBounds& bounds, const MeasureLimits& limits) {
  request.conversions = boundary_table();
  const CandidatePool& pool = *request.pool;
  LazyPrices prices;
  LazyMeasuring measuring;
  measuring.candidates = [&](const std::vector<std::size_t>& asked, Effort effort) {
    prices.asked.insert(prices.asked.end(), asked.begin(), asked.end());
    return candidates_.price_some(pool, asked, effort, limits);
  };
  measuring.conversions = [&](const std::vector<NamedCover>& covers, Effort effort, std::int64_t least_ns) {
    return conversions_.measure(covers, limits, *pricer_, effort, least_ns);
  };
  measuring.is_made_slowly = [&](std::size_t c) {
    return making_of(registry_, pool.candidates[c].backend) != Making::kQuick;
  };
  measuring.least_saving = limits.least_saving;
  SamplingTime sampling(limits.deadline);
  measuring.is_sampling_over = [&sampling] { return sampling.is_over(); };
  measuring.sampling_left_s = [&sampling] { return sampling.sampling_left_s(); };
  measuring.is_sampling_resumed = [&sampling] { return sampling.resume(); };
  measuring.most_nodes = [&] { return candidates_.most_nodes(limits); };
  measuring.is_stopped = [&] { return limits.stop.stop_requested(); };
  measuring.is_over = [&] { return Clock::now() > limits.latest; };
  measuring.progress = [&](std::size_t measured) { candidates_.report_progress(measured, pool.candidates.size()); };
  measuring.is_half_over = [half = after(limits.deadline, 0.5)] { return Clock::now() > half; };
  measuring.gained = [&](std::int64_t halfway_ns, std::int64_t best_ns) {
    prices.second_half_gain = 1 - static_cast<double>(best_ns) / static_cast<double>(halfway_ns);
  };
  COLLAGE_TRY(prices.costs, collage::price_lazily(std::move(request), bounds, measuring));
  return prices;
}

Result<std::vector<NamedCover>> Pricing::search(CoverRequest incomplete, const MeasureLimits& limits) {
  const CoverRequest request = completed(std::move(incomplete));
  return until_measured([&] { return covers_to_confirm(request); }, limits);
}

Result<std::vector<NamedCover>> Pricing::until_measured(const FindCovers& find, const MeasureLimits& limits) {
  for (int round = 0;; ++round) {
    COLLAGE_TRY(std::vector<NamedCover> covers, find());
    COLLAGE_TRY(const std::size_t priced, conversions_.measure(covers, limits, *pricer_));
    if (priced == 0 || round == kMostSearches || limits.stop.stop_requested()) return covers;
  }
}

Result<SearchResult> Pricing::best(CoverRequest request) {
  const CoverRequest whole = completed(std::move(request));
  return best_cover(whole, whole.backends);
}

Result<SearchResult> Pricing::best_measured(const CoverRequest& request, const MeasureLimits& limits) {
  const auto find = [&]() -> Result<std::vector<NamedCover>> {
    COLLAGE_TRY(SearchResult found, best(request));
    return std::vector<NamedCover>{{.name = "best", .result = std::move(found)}};
  };
  COLLAGE_TRY(std::vector<NamedCover> covers, until_measured(find, limits));
  return std::move(covers.front().result);
}

namespace {

/// One nanosecond in place of a cost, measured if that was: 0 would mean that nothing is done.
void make_free(Cost& cost) {
  if (nanoseconds_of(cost).value_or(0) == 0) return;
  if (auto* const measured = std::get_if<Measured>(&cost))
    *measured = {.median_ns = 1, .low_ns = 1, .high_ns = 1, .samples = measured->samples};
  else
    std::get<Estimated>(cost).ns = 1;
}

}  // namespace

BoundaryTable Pricing::boundary_table() {
  BoundaryTable table = conversions_.table();
  if (!free_borders_) return table;
  return [table = std::move(table)](ValueId value, const Place& from, const Place& to) {
    std::optional<BoundaryChoice> choice = table(value, from, to);
    if (choice) make_free(choice->cost);
    return choice;
  };
}

CoverRequest Pricing::completed(CoverRequest request) {
  request.conversions = boundary_table();
  request.costs = without_broken(*request.pool, std::move(request.costs));
  return request;
}

Result<std::int64_t> Pricing::proven_bound(CoverRequest request, const CostBounds& bounds) {
  request.conversions = boundary_table();
  for (std::size_t c = 0; c < request.costs.size(); ++c)
    request.least_ns.push_back(bounds.roofline(request.pool->candidates[c].region));
  return proven_bound_ns(request);
}

Result<std::vector<Artifact>> Pricing::artifacts(const Cover& cover, const ArtifactLimits& limits) {
  return artifacts_.make(cover, limits, conversions_);
}

}  // namespace collage
