// How often a race is wrong: one kernel under two names, and the same with 5 % more work in one of them, in a quiet
// machine and with a hog on another processor.
// Usage: racing [TRIALS]. Prints a table; nothing else may run meanwhile.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "timing/canary.h"
#include "timing/race.h"
#include "timing/sampling.h"

namespace collage {
namespace {

struct Cell {
  const char* name;
  std::int64_t kernel_ns;
  double seconds;  ///< most for a trial
};
constexpr Cell kCells[] = {{"20 us", 20'000, 0.2}, {"200 us", 200'000, 0.5}, {"2 ms", 2'000'000, 2.0}};

/// Products of two small matrices in buffers of its own, all in the first cache.
class Kernel {
 public:
  explicit Kernel(int passes) : passes_(passes) { renew(); }

  void renew() {
    // The old ones live on until the new ones are made, so that these lie elsewhere.
    Matrix a(kSide * kSide, 0.5F);
    Matrix b(kSide * kSide, 0.25F);
    Matrix c(kSide * kSide, 0.0F);
    a_.swap(a);
    b_.swap(b);
    c_.swap(c);
  }

  void run() {
    for (int pass = 0; pass < passes_; ++pass)
      for (std::size_t row = 0; row < kSide; ++row)
        for (std::size_t k = 0; k < kSide; ++k) {
          const float factor = a_[row * kSide + k];
          for (std::size_t column = 0; column < kSide; ++column)
            c_[row * kSide + column] = c_[row * kSide + column] * 0.5F + factor * b_[k * kSide + column];
        }
  }

 private:
  using Matrix = std::vector<float>;
  static constexpr std::size_t kSide = 16;
  int passes_;
  Matrix a_;
  Matrix b_;
  Matrix c_;
};

/// Passes for a kernel of about that long, a multiple of 20 so that 5 % more of them is a whole number.
int passes_for(std::int64_t ns) {
  Kernel probe(200);
  std::int64_t best = 0;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t begin = monotonic_ns();
    probe.run();
    const std::int64_t elapsed = monotonic_ns() - begin;
    best = best == 0 ? elapsed : std::min(best, elapsed);
  }
  return std::max<int>(20, static_cast<int>(ns * 200 / best) / 20 * 20);
}

class Hog {
 public:
  Hog() {
    const int here = ::sched_getcpu();
    cpu_set_t others{};
    ::sched_getaffinity(0, sizeof others, &others);
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) > 0) ::pthread_setaffinity_np(thread_.native_handle(), sizeof others, &others);
  }

 private:
  std::jthread thread_{[](const std::stop_token& stop) {
    Kernel kernel(10);
    while (!stop.stop_requested()) kernel.run();
  }};
};

struct Tally {
  int right = 0;
  int wrong = 0;
  int same = 0;
  int unsure = 0;
  double longest_s = 0;
  std::vector<double> seconds;
};

/// `expected`: kFaster when the first has less work.
void trial(const Cell& cell, int passes_a, int passes_b, Verdict expected, std::uint64_t seed, Canary& canary,
           Tally& tally) {
  Kernel a(passes_a);
  Kernel b(passes_b);
  const auto contender = [](const char* name, Kernel& kernel) {
    return Contender{.name = name,
                     .run = [&kernel]() -> Result<void> {
                       kernel.run();
                       return {};
                     },
                     .renew = [&kernel] { kernel.renew(); }};
  };
  RaceOptions options;
  options.min_rounds = 0;
  options.max_rounds = 1'000'000;
  options.seconds = options.most_seconds = 0.95 * cell.seconds;
  options.decided_rounds = 10;
  options.heat_ns = 100'000;
  options.threads = 1;
  options.seed = seed;
  options.slowness = [&canary] { return canary.slowness(); };
  const std::int64_t begin = monotonic_ns();
  const auto lanes = race({contender("a", a), contender("b", b)}, options);
  const double seconds = static_cast<double>(monotonic_ns() - begin) * 1e-9;
  tally.seconds.push_back(seconds);
  tally.longest_s = std::max(tally.longest_s, seconds);
  const Verdict verdict = verdict_of((*lanes)[0], (*lanes)[1], options.test);
  if (verdict == Verdict::kUnsure)
    ++tally.unsure;
  else if (verdict == Verdict::kSame)
    ++tally.same;
  else
    ++(verdict == expected ? tally.right : tally.wrong);
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void run_cell(const Cell& cell, bool with_hog, int trials) {
  Canary canary;
  static_cast<void>(canary.slowness());
  const int passes = passes_for(cell.kernel_ns);
  std::optional<Hog> hog;
  if (with_hog) hog.emplace();
  Tally equal;
  Tally gap;
  for (int t = 0; t < trials; ++t) {
    const auto seed = static_cast<std::uint64_t>(t) + 1;
    trial(cell, passes, passes, Verdict::kUnsure, seed, canary, equal);
    // The slower one takes turns in being the first.
    if (t % 2 == 0)
      trial(cell, passes, passes / 20 * 21, Verdict::kFaster, seed, canary, gap);
    else
      trial(cell, passes / 20 * 21, passes, Verdict::kSlower, seed, canary, gap);
  }
  fmt::print(
      "| {:<7}| {:<6}| {:>6} | {:>5} | {:>6} | {:>7.3f} / {:<6.3f}| {:>6} | {:>8} | {:>5} | {:>6} | {:>7.3f} / "
      "{:<6.3f}|\n",
      cell.name, with_hog ? "hog" : "quiet", equal.wrong, equal.same, equal.unsure, median_of(equal.seconds),
      equal.longest_s, gap.right, gap.wrong, gap.same, gap.unsure, median_of(gap.seconds), gap.longest_s);
  std::fflush(stdout);
}

}  // namespace
}  // namespace collage

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 200;
  fmt::print("{} trials in each cell: equal kernels, then one with 5 % more work\n", trials);
  fmt::print(
      "| kernel | noise | winner | same  | unsure | s median / most | found  | reversed | same  | unsure | s median / "
      "most |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const bool with_hog : {false, true})
    for (const collage::Cell& cell : collage::kCells) collage::run_cell(cell, with_hog, trials);
}
