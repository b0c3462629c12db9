// The guard against a noisy clock: all lanes of a round share the mood of the machine, each sample has noise of its
// own, and some are disturbed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/support/dice.h"
#include "tune/confirm/guard.h"

namespace collage {
namespace {

class NoisyMachine {
 public:
  explicit NoisyMachine(std::uint64_t seed) : dice_(seed) {}

  double share() { return static_cast<double>(dice_.next() >> 11) * 0x1p-53; }
  /// Near the normal distribution, of this deviation.
  double noise(double deviation) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += share();
    return (sum - 6) * deviation;
  }

  void add(const std::string& name, double true_ns, std::size_t steps) {
    entries.push_back({.timed = {.name = name, .file = name}, .steps = steps});
    true_ns_[name] = true_ns;
  }

  /// As few rounds as the request allows.
  ConfirmRun clock() {
    return [this](const ConfirmRequest& request) -> Result<std::vector<ConfirmLane>> {
      std::vector<ConfirmLane> lanes;
      for (const PlanToTime& plan : request.plans)
        lanes.push_back({.lane = {.name = plan.name, .samples_ns = {}}, .step_ns = {}, .failure = {}});
      for (std::size_t round = 0; round < request.min_rounds; ++round) {
        const double mood = std::exp(noise(0.15));
        for (ConfirmLane& lane : lanes) {
          const double disturbed = share() < 0.05 ? 1.2 + 2 * share() : 1;
          lane.lane.samples_ns.push_back(
              static_cast<std::int64_t>(true_ns_.at(lane.lane.name) * mood * disturbed * std::exp(noise(0.02))));
        }
      }
      first_ = first_.empty() ? lanes : first_;
      return lanes;
    };
  }

  double true_ns(std::size_t entry) const { return true_ns_.at(entries[entry].timed.name); }
  std::size_t truly_best() const {
    std::size_t best = 0;
    for (std::size_t e = 1; e < entries.size(); ++e) best = true_ns(e) < true_ns(best) ? e : best;
    return best;
  }
  /// Who would ship if every plan were run once, each at its own time.
  std::size_t best_of_one_sample_each() const {
    std::size_t best = 0;
    const auto sample = [&](std::size_t e) { return first_[e].lane.samples_ns[e % first_[e].lane.samples_ns.size()]; };
    for (std::size_t e = 1; e < first_.size(); ++e) best = sample(e) < sample(best) ? e : best;
    return best;
  }

  std::vector<PlanToJudge> entries;

 private:
  Dice dice_;
  std::map<std::string, double> true_ns_;
  std::vector<ConfirmLane> first_;
};

/// Two engines and three covers; one of them, in turn, is ahead of all others by at least `lead`.
NoisyMachine trial(std::uint64_t seed, double lead) {
  NoisyMachine machine(seed);
  const std::size_t ahead = seed % 5;
  for (std::size_t e = 0; e < 5; ++e) {
    const double ns = e == ahead ? 1e6 : 1e6 * (1 + lead + 0.3 * machine.share() * machine.share());
    const bool is_rival = e < 2;
    machine.add((is_rival ? "rival " : "cover ") + std::to_string(e), ns, is_rival ? 1 : 5 + e * 7);
  }
  return machine;
}

TEST(GuardTrials, BetterOfEveryRivalIsKeptInAHundredNoisyTrials) {
  int rivals_shipped = 0;
  int single_samples_mislead = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NoisyMachine machine = trial(seed, 0.06);
    const auto verdict = judge(machine.entries, {}, machine.clock());
    ASSERT_TRUE(verdict) << to_string(verdict.error());
    EXPECT_EQ(machine.entries[verdict->winner].timed.name, machine.entries[machine.truly_best()].timed.name);
    rivals_shipped += machine.entries[verdict->winner].steps == 1 ? 1 : 0;
    single_samples_mislead += machine.best_of_one_sample_each() != machine.truly_best() ? 1 : 0;
  }
  EXPECT_EQ(rivals_shipped, 40);
  EXPECT_GE(single_samples_mislead, 30) << "the noise is too kind to test anything";
}

TEST(GuardTrials, InsideTheNoiseNothingClearlySlowerShips) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NoisyMachine machine = trial(seed, 0.005);
    const auto verdict = judge(machine.entries, {}, machine.clock());
    ASSERT_TRUE(verdict) << to_string(verdict.error());
    EXPECT_LE(machine.true_ns(verdict->winner), 1.05 * machine.true_ns(machine.truly_best()));
  }
}

TEST(GuardTrials, OfEqualPlansTheOneWithFewestStepsShipsMostly) {
  int simplest = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    NoisyMachine machine(seed);
    machine.add("cover of 20", 1e6, 20);
    machine.add("cover of 3", 1e6, 3);
    machine.add("rival", 1.3e6, 1);
    const auto verdict = judge(machine.entries, {}, machine.clock());
    ASSERT_TRUE(verdict) << to_string(verdict.error());
    EXPECT_NE(machine.entries[verdict->winner].timed.name, "rival");
    simplest += machine.entries[verdict->winner].timed.name == "cover of 3" ? 1 : 0;
  }
  EXPECT_GE(simplest, 90);
}

}  // namespace
}  // namespace collage
