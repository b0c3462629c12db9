#include "tune/price/lazy_pricing.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include "tune/price/hoped_gains.h"
#include "tune/price/lazy_costs.h"

namespace collage {
namespace {

/// Computations asked for at once; between them the deadline is looked at.
constexpr std::size_t kChunk = 16;
/// Regions that should take this part of the best cover's time are sampled where that should save enough: of so many
/// nodes at once forecasts are the least certain.
constexpr double kLong = 0.3;
/// A search on the way makes at most the states of the last one divided by this.
constexpr std::size_t kStatesShare = 4;
/// States that trials may make for each computation measured: a small part of the time that measuring took.
constexpr std::size_t kStatesPerMeasured = 2000;
/// Computations that count as measured from the beginning: where a whole engine looks best nothing else was, and what
/// is hoped for is all there is to try.
constexpr std::size_t kMeasuredAtFirst = 16;
/// Where forecasts with optimism find a cover that is better than the best known one by less than this part, optimism
/// has served.
constexpr double kGap = 0.01;
/// Covers that should take so many times as long as the best one are not sampled for their own sake.
constexpr double kFarBehind = 1.3;
/// Forecasts are made anew when this part was learnt since.
constexpr double kNews = 0.01;
/// Samples below this part of the best cover's time do for a while: how short they are decides little.
constexpr double kShort = 0.003;
constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();

class LazyPricer {
 public:
  LazyPricer(CoverRequest request, CostBounds& bounds, const LazyMeasuring& measuring)
      : request_(std::move(request)),
        measuring_(measuring),
        costs_(*request_.graph, *request_.pool, bounds, std::move(request_.costs)) {
    request_.search.max_states = std::min(request_.search.max_states / kStatesShare, kMostTrialStates);
  }

  Result<std::vector<Cost>> run() {
    first_cover_ = FirstCover{.left_at_begin_s = measuring_.sampling_left_s()};
    COLLAGE_TRY_VOID(ask_until_known(Covers::kBest, Forecast::kExpected, Effort::kSample));
    first_cover_.reset();
    went_past_first_cover_ = !has_ended() && !keeps_to_known();
    COLLAGE_TRY_VOID(sample_and_measure(true));
    for (bool has_news = true; has_news && !has_ended() && measuring_.is_sampling_resumed();) {
      const std::size_t before = costs_.measured_count();
      COLLAGE_TRY_VOID(sample_and_measure(false));
      has_news = costs_.measured_count() > before;
    }
    tell_gain();
    if (has_known_cover() || measuring_.is_stopped() || !measuring_.is_over()) return costs_.known();
    forecast(Forecast::kExpected);
    return std::move(request_.costs);
  }

 private:
  /// How sampling the cover that is expected to be best goes on.
  struct FirstCover {
    double left_at_begin_s = 0;     ///< of the time for samples
    std::ptrdiff_t slow_asked = 0;  ///< of candidates that are made slowly
    bool is_late = false;
  };

  /// The best; those that are entered first; all that are confirmed.
  enum class Covers : std::uint8_t { kBest, kFirst, kAll };

  /// Until nothing that is not sampled promises a better cover, and the best one is measured.
  Result<void> sample_and_measure(bool is_first) {
    COLLAGE_TRY_VOID(ask_until_known(Covers::kBest, Forecast::kOpenMinded, Effort::kSample));
    COLLAGE_TRY_VOID(ask_until_known(Covers::kFirst, Forecast::kExpected, Effort::kSample));
    for (bool goes_on = true; goes_on; is_first = false) {
      COLLAGE_TRY_VOID(ask_until_known(Covers::kBest, Forecast::kExpected, Effort::kTime, kShort));
      const std::size_t before = costs_.measured_count();
      if (is_first && !has_ended() && !keeps_to_known()) COLLAGE_TRY_VOID(try_long_regions());
      COLLAGE_TRY_VOID(try_hopes());
      goes_on = costs_.measured_count() > before;
    }
    COLLAGE_TRY_VOID(ask_until_known(Covers::kAll, Forecast::kExpected, Effort::kSample));
    return ask_until_known(Covers::kBest, Forecast::kExpected, Effort::kTime);
  }

  /// Whether each node is in a candidate with a cost: cheap to know, and else there is no cover.
  [[nodiscard]] bool takes_all(const std::vector<Cost>& costs) const {
    NodeSet taken(request_.graph->nodes.size());
    for (std::size_t c = 0; c < costs.size(); ++c)
      if (nanoseconds_of(costs[c])) taken |= request_.pool->regions[request_.pool->candidates[c].region].nodes;
    return taken.count() == request_.graph->nodes.size();
  }
  [[nodiscard]] Result<SearchResult> best_with(std::vector<Cost> costs) const {
    CoverRequest request = request_;
    request.costs = std::move(costs);
    return best_cover(request, request.backends);
  }
  [[nodiscard]] bool has_cover(std::vector<Cost> costs) const {
    return takes_all(costs) && best_with(std::move(costs)).has_value();
  }
  /// What was sampled is compiled; a forecast in a cover would have to be compiled when the time is over.
  [[nodiscard]] bool has_known_cover() {
    has_known_cover_ = has_known_cover_ || has_cover(costs_.known());
    return has_known_cover_;
  }

  /// The time left is for measuring what is known. Without a cover of that, samples come first.
  [[nodiscard]] bool keeps_to_known() { return measuring_.is_sampling_over() && has_known_cover(); }

  /// Past the deadline, a cover that is known is made; the smallest candidates are measured only until there is one.
  [[nodiscard]] bool has_ended() {
    return measuring_.is_stopped() || measuring_.is_over() || (measuring_.most_nodes() < kAnySize && has_known_cover());
  }

  [[nodiscard]] std::ptrdiff_t slow_among(std::span<const std::size_t> candidates) const {
    return std::ranges::count_if(candidates, measuring_.is_made_slowly);
  }
  [[nodiscard]] bool is_late() const { return first_cover_ && first_cover_->is_late; }
  /// Whether it turns out that making these as slowly as those before would take longer than there is time for samples.
  /// From then on what is sampled for the first cover is made at once.
  bool becomes_late(std::span<const std::size_t> rest) {
    if (!first_cover_ || first_cover_->is_late || first_cover_->slow_asked == 0) return false;
    const double left_s = measuring_.sampling_left_s();
    const double each_s = (first_cover_->left_at_begin_s - left_s) / static_cast<double>(first_cover_->slow_asked);
    first_cover_->is_late = each_s * static_cast<double>(slow_among(rest)) > left_s;
    return first_cover_->is_late;
  }

  /// Samples of what nothing is known of, measurements of the others. How many: not what is too large by now.
  Result<std::size_t> ask_for(const std::vector<std::size_t>& open, Effort effort = Effort::kSample) {
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < open.size() && !has_ended(); begin += kChunk) {
      if (effort == Effort::kSample && keeps_to_known()) break;
      if (becomes_late({open.begin() + static_cast<std::ptrdiff_t>(begin), open.end()})) break;
      std::vector<std::size_t> asked;
      for (std::size_t i = begin; i < std::min(open.size(), begin + kChunk); ++i)
        if (costs_.is_small_enough(open[i], measuring_.most_nodes())) asked.push_back(open[i]);
      count += asked.size();
      const auto seen = std::ranges::stable_partition(asked, [this](std::size_t c) { return costs_.is_unseen(c); });
      COLLAGE_TRY_VOID(ask({asked.begin(), seen.begin()}, Effort::kSample));
      COLLAGE_TRY_VOID(ask({seen.begin(), seen.end()}, Effort::kTime));
      if (first_cover_) first_cover_->slow_asked += slow_among(asked);
      measuring_.progress(costs_.measured_count());
      note_halfway();
    }
    return count;
  }

  void note_halfway() {
    if (known_halfway_.empty() && measuring_.is_half_over() && has_known_cover()) known_halfway_ = costs_.known();
  }
  /// Both covers by what is known at the end: a cover of samples looks faster than it is.
  void tell_gain() {
    if (known_halfway_.empty() || !went_past_first_cover_) return;
    std::vector<Cost> costs = costs_.known();
    const auto best = best_with(costs);
    for (std::size_t c = 0; c < known_halfway_.size(); ++c)
      if (!nanoseconds_of(known_halfway_[c])) costs[c] = known_halfway_[c];
    const auto halfway = best_with(std::move(costs));
    if (best && halfway) measuring_.gained(halfway->cover.cost_ns, best->cover.cost_ns);
  }

  Result<void> ask(const std::vector<std::size_t>& candidates, Effort effort) {
    if (candidates.empty()) return {};
    COLLAGE_TRY(const std::vector<Cost> priced, measuring_.candidates(candidates, effort));
    COLLAGE_CHECK(priced.size() == candidates.size(), "one cost for every candidate asked for");
    for (std::size_t i = 0; i < candidates.size(); ++i) costs_.learn(candidates[i], priced[i]);
    return {};
  }

  void forecast(Forecast kind) {
    costs_.fit();
    fitted_ = costs_.measured_count();
    request_.costs = costs_.forecast(kind, measuring_.most_nodes());
  }

  Result<std::vector<NamedCover>> covers_of(Covers which) {
    if (which == Covers::kAll) {
      COLLAGE_TRY(std::vector<NamedCover> covers, covers_to_confirm(request_));
      const double most_ns = kFarBehind * static_cast<double>(covers.front().result.cover.cost_ns);
      std::erase_if(covers,
                    [&](const NamedCover& named) { return static_cast<double>(named.result.cover.cost_ns) > most_ns; });
      return covers;
    }
    if (which == Covers::kFirst) {
      CoverRequest first = request_;
      first.best_alone = true;
      return covers_to_confirm(first);
    }
    COLLAGE_TRY(SearchResult best, best_cover(request_, request_.backends));
    return std::vector<NamedCover>{{"cover", std::move(best)}};
  }

  /// The same; where it is late, of what is made at once, if there are such covers.
  Result<std::vector<NamedCover>> covers_in_time(Covers which) {
    if (!is_late()) return covers_of(which);
    std::vector<Cost> costs = request_.costs;
    costs_.leave_out(costs_.slow_to_make(measuring_.is_made_slowly), request_.costs);
    auto quick = covers_of(which);
    if (quick) return quick;
    request_.costs = std::move(costs);
    return covers_of(which);
  }

  /// Without those that nothing is known of and that should save too little in place of the best known cover. All
  /// where there is no such cover; nothing where that one is about as good as these covers, whose costs are partly
  /// forecast.
  [[nodiscard]] std::vector<std::size_t> worth_knowing(std::vector<std::size_t> open,
                                                       const std::vector<NamedCover>& covers, Forecast kind) {
    if (!has_known_cover()) return open;
    const auto known = best_with(costs_.known());
    if (!known) return open;
    const auto known_ns = static_cast<double>(known->cover.cost_ns);
    if (kind == Forecast::kOpenMinded && static_cast<double>(best_ns_) >= (1 - kGap) * known_ns) return {};
    return costs_.worth_knowing(std::move(open), known->cover, covers, measuring_.least_saving * known_ns);
  }

  /// Until all is sampled, or measured, that takes at least this part of the time of the best of these covers.
  /// Only what should save enough is sampled. The rest is left out of the expected best cover, so that this one becomes
  /// known; in other covers it has its expected cost.
  Result<void> ask_until_known(Covers which, Forecast kind, Effort effort, double least_share = 0) {
    const bool leaves_out = which == Covers::kBest && kind == Forecast::kExpected;
    std::vector<std::size_t> declined;
    while (!has_ended()) {
      const bool keeps_to_known = this->keeps_to_known();
      if (effort == Effort::kSample && keeps_to_known) return {};
      forecast(kind);
      if (leaves_out)
        costs_.leave_out(declined, request_.costs);
      else
        costs_.put_expected(declined, request_.costs);
      const bool was_late = is_late();
      if (keeps_to_known) request_.costs = costs_.known();
      COLLAGE_TRY(const std::vector<NamedCover> covers, covers_in_time(which));
      best_ns_ = covers.front().result.cover.cost_ns;
      const auto least_ns = static_cast<std::int64_t>(least_share * static_cast<double>(best_ns_));
      const std::vector<std::size_t> open = costs_.open_in(covers, effort, least_ns);
      COLLAGE_TRY(const std::size_t conversions, measuring_.conversions(covers, effort, least_ns));
      if ((open.empty() && conversions == 0) || has_ended()) return {};
      const std::vector<std::size_t> worth = worth_knowing(open, covers, kind);
      const bool declines = leaves_out && worth.size() < open.size();
      std::ranges::set_difference(open, worth, std::back_inserter(declined));
      COLLAGE_TRY(const std::size_t asked, ask_for(worth, effort));
      if (asked == 0 && conversions == 0 && !declines && is_late() == was_late) return {};
    }
    return {};
  }

  Result<void> try_long_regions() {
    COLLAGE_TRY(const SearchResult best, best_cover(request_, request_.backends));
    const auto least_ns = static_cast<std::int64_t>(kLong * static_cast<double>(best.cover.cost_ns));
    const double least_saving_ns = measuring_.least_saving * static_cast<double>(best.cover.cost_ns);
    COLLAGE_TRY_VOID(ask_for(costs_.open_long(best.cover, least_ns, least_saving_ns)));
    return {};
  }

  // ---- hopes -----------------------------------------------------------------------------------------------
  Result<void> try_hopes() {
    if (!may_try()) return {};
    COLLAGE_TRY(const SearchResult best, best_cover(request_, request_.backends));
    const std::vector<std::size_t> open = costs_.open_by_saving(best.cover);
    for (std::size_t begin = 0; begin < open.size(); begin += kTogether)
      COLLAGE_TRY_VOID(try_together({open.data() + begin, std::min(kTogether, open.size() - begin)}));
    return {};
  }

  [[nodiscard]] bool may_try() {
    return !has_ended() && measuring_.most_nodes() == kAnySize &&
           states_ < kStatesPerMeasured * (kMeasuredAtFirst + costs_.measured_count()) && !keeps_to_known();
  }

  Result<Cover> best_of_trial(const CoverRequest& request) {
    COLLAGE_TRY(SearchResult best, best_cover(request, request_.backends));
    states_ += best.states;
    return std::move(best.cover);
  }

  Result<void> try_together(std::span<const std::size_t> open) {
    if (open.empty() || !may_try()) return {};
    CoverRequest hopeful = request_;
    costs_.lower_to_hope(open, hopeful.costs);
    COLLAGE_TRY(const Cover hoped, best_of_trial(hopeful));
    if (static_cast<double>(hoped.cost_ns) >= (1 - kGain) * static_cast<double>(best_ns_)) return {};
    if (open.size() > 1) {
      COLLAGE_TRY_VOID(try_together(open.first(open.size() / 2)));
      return try_together(open.subspan(open.size() / 2));
    }
    const double saving_ns = costs_.expected_saving(open.front(), hoped, best_ns_ - hoped.cost_ns);
    if (saving_ns < measuring_.least_saving * static_cast<double>(best_ns_)) return {};
    COLLAGE_TRY_VOID(ask_for({open.front()}));
    if (static_cast<double>(costs_.measured_count()) > (1 + kNews) * static_cast<double>(fitted_))
      forecast(Forecast::kExpected);
    else
      costs_.put_known(open.front(), request_.costs);
    COLLAGE_TRY(const Cover best, best_of_trial(request_));
    best_ns_ = best.cost_ns;
    return {};
  }

  CoverRequest request_;
  const LazyMeasuring& measuring_;
  LazyCosts costs_;
  std::int64_t best_ns_ = 0;               ///< of the best cover under request_.costs
  std::size_t fitted_ = 0;                 ///< measured when forecasts were made
  std::size_t states_ = 0;                 ///< made by trials
  std::optional<FirstCover> first_cover_;  ///< while it is sampled
  bool has_known_cover_ = false;           ///< any
  std::vector<Cost> known_halfway_;        ///< empty before
  bool went_past_first_cover_ = false;     ///< there was time for more than the first cover
};

}  // namespace

Result<std::vector<Cost>> price_lazily(CoverRequest request, CostBounds& bounds, const LazyMeasuring& measuring) {
  return LazyPricer(std::move(request), bounds, measuring).run();
}

}  // namespace collage
