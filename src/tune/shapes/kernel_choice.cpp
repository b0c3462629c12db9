#include "tune/shapes/kernel_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace collage {
namespace {

using Steps = std::vector<std::int64_t>;

/// A loss between neighbours that is worth another point: in logarithms of time.
constexpr double kWorthAPoint = 0.04;
/// Neighbours nearer than this ratio are alike.
constexpr double kNearShare = 1.05;
/// A kernel this far behind everywhere, as a logarithm, has no hope.
constexpr double kHopelessLoss = 0.1;
/// What a kernel must gain, as a logarithm, over the neighbour's to take its place.
constexpr double kSteady = 0.02;

/// Halfway in ratio; nothing when there is none between.
std::optional<std::int64_t> middle_of(std::int64_t a, std::int64_t b) {
  if (b - a < 2 || static_cast<double>(b) < kNearShare * static_cast<double>(a)) return std::nullopt;
  const auto middle = static_cast<std::int64_t>(std::sqrt(static_cast<double>(a) * static_cast<double>(b)));
  return std::clamp(middle, a + 1, b - 1);
}

std::size_t fastest_of(const KernelTimes& times) {
  return static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
}

/// How much longer than the fastest a kernel takes, as a logarithm; what does not run is far behind.
double loss_of(const KernelTimes& times, std::size_t kernel) {
  constexpr double kFar = 2;
  const double best = times[fastest_of(times)];
  return std::isfinite(times[kernel]) ? std::log(times[kernel] / best) : kFar;
}

class Chooser {
 public:
  Chooser(const ShapeDomain& domain, const std::vector<bool>& takes_all, const TimeKernels& time,
          const KernelChoiceOptions& options)
      : domain_(domain), takes_all_(takes_all), time_(time), options_(options), asked_(takes_all.size(), true) {}

  Result<KernelChoice> choose() {
    make_grid();
    COLLAGE_TRY_VOID(time_grid());
    drop_hopeless();
    for (auto next = widest_loss(); next; next = widest_loss()) {
      Steps& steps = axes_[next->axis];
      steps.insert(std::ranges::upper_bound(steps, next->extent), next->extent);
      COLLAGE_TRY_VOID(time_grid());
    }
    KernelChoice choice;
    choice.kernels = kept();
    add_cases(choice);
    for (auto& [point, timed] : timed_) choice.points.push_back(std::move(timed));
    return choice;
  }

 private:
  /// One more extent along an axis.
  struct Step {
    std::size_t axis = 0;
    std::int64_t extent = 0;
  };

  void make_grid() {
    // Half of the points are for where the fastest changes.
    const std::size_t first = std::max<std::size_t>(2, options_.most_points / 2);
    for (const ShapeSample& sample : choose_samples(domain_, {}, first)) add_point(sample.point);
    if (axes_.size() == 1) add_middles(axes_.front());
    for (const ShapeSample& sample : options_.asked) {
      add_point(sample.point);
      weights_[sample.point] = sample.weight;
    }
  }

  /// Register tiles like some extents between the powers of two, which bisection may not come to.
  void add_middles(Steps& steps) const {
    if (2 * steps.size() > options_.most_points) return;
    Steps middles;
    for (std::size_t i = 0; i + 1 < steps.size(); ++i)
      if (const std::int64_t middle = (steps[i] + steps[i + 1]) / 2; middle > steps[i]) middles.push_back(middle);
    steps.insert(steps.end(), middles.begin(), middles.end());
    std::ranges::sort(steps);
  }

  void add_point(const ShapePoint& point) {
    axes_.resize(point.size());
    for (std::size_t i = 0; i < point.size(); ++i)
      if (std::ranges::find(axes_[i], point[i]) == axes_[i].end())
        axes_[i].insert(std::ranges::upper_bound(axes_[i], point[i]), point[i]);
  }

  [[nodiscard]] std::size_t grid_size() const {
    std::size_t size = 1;
    for (const Steps& steps : axes_) size *= steps.size();
    return size;
  }

  /// Calls with every point of the grid, the last axis running fastest.
  template <class Work>
  Result<void> at_each(Work&& work) const {
    std::vector<std::size_t> at(axes_.size(), 0);
    for (std::size_t i = 0; i < grid_size(); ++i) {
      ShapePoint point;
      for (std::size_t axis = 0; axis < axes_.size(); ++axis) point.push_back(axes_[axis][at[axis]]);
      COLLAGE_TRY_VOID(work(point));
      for (std::size_t axis = axes_.size(); axis-- > 0;) {
        if (++at[axis] < axes_[axis].size()) break;
        at[axis] = 0;
      }
    }
    return {};
  }

  Result<void> time_grid() {
    return at_each([&](const ShapePoint& point) -> Result<void> {
      if (timed_.contains(point)) return {};
      TimedPoint timed{.point = point};
      if (const auto weight = weights_.find(point); weight != weights_.end()) timed.weight = weight->second;
      COLLAGE_TRY(timed.ns, time_(point, asked_));
      timed_.emplace(point, std::move(timed));
      return {};
    });
  }

  void drop_hopeless() {
    for (std::size_t k = 0; k < asked_.size(); ++k)
      asked_[k] =
          std::ranges::any_of(timed_, [&](const auto& entry) { return loss_of(entry.second.ns, k) < kHopelessLoss; });
    // Whatever the points are, some kernel takes every shape.
    asked_[kept().front()] = true;
  }

  /// Between which neighbours another extent promises most: what the fastest of the one loses at the other.
  [[nodiscard]] std::optional<Step> widest_loss() const {
    std::optional<Step> widest;
    double most = kWorthAPoint;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (grid_size() / axes_[axis].size() + grid_size() > options_.most_points) continue;
      for (std::size_t i = 0; i + 1 < axes_[axis].size(); ++i) {
        const auto middle = middle_of(axes_[axis][i], axes_[axis][i + 1]);
        if (!middle) continue;
        if (const double loss = loss_between(axis, i); loss > most) {
          most = loss;
          widest = Step{.axis = axis, .extent = *middle};
        }
      }
    }
    return widest;
  }

  [[nodiscard]] double loss_between(std::size_t axis, std::size_t step) const {
    double loss = 0;
    (void)at_each([&](const ShapePoint& point) -> Result<void> {
      if (point[axis] != axes_[axis][step]) return {};
      ShapePoint next = point;
      next[axis] = axes_[axis][step + 1];
      const TimedPoint& a = timed_.at(point);
      const TimedPoint& b = timed_.at(next);
      loss = std::max(loss, loss_of(a.ns, fastest_of(b.ns)) + loss_of(b.ns, fastest_of(a.ns)));
      return {};
    });
    return loss;
  }

  /// What a further kernel gains over `now`, the times so far by point; a mean over weights.
  [[nodiscard]] double gain_of(std::size_t kernel, const std::map<ShapePoint, double>& now) const {
    double gain = 0;
    double weights = 0;
    for (const auto& [point, timed] : timed_) {
      weights += timed.weight;
      if (timed.ns[kernel] < now.at(point)) gain += timed.weight * std::log(now.at(point) / timed.ns[kernel]);
    }
    return gain / weights;
  }

  [[nodiscard]] std::vector<std::size_t> kept() const {
    std::map<ShapePoint, double> now;
    for (const auto& [point, timed] : timed_) now[point] = kNever;
    std::vector<std::size_t> kernels;
    while (kernels.size() < options_.most_kernels) {
      std::optional<std::size_t> best;
      double most = options_.least_gain;
      for (std::size_t k = 0; k < takes_all_.size(); ++k) {
        if (kernels.empty() && !takes_all_[k]) continue;
        if (const double gain = gain_of(k, now); gain > most) {
          most = gain;
          best = k;
        }
      }
      if (!best) break;
      kernels.push_back(*best);
      for (auto& [point, ns] : now) ns = std::min(ns, timed_.at(point).ns[*best]);
    }
    return kernels;
  }

  /// Kernels for a cell, by index into those kept. `before` comes first where it is about as fast as the fastest.
  [[nodiscard]] std::vector<std::size_t> order_at(const ShapePoint& point, const std::vector<std::size_t>& kernels,
                                                  std::optional<std::size_t> before) const {
    const KernelTimes& ns = timed_.at(point).ns;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (std::isfinite(ns[kernels[i]])) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ns[kernels[i]]; });
    const auto same = std::ranges::find_if(order, [&](std::size_t i) { return before == i; });
    if (same != order.end() && std::log(ns[kernels[*same]] / ns[kernels[order.front()]]) < kSteady)
      std::rotate(order.begin(), same, same + 1);
    const auto last = std::ranges::find_if(order, [&](std::size_t i) { return takes_all_[kernels[i]]; });
    if (last != order.end()) order.erase(std::next(last), order.end());
    return order;
  }

  /// The cell's lower and upper extent along an axis.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> cell(std::size_t axis, std::int64_t extent) const {
    const Steps& steps = axes_[axis];
    const auto at = static_cast<std::size_t>(std::ranges::find(steps, extent) - steps.begin());
    const auto border = [&](std::size_t i) { return middle_of(steps[i], steps[i + 1]).value_or(steps[i]); };
    return {at == 0 ? domain_.dimensions[axis].low : border(at - 1) + 1,
            at + 1 == steps.size() ? domain_.dimensions[axis].high : border(at)};
  }

  void add_cases(KernelChoice& choice) const {
    std::vector<KernelCase> before;
    (void)at_each([&](const ShapePoint& point) -> Result<void> {
      std::vector<KernelCase> cases;
      const auto last = before.empty() ? std::nullopt : std::optional(before.front().kernel);
      for (const std::size_t kernel : order_at(point, choice.kernels, last)) {
        KernelCase one{.kernel = kernel};
        for (std::size_t axis = 0; axis < point.size(); ++axis) {
          const auto [low, high] = cell(axis, point[axis]);
          one.low.push_back(low);
          one.high.push_back(high);
        }
        cases.push_back(std::move(one));
      }
      if (goes_on(before, cases)) {
        for (std::size_t i = 0; i < cases.size(); ++i) {
          KernelCase& longer = choice.cases[choice.cases.size() - cases.size() + i];
          longer.high = cases[i].high;
        }
      } else {
        choice.cases.insert(choice.cases.end(), cases.begin(), cases.end());
      }
      before = std::move(cases);
      return {};
    });
  }

  /// The same kernels in the next cell along the last axis.
  static bool goes_on(const std::vector<KernelCase>& before, const std::vector<KernelCase>& cases) {
    if (before.empty() || before.size() != cases.size()) return false;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (before[i].kernel != cases[i].kernel || before[i].high.back() + 1 != cases[i].low.back()) return false;
      if (!std::equal(before[i].low.begin(), before[i].low.end() - 1, cases[i].low.begin())) return false;
    }
    return true;
  }

  /// Before there is any kernel. Finite, so that gains compare.
  static constexpr double kNever = 1e18;

  const ShapeDomain& domain_;
  const std::vector<bool>& takes_all_;
  const TimeKernels& time_;
  const KernelChoiceOptions& options_;
  std::vector<bool> asked_;  ///< kernels that are still measured
  std::vector<Steps> axes_;
  std::map<ShapePoint, double> weights_;
  std::map<ShapePoint, TimedPoint> timed_;
};

}  // namespace

Result<KernelChoice> choose_kernels(const ShapeDomain& domain, const std::vector<bool>& takes_all,
                                    const TimeKernels& time, const KernelChoiceOptions& options) {
  return Chooser(domain, takes_all, time, options).choose();
}

}  // namespace collage
