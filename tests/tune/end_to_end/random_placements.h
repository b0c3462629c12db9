// Random placements of one model: plans whose steps are drawn, for tests that look at their numbers.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "backend/roles.h"
#include "numbers/inputs.h"
#include "tests/tune/tune_fixture.h"
#include "tune/confirm/assemble.h"
#include "tune/confirm/whole_model.h"
#include "tune/price/pricing.h"
#include "tune/proposers.h"
#include "tune/stages.h"

namespace collage::test {

/// Never destroyed: at the end of the process an engine's own threads may be gone before the engine.
inline Registry& registry() {
  static auto* const made = new Registry(module_folders());
  return *made;
}

/// The instances of this build that work here.
inline std::vector<std::string> usable_backends() {
  std::vector<std::string> names;
  for (const char* name : {"onednn", "onnxruntime", "openvino", "host"})
    if (registry().get(name)) names.emplace_back(name);
  return names;
}

/// Places one model at random, again and again. What a backend refuses or computes wrongly is found and left out as in
/// a tune: by the worker that makes the artifacts.
class RandomPlacements {
 public:
  explicit RandomPlacements(const std::string& model, std::vector<std::string> backends = usable_backends())
      : backends_(std::move(backends)) {
    auto prepared = prepare({.model = model, .shapes = {}, .backends = backends_}, folder_, registry(), worker_);
    EXPECT_TRUE(prepared) << to_string(prepared.error());
    prepared_ = std::move(*prepared);
    uses_ = uses_of(graph());
    pool_ = propose(graph(), uses_, make_proposers(registry(), backends_, graph(), {}).value());
    PricingOptions options;
    options.measure.worker_command = worker_command();
    options.files = {.graph_file = prepared_.graph_file, .record_file = prepared_.record};
    options.converters = {"host"};
    pricing_.emplace(std::move(options), graph(), registry(), store_);
  }

  [[nodiscard]] const Graph& graph() const { return prepared_.graph; }

  /// Of regions of at most so many nodes. What `favourite` offers costs a tenth.
  Result<RealisedPlan> next(std::mt19937_64& random, std::size_t most_nodes, const std::string& favourite = {}) {
    CoverRequest request{
        .graph = &graph(), .pool = &pool_, .costs = draw_costs(random, most_nodes, favourite), .backends = backends_};
    request.search.launch_ns = kLaunchNs;
    request.search.max_states = kMaxStates;
    for (;;) {
      COLLAGE_TRY(const SearchResult found, best_cover(pricing_->completed(request), request.backends));
      const std::size_t broken = pricing_->broken_count();
      auto artifacts = pricing_->artifacts(found.cover);
      if (artifacts)
        return assemble({.graph = &graph(), .cover = &found.cover, .artifacts = std::move(*artifacts), .header = {}},
                        registry());
      if (pricing_->broken_count() == broken) return std::unexpected(artifacts.error());
    }
  }

 private:
  /// About so much for each node, so that regions of all sizes win.
  [[nodiscard]] std::vector<Cost> draw_costs(std::mt19937_64& random, std::size_t most_nodes,
                                             const std::string& favourite) const {
    std::vector<Cost> costs;
    for (const Candidate& candidate : pool_.candidates) {
      const std::size_t nodes = pool_.regions[candidate.region].covered().count();
      const auto ns =
          static_cast<std::int64_t>((1000 + random() % 1000) * nodes) / (candidate.backend == favourite ? 10 : 1);
      costs.push_back(nodes > most_nodes ? Cost{Unknown{}} : Estimated{.ns = ns});
    }
    return costs;
  }

  static constexpr std::int64_t kLaunchNs = 300;
  static constexpr std::size_t kMaxStates = 20'000;  ///< any cover will do

  std::vector<std::string> backends_;
  WorkFolder folder_ = WorkFolder::create().value();
  WorkerProcess worker_{worker_command()};
  Store store_ = Store::open("memory:").value();
  Prepared prepared_;
  Uses uses_;
  CandidatePool pool_;
  std::optional<Pricing> pricing_;
};

}  // namespace collage::test
