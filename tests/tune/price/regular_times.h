// A model and candidates with times as regular as those of libraries, and lazy pricing of them without measuring.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/dice.h"
#include "tests/support/graph_builder.h"
#include "tune/price/lazy_pricing.h"

namespace collage::test {

inline constexpr PeakRates kPeak = {.flops_per_ns = 50, .bytes_per_ns = 50};
inline const std::vector<std::string> kBackends = {"kernels", "engine", "graphs"};

/// A chain of convolutions, each with an activation, and candidates with times as regular as those of libraries: of an
/// operation, a way, the pair, with a little that nothing tells, and a slow path here and there.
class RegularTimes {
 public:
  /// `relative`: another model on the same machine, whose ways and operations are as fast here.
  RegularTimes(std::uint64_t seed, std::size_t convolutions, const RegularTimes* relative = nullptr) : dice_(seed) {
    if (relative != nullptr) factors_ = relative->factors_;
    std::vector<ValueId> kernels;
    testing_support::GraphBuilder builder({1, 32, 16, 16});
    ValueId last = builder.input("x");
    for (std::size_t n = 0; n < convolutions; ++n) {
      const std::int64_t extent = dice_.one_in(2) ? 1 : 3;
      const ValueId filter = builder.weight("w" + std::to_string(n), {32, 32, extent, extent});
      const std::int64_t pad = extent / 2;
      last = builder.add("Conv", {last, filter}, {1, 32, 16, 16},
                         {{"kernel_shape", std::vector<std::int64_t>{extent, extent}},
                          {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}},
                          // Only so that operations differ.
                          {"dilations", std::vector<std::int64_t>{1 + static_cast<std::int64_t>(dice_.below(8)), 1}}});
      last = builder.add("Relu", {last});
    }
    graph = builder.take({last});
    uses_ = uses_of(graph);
    for (std::size_t n = 0; n < 2 * convolutions; n += 2) {
      for (const char* way : {"direct", "blocked", "gemm", "wino"}) {
        const std::string format = std::string(way) == "blocked" ? "kernels:b16" : "plain";
        add("kernels", way, n, n + 1, format);
        add("kernels", way, n, n + 2, format);
      }
      for (const char* format : {"plain", "kernels:b16"}) add("kernels", "light", n + 1, n + 2, format);
      for (const std::string& backend : {kBackends[1], kBackends[2]}) {
        add(backend, "default", n, n + 1, "plain");
        add(backend, "default", n + 1, n + 2, "plain");
        for (std::size_t length = 2; length <= 6; length += 2)
          if (n + length <= 2 * convolutions) add(backend, "default", n, n + length, "plain");
      }
    }
  }

  [[nodiscard]] CoverRequest request() const {
    return {.graph = &graph,
            .pool = &pool,
            .costs = {},
            .backends = kBackends,
            .filler = "engine",
            .conversions =
                [](ValueId, const Place&, const Place&) {
                  return std::optional<BoundaryChoice>(
                      {"host", Measured{.median_ns = 1500, .low_ns = 1500, .high_ns = 1500, .samples = 1}});
                },
            .search = {}};
  }

  [[nodiscard]] Cost cost(std::size_t candidate) const {
    const std::int64_t ns = times_.at(candidate);
    return Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 9};
  }
  /// A few runs, of which the fastest is a little faster than the median of many.
  [[nodiscard]] Cost sample(std::size_t candidate) const {
    return Estimated{.ns = static_cast<std::int64_t>(0.97 * static_cast<double>(times_.at(candidate))),
                     .is_sampled = true};
  }
  [[nodiscard]] std::int64_t cost_of_best(std::vector<Cost> costs) const {
    CoverRequest all = request();
    all.costs = std::move(costs);
    return best_cover(all, all.backends)->cover.cost_ns;
  }
  [[nodiscard]] std::int64_t eager_ns() const {
    std::vector<Cost> costs;
    for (std::size_t c = 0; c < times_.size(); ++c) costs.push_back(cost(c));
    return cost_of_best(std::move(costs));
  }
  [[nodiscard]] std::size_t distinct() const { return seen_.size(); }

  Graph graph;
  CandidatePool pool;

 private:
  void add(const std::string& backend, const std::string& way, std::size_t begin, std::size_t end,
           const std::string& format) {
    NodeSet nodes(graph.nodes.size());
    double ns = 0;
    for (std::size_t n = begin; n < end; ++n) {
      nodes.insert(n);
      NodeSet one(graph.nodes.size());
      one.insert(n);
      const Region alone = make_region(graph, uses_, one);
      const std::string operation = structure_key(graph, alone);
      const double work = n % 2 == 1 ? 400.0 : 1000 + 5 * roofline_ns(graph, alone, Accuracy::kStrict, kPeak, 1);
      // What follows a convolution in its own kernel is nearly free.
      const double part = n % 2 == 1 && end - begin > 1 ? 0.1 : 1;
      ns += part * work * factor(operation, 0.2) * factor(backend + way, 0.4) * factor(backend + operation, 0.1);
    }
    const Region region = make_region(graph, uses_, nodes);
    const std::string name = structure_key(graph, region) + backend + way + format;
    ns *= factor(name, 0.04);
    if (seen_.emplace(name, seen_.size()).first->second % 23 == 22) ns *= 10;
    times_.push_back(static_cast<std::int64_t>(ns));
    pool.regions.push_back(region);
    pool.candidates.push_back({.region = static_cast<std::uint32_t>(pool.regions.size() - 1),
                               .backend = backend,
                               .variant = {.name = way, .input_formats = {{format}}, .output_formats = {{format}}}});
  }
  /// One and the same for a name, around 1.
  double factor(const std::string& name, double spread) {
    const auto [found, added] = factors_.emplace(name, 0);
    if (added) {
      double sum = -6;
      for (int i = 0; i < 12; ++i) sum += static_cast<double>(dice_.below(1000)) / 1000;
      found->second = std::exp(spread * sum);
    }
    return found->second;
  }

  Dice dice_;
  Uses uses_;
  std::map<std::string, double> factors_;
  std::map<std::string, std::size_t> seen_;
  std::vector<std::int64_t> times_;
};

struct Asked {
  std::vector<std::size_t> candidates;  ///< sampled, or measured without
  std::vector<std::size_t> measured = {};
  std::size_t limit = ~std::size_t{0};         ///< then there is time for single nodes only
  std::size_t end = ~std::size_t{0};           ///< then for nothing
  std::size_t sampling_end = ~std::size_t{0};  ///< then nothing new is sampled,
  std::size_t resumed = 0;                     ///< until so many more may be, once
  double least_saving = MeasureLimits{}.least_saving;
};

inline LazyMeasuring measuring(const RegularTimes& times, Asked& asked) {
  return {.candidates = [&](const std::vector<std::size_t>& wanted, Effort effort) -> Result<std::vector<Cost>> {
            std::vector<Cost> costs;
            for (const std::size_t c : wanted)
              costs.push_back(effort == Effort::kSample ? times.sample(c) : times.cost(c));
            std::vector<std::size_t>& list = effort == Effort::kSample ? asked.candidates : asked.measured;
            list.insert(list.end(), wanted.begin(), wanted.end());
            return costs;
          },
          .conversions = [](const std::vector<NamedCover>&, Effort, std::int64_t) { return Result<std::size_t>(0U); },
          .least_saving = asked.least_saving,
          .is_sampling_over = [&] { return asked.candidates.size() >= asked.sampling_end; },
          .is_sampling_resumed =
              [&] {
                asked.sampling_end += asked.resumed;
                return std::exchange(asked.resumed, 0) > 0;
              },
          .most_nodes = [&] { return asked.candidates.size() >= asked.limit ? 1 : ~std::size_t{0}; },
          .is_stopped = [] { return false; },
          .is_over = [&] { return asked.candidates.size() >= asked.end; },
          .progress = [](std::size_t) {}};
}

inline std::vector<Cost> price(const RegularTimes& times, Asked& asked, const EffectTable& known = {},
                               EffectTable* learnt = nullptr) {
  CostBounds bounds(times.graph, times.pool, Accuracy::kStandard, kPeak, 1, {}, known);
  auto costs = price_lazily(times.request(), bounds, measuring(times, asked));
  EXPECT_TRUE(costs) << to_string(costs.error());
  if (learnt != nullptr) *learnt = bounds.learnt();
  return *costs;
}

}  // namespace collage::test
