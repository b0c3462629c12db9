// Makes the artifacts of covers, for exactly the weights of each place, and remembers which candidates turned out not
// to work there although they were measured.
// In:  a cover. Out: its artifacts, in the order of its steps; or what does not work.
// Cost: a lookup for each artifact in the store; compiling and verifying for each other one.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/clock.h"
#include "measure/pricer.h"
#include "region/candidates.h"
#include "region/cover.h"
#include "region/variant.h"
#include "tune/price/conversion_costs.h"

namespace collage {

/// The code of the error of a cover that was begun too late; it says nothing of its candidates.
inline constexpr const char* kNoTimeForPlan = "tune/no-time";
inline constexpr const char* kNoArtifact = "tune/no-artifact";

/// Which artifacts are made, and until when.
struct ArtifactLimits {
  std::stop_token stop = {};
  Clock::time_point latest = Clock::time_point::max();  ///< then no further artifact is begun
  /// Until then those that also hold code for processors with fewer instructions, where backends have such code;
  /// nothing: the usual ones.
  std::optional<Clock::time_point> portable_until = std::nullopt;
};

class CoverArtifacts {
 public:
  /// Graph, registry and pricer outlive it.
  CoverArtifacts(const Graph& graph, Registry& registry, Pricer& pricer);

  /// One for each step; an empty one where has_artifact() is false. Errors tune/no-time; tune/no-artifact when
  /// candidates or conversions do not work: all of the cover are found, the first is named. The former are refused by
  /// without_broken() from then on, the latter by `conversions`. Kernels of compilers are compiled together first.
  [[nodiscard]] Result<std::vector<Artifact>> make(const Cover& cover, const ArtifactLimits& limits,
                                                   ConversionCosts& conversions);

  /// `costs` with the candidates that were found not to work, and those that round like them, as refused.
  [[nodiscard]] std::vector<Cost> without_broken(const CandidatePool& pool, std::vector<Cost> costs) const;
  /// Beyond without_broken(): where one backend's candidate rounds too much, so may those of all others with its nodes
  /// and narrow ports, and those with more nodes.
  [[nodiscard]] std::vector<Cost> without_rounding(const CandidatePool& pool, std::vector<Cost> costs) const;
  /// Nodes that are alone in a candidate in 16 bits which without_broken() refuses for its rounding: one operator
  /// computes in full precision between its ports, so other backends round there as much.
  [[nodiscard]] NodeSet rounding_nodes(const CandidatePool& pool) const;
  /// Candidates and conversions found not to work so far.
  [[nodiscard]] std::size_t broken_count() const { return broken_count_; }
  /// Kernels for which there is no portable artifact, and why.
  [[nodiscard]] const std::vector<std::string>& unportable() const { return unportable_; }

 private:
  /// A candidate that was measured and yet does not work where it is needed.
  struct Broken {
    Region region;
    std::string backend;
    Variant variant;
    Refusal refusal;
    bool rounds_too_much = false;
    std::string structure;  ///< of a region without weights that rounds too much: it does so at other places, too
  };
  using Stored = std::expected<StoredArtifact, Refusal>;

  void note_broken(const CoverKernel& kernel, const std::string& backend, const Refusal& refusal);
  /// Whether it is the broken candidate or rounds like it: at the same nodes another kernel of the backend whose narrow
  /// ports are no fewer; the same kernel at another place without weights.
  [[nodiscard]] bool is_like(const Broken& broken, const Candidate& candidate, const Region& region) const;
  /// What is_like() this candidate; null when nothing is.
  [[nodiscard]] const Broken* like(const CandidatePool& pool, const Candidate& candidate) const;
  [[nodiscard]] Result<Artifact> make_step(const CoverStep& step, const ArtifactLimits& limits,
                                           ConversionCosts& conversions);

  [[nodiscard]] Result<Artifact> make_conversion(const Conversion& conversion, const std::string& backend,
                                                 const ArtifactLimits& limits, ConversionCosts& conversions);
  void make_ahead(const Cover& cover, const ArtifactLimits& limits);
  [[nodiscard]] Result<Artifact> make_kernel(const CoverKernel& kernel, const std::string& backend,
                                             const ArtifactLimits& limits);
  [[nodiscard]] Result<Stored> stored_kernel(const CoverKernel& kernel, const std::string& backend,
                                             const ArtifactLimits& limits);
  /// Nothing when it has no portable one.
  [[nodiscard]] Result<std::optional<StoredArtifact>> portable_kernel(const CoverKernel& kernel,
                                                                      const std::string& name,
                                                                      const ArtifactLimits& limits);

  const Graph& graph_;
  Registry& registry_;
  Pricer& pricer_;
  std::vector<Broken> broken_;
  std::size_t broken_count_ = 0;
  std::vector<std::string> unportable_;
};

}  // namespace collage
