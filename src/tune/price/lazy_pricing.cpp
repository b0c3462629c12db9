#include "tune/price/lazy_pricing.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "tune/price/hoped_gains.h"
#include "tune/price/lazy_costs.h"
#include "tune/price/making_order.h"

namespace collage {
namespace {

/// Regions that should take this part of the best cover's time are sampled where that should save enough: of so many
/// nodes at once forecasts are the least certain.
constexpr double kLong = 0.3;
/// Algorithms are tried of which forecasts know little, and which could compute steps that together take this part of
/// the best cover's time: being wrong there costs the most.
constexpr double kLarge = 0.1;
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
/// So many that trials say may gain are asked for at once: kernels are compiled on all processors.
constexpr std::size_t kHopedAtOnce = 4;
constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();

class LazyPricer {
 public:
  LazyPricer(CoverRequest request, CostBounds& bounds, const LazyMeasuring& measuring)
      : request_(std::move(request)),
        measuring_(measuring),
        costs_(*request_.graph, *request_.pool, bounds, std::move(request_.costs)),
        order_(costs_, measuring_) {
    request_.search.max_states = std::min(request_.search.max_states / kStatesShare, kMostTrialStates);
  }

  Result<std::vector<Cost>> run() {
    order_.begin_first_cover();
    COLLAGE_TRY_VOID(ask_until_known(Covers::kBest, Forecast::kExpected, Effort::kSample));
    went_past_first_cover_ = !order_.is_late() && !has_ended() && !measuring_.is_sampling_over();
    order_.end_first_cover();
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
  /// The best; those that are entered first; all that are confirmed.
  enum class Covers : std::uint8_t { kBest, kFirst, kAll };

  /// Until nothing that is not sampled promises a better cover, and the best one is measured.
  Result<void> sample_and_measure(bool is_first) {
    if (is_first) COLLAGE_TRY_VOID(try_algorithms());
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

  [[nodiscard]] const NodeSet& nodes_of(std::size_t candidate) const {
    return request_.pool->regions[request_.pool->candidates[candidate].region].nodes;
  }
  /// Whether each node is in a candidate with a cost: cheap to know, and else there is no cover.
  [[nodiscard]] bool takes_all(const std::vector<Cost>& costs) const {
    NodeSet taken(request_.graph->nodes.size());
    for (std::size_t c = 0; c < costs.size(); ++c)
      if (nanoseconds_of(costs[c])) taken |= nodes_of(c);
    return taken.count() == request_.graph->nodes.size();
  }
  [[nodiscard]] Result<SearchResult> best_with(std::vector<Cost> costs) const {
    CoverRequest request = request_;
    request.costs = std::move(costs);
    return best_cover(request, request.backends);
  }
  /// The best cover of what is known: that was compiled, while a forecast in a cover would have to be compiled when the
  /// time is over.
  [[nodiscard]] std::optional<Cover> best_known() {
    if (!takes_all(costs_.known())) return std::nullopt;
    auto best = best_with(costs_.known());
    has_known_cover_ = has_known_cover_ || best.has_value();
    return best ? std::optional(std::move(best->cover)) : std::nullopt;
  }
  [[nodiscard]] bool has_known_cover() { return has_known_cover_ || best_known().has_value(); }

  /// The time left is for measuring what is known. Without a cover of that, samples come first.
  [[nodiscard]] bool keeps_to_known() { return measuring_.is_sampling_over() && has_known_cover(); }

  /// Past the deadline, a cover that is known is made; the smallest candidates are measured only until there is one.
  [[nodiscard]] bool has_ended() {
    return measuring_.is_stopped() || measuring_.is_over() || (measuring_.most_nodes() < kAnySize && has_known_cover());
  }

  /// Of steps that are made at once, or were made before; none is all of the graph.
  [[nodiscard]] Result<SearchResult> best_made_at_once() const {
    std::vector<Cost> costs = request_.costs;
    costs_.leave_out(costs_.slow_to_make(measuring_.is_made_slowly), costs);
    for (std::size_t c = 0; c < costs.size(); ++c)
      if (nodes_of(c).count() == request_.graph->nodes.size()) costs[c] = Unknown{};
    return best_with(std::move(costs));
  }
  /// Of kernels of libraries; of an engine only single operators.
  [[nodiscard]] Result<SearchResult> best_of_kernels() const {
    std::vector<Cost> costs = request_.costs;
    for (std::size_t c = 0; c < costs.size(); ++c)
      if (costs_.is_of_engine(c) && nodes_of(c).count() > 1) costs[c] = Unknown{};
    return best_with(std::move(costs));
  }

  /// Candidates of covers, in the order in which they are asked for.
  [[nodiscard]] Wanted in_order(std::vector<std::size_t> candidates, const std::vector<NamedCover>& covers) const {
    if (order_.matters(candidates))
      if (const auto quick = best_made_at_once()) return order_.in_order(candidates, quick->cover, covers, best_ns_);
    return {.candidates = std::move(candidates)};
  }

  /// Samples of what nothing is known of, measurements of the others. How many: not what is too large by now.
  Result<std::size_t> ask_for(const Wanted& wanted, Effort effort = Effort::kSample) {
    std::size_t count = 0;
    std::size_t begin = 0;
    while (begin < wanted.candidates.size() && !has_ended()) {
      if (effort == Effort::kSample && keeps_to_known()) break;
      const auto chunk = order_.next_chunk(std::span(wanted.candidates).subspan(begin),
                                           wanted.worth_making - std::min(begin, wanted.worth_making));
      if (chunk.empty()) break;
      COLLAGE_TRY(const std::size_t asked, ask_for_chunk(chunk));
      begin += chunk.size();
      count += asked;
      measuring_.progress(costs_.measured_count());
      note_halfway();
    }
    return count;
  }

  Result<std::size_t> ask_for_chunk(std::span<const std::size_t> chunk) {
    std::vector<std::size_t> asked;
    std::ranges::copy_if(chunk, std::back_inserter(asked), [this, most = measuring_.most_nodes()](std::size_t c) {
      return costs_.is_small_enough(c, most);
    });
    const auto seen = std::ranges::stable_partition(asked, [this](std::size_t c) { return costs_.is_unseen(c); });
    const std::span<const std::size_t> unseen(asked.begin(), seen.begin());
    const double left_s = measuring_.sampling_left_s();
    const std::size_t slow = order_.slow_among(unseen);
    COLLAGE_TRY_VOID(ask(unseen, Effort::kSample));
    order_.learn(slow, left_s - measuring_.sampling_left_s());
    COLLAGE_TRY_VOID(ask({seen.begin(), seen.end()}, Effort::kTime));
    return asked.size();
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

  Result<void> ask(std::span<const std::size_t> candidates, Effort effort) {
    if (candidates.empty()) return {};
    COLLAGE_TRY(const std::vector<Cost> priced, measuring_.candidates({candidates.begin(), candidates.end()}, effort));
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
    if (!order_.is_late()) return covers_of(which);
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
    const std::optional<Cover> known = best_known();
    if (!known) return open;
    const auto known_ns = static_cast<double>(known->cost_ns);
    if (kind == Forecast::kOpenMinded && static_cast<double>(best_ns_) >= (1 - kGap) * known_ns) return {};
    return costs_.worth_knowing(std::move(open), *known, covers, measuring_.least_saving * known_ns);
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
        costs_.put_forecasts(declined, Forecast::kExpected, request_.costs);
      const bool was_late = order_.is_late();
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
      COLLAGE_TRY(const std::size_t asked, ask_for(in_order(worth, covers), effort));
      if (asked == 0 && conversions == 0 && !declines && order_.is_late() == was_late) return {};
    }
    return {};
  }

  Result<void> try_algorithms() {
    if (has_ended() || keeps_to_known()) return {};
    forecast(Forecast::kExpected);
    const auto kernels = best_of_kernels();
    if (!kernels) return {};
    const double least_ns = kLarge * static_cast<double>(kernels->cover.cost_ns);
    COLLAGE_TRY_VOID(ask_for({.candidates = costs_.untried_for_long_steps(kernels->cover, least_ns)}));
    return {};
  }

  Result<void> try_long_regions() {
    COLLAGE_TRY(const SearchResult best, best_cover(request_, request_.backends));
    const auto least_ns = static_cast<std::int64_t>(kLong * static_cast<double>(best.cover.cost_ns));
    const double least_saving_ns = measuring_.least_saving * static_cast<double>(best.cover.cost_ns);
    COLLAGE_TRY_VOID(ask_for({.candidates = costs_.open_long(best.cover, least_ns, least_saving_ns)}));
    return {};
  }

  // ---- hopes -----------------------------------------------------------------------------------------------
  Result<void> try_hopes() {
    if (!may_try()) return {};
    COLLAGE_TRY(const SearchResult best, best_cover(request_, request_.backends));
    const std::vector<std::size_t> open = costs_.open_by_saving(best.cover);
    for (std::size_t begin = 0; begin < open.size(); begin += kTogether)
      COLLAGE_TRY_VOID(try_together({open.data() + begin, std::min(kTogether, open.size() - begin)}));
    return ask_for_hoped();
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
    costs_.put_forecasts(open, Forecast::kHopeful, hopeful.costs);
    COLLAGE_TRY(const Cover hoped, best_of_trial(hopeful));
    if (static_cast<double>(hoped.cost_ns) >= (1 - kGain) * static_cast<double>(best_ns_)) return {};
    if (open.size() > 1) {
      COLLAGE_TRY_VOID(try_together(open.first(open.size() / 2)));
      return try_together(open.subspan(open.size() / 2));
    }
    const double saving_ns = costs_.expected_saving(open.front(), hoped, best_ns_ - hoped.cost_ns);
    if (saving_ns < measuring_.least_saving * static_cast<double>(best_ns_)) return {};
    if (has_hoped_for(open.front())) {
      COLLAGE_TRY_VOID(ask_for_hoped());
      return try_together(open);
    }
    hoped_.push_back(open.front());
    return hoped_.size() < kHopedAtOnce ? Result<void>() : ask_for_hoped();
  }

  /// Whether one of those that will be asked for computes some of the same nodes, so that its cost decides.
  [[nodiscard]] bool has_hoped_for(std::size_t candidate) const {
    return std::ranges::any_of(hoped_, [&](std::size_t c) { return nodes_of(c).intersects(nodes_of(candidate)); });
  }

  Result<void> ask_for_hoped() {
    if (hoped_.empty()) return {};
    const std::vector<std::size_t> asked = std::exchange(hoped_, {});
    COLLAGE_TRY_VOID(ask_for({.candidates = asked}));
    if (static_cast<double>(costs_.measured_count()) > (1 + kNews) * static_cast<double>(fitted_))
      forecast(Forecast::kExpected);
    else
      for (const std::size_t candidate : asked) costs_.put_known(candidate, request_.costs);
    COLLAGE_TRY(const Cover best, best_of_trial(request_));
    best_ns_ = best.cost_ns;
    return {};
  }

  CoverRequest request_;
  const LazyMeasuring& measuring_;
  LazyCosts costs_;
  MakingOrder order_;
  std::int64_t best_ns_ = 0;            ///< of the best cover under request_.costs
  std::size_t fitted_ = 0;              ///< measured when forecasts were made
  std::vector<std::size_t> hoped_;      ///< trials say that they may gain
  std::size_t states_ = 0;              ///< made by trials
  bool has_known_cover_ = false;        ///< any
  std::vector<Cost> known_halfway_;     ///< empty before
  bool went_past_first_cover_ = false;  ///< there was time for more than the first cover
};

}  // namespace

Result<std::vector<Cost>> price_lazily(CoverRequest request, CostBounds& bounds, const LazyMeasuring& measuring) {
  return LazyPricer(std::move(request), bounds, measuring).run();
}

}  // namespace collage
