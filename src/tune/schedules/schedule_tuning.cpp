#include "tune/schedules/schedule_tuning.h"

#include <algorithm>

#include "base/hash.h"

namespace collage {
namespace {

/// Settings measured before the shares are looked at again.
constexpr std::size_t kBatch = 4;
/// Batches in a row without a gain after which a kernel is done.
constexpr int kMostFailures = 6;
/// What counts as a gain, as a share of the kernel's time: less is noise.
constexpr double kLeastGain = 0.01;

struct Arm {
  SettingsSearch search;
  int batches = 0;
  int successes = 0;
  int failures_in_row = 0;
  bool is_done = false;
};

class KernelTuner {
 public:
  KernelTuner(std::vector<TunableKernel>& kernels, const KernelTuning& tuning) : kernels_(kernels), tuning_(tuning) {
    for (const TunableKernel& kernel : kernels) {
      // The same kernel is searched the same way, whatever others there are.
      Arm arm{.search = SettingsSearch(kernel.space, hash_text(kernel.space.way + kernel.fastest, tuning.seed))};
      for (const auto& [settings, ns] : kernel.known) arm.search.learn(settings, ns);
      arms_.push_back(std::move(arm));
    }
  }

  Result<bool> run() {
    for (;;) {
      const auto next = most_promising();
      if (!next) return true;
      if (tuning_.is_over()) return false;
      COLLAGE_TRY_VOID(try_some(*next));
    }
  }

 private:
  [[nodiscard]] double promise(std::size_t k) const {
    const Arm& arm = arms_[k];
    return static_cast<double>(kernels_[k].gain_ns) * (1 + arm.successes) / (2 + arm.batches);
  }

  [[nodiscard]] std::optional<std::size_t> most_promising() const {
    std::optional<std::size_t> best;
    for (std::size_t k = 0; k < arms_.size(); ++k)
      if (!arms_[k].is_done && kernels_[k].gain_ns > 0 && (!best || promise(k) > promise(*best))) best = k;
    return best;
  }

  Result<void> try_some(std::size_t k) {
    Arm& arm = arms_[k];
    TunableKernel& kernel = kernels_[k];
    if (arm.batches++ == 0 && tuning_.near)
      for (const Settings& settings : tuning_.near(k)) arm.search.add_seed(settings);
    const std::vector<Settings> settings = arm.search.next(kBatch);
    if (settings.empty()) {
      arm.is_done = true;
      return {};
    }
    std::vector<std::string> names;
    for (const Settings& one : settings) names.push_back(name_of(kernel.space, one));
    COLLAGE_TRY(const std::vector<Cost> costs, tuning_.measure(k, names));
    COLLAGE_CHECK(costs.size() == settings.size(), "one cost for every variant asked for");
    const std::int64_t before = kernel.ns;
    for (std::size_t i = 0; i < settings.size(); ++i) learn(kernel, arm, settings[i], names[i], costs[i]);
    return judge(k, before);
  }

  static void learn(TunableKernel& kernel, Arm& arm, const Settings& settings, const std::string& name,
                    const Cost& cost) {
    if (std::holds_alternative<Unknown>(cost)) return;
    ++kernel.tried;
    const auto* measured = std::get_if<Measured>(&cost);
    if (measured == nullptr) ++kernel.refused;
    arm.search.learn(settings, measured != nullptr ? std::optional(measured->median_ns) : std::nullopt);
    if (measured == nullptr || measured->median_ns >= kernel.ns) return;
    kernel.ns = measured->median_ns;
    kernel.fastest = name;
  }

  Result<void> judge(std::size_t k, std::int64_t before) {
    Arm& arm = arms_[k];
    TunableKernel& kernel = kernels_[k];
    const bool has_gained = static_cast<double>(kernel.ns) <= (1 - kLeastGain) * static_cast<double>(before);
    arm.successes += has_gained ? 1 : 0;
    arm.failures_in_row = has_gained ? 0 : arm.failures_in_row + 1;
    arm.is_done = arm.failures_in_row >= kMostFailures;
    if (kernel.ns >= before) return {};
    COLLAGE_TRY(kernel.gain_ns, tuning_.improved(k));
    return {};
  }

  std::vector<TunableKernel>& kernels_;
  const KernelTuning& tuning_;
  std::vector<Arm> arms_;
};

}  // namespace

Result<bool> tune_kernels(std::vector<TunableKernel>& kernels, const KernelTuning& tuning) {
  return KernelTuner(kernels, tuning).run();
}

}  // namespace collage
