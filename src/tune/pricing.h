// Costs and artifacts of candidates and conversions, for the search.
// Conversions are priced lazily: the search runs with optimistic estimates, the conversions its covers use are
// measured, and it runs again until all of them are.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/progress.h"
#include "measure/pricer.h"
#include "measure/store.h"
#include "tune/covers.h"

namespace collage {

struct PricingOptions {
  std::vector<std::string> worker_command;
  std::string graph_file;
  std::string record;
  std::vector<std::string> converters;  ///< instances asked for conversions between the common formats
  int threads = 1;
  Accuracy accuracy = Accuracy::kStandard;
  std::uint64_t seed = 1;
  std::chrono::nanoseconds compile_limit = std::chrono::seconds(60);
  std::chrono::nanoseconds run_limit = std::chrono::seconds(10);
  Clock::time_point deadline;  ///< no measurement is begun after it
  Progress progress;
  std::stop_token stop;
};

/// One thread. Graph, registry and store outlive it.
class Pricing {
 public:
  Pricing(PricingOptions options, const Graph& graph, Registry& registry, Store& store);

  /// By candidate of the pool; unknown for what the deadline or a stop left over.
  [[nodiscard]] Result<std::vector<Cost>> price(const CandidatePool& pool);
  /// covers_to_confirm with every conversion used measured; request.conversions is set here.
  [[nodiscard]] Result<std::vector<NamedCover>> search(CoverRequest request);
  /// proven_bound_ns under the conversions known so far.
  [[nodiscard]] Result<std::int64_t> proven_bound(CoverRequest request);
  /// One per step, for exactly these weights; views and control steps get an empty one.
  /// Error tune/no-artifact when a candidate does not work with the weights of its place; search() uses it no more.
  [[nodiscard]] Result<std::vector<Artifact>> artifacts(const Cover& cover);

  /// Candidates and conversions that artifacts() found not to work so far.
  [[nodiscard]] std::size_t broken_count() const { return broken_count_; }

  [[nodiscard]] const PriceCounts& counts() const { return pricer_->counts(); }

 private:
  struct Key {
    std::string type;
    std::string from;
    std::string to;
    auto operator<=>(const Key&) const = default;
  };
  /// A candidate that was measured and yet does not work where it is needed.
  struct Broken {
    Region region;
    std::string backend;
    Variant variant;
    Refusal refusal;
  };

  [[nodiscard]] ConversionTable conversion_table();
  [[nodiscard]] std::optional<ConversionChoice> conversion(ValueId value, const Format& from, const Format& to);
  [[nodiscard]] std::vector<std::string> converters_of(const Format& from, const Format& to) const;
  /// Measures the estimated conversions of the covers; how many there were.
  [[nodiscard]] Result<std::size_t> price_conversions(const std::vector<NamedCover>& covers);
  [[nodiscard]] bool out_of_time() const;

  PricingOptions options_;
  const Graph& graph_;
  std::unique_ptr<Pricer> pricer_;
  std::map<Key, std::optional<ConversionChoice>> conversions_;
  std::vector<Broken> broken_;
  std::size_t broken_count_ = 0;
};

}  // namespace collage
