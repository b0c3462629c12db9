// Runs what a backend offers for a graph taken as one region: compiled by one instance, loaded by another that sees
// artifacts only, as in the process that runs a plan.
// In: a graph, tensors for its inputs. Out: plain tensors, and findings for GoogleTest where a kernel writes what it
// must not or gives other numbers in another run. Not here: what the numbers must be.
#pragma once

#include <gtest/gtest.h>

#include <expected>
#include <string>
#include <vector>

#include "backend/extensions/constants_extension.h"
#include "backend/registry.h"
#include "region/variant.h"
#include "tests/support/bound_kernel.h"

namespace collage::test {

/// The instances of this name, made on first use. One that is missing stops the test program.
[[nodiscard]] Backend& compiling(const std::string& instance);
[[nodiscard]] Backend& loading(const std::string& instance);
[[nodiscard]] bool is_usable(const std::string& instance);
/// Knows the formats of all backends.
[[nodiscard]] FormatConverter& converter();

/// All nodes.
[[nodiscard]] Region region_of(const Graph& graph);
/// Every port plain, named "default".
[[nodiscard]] Variant plain_variant(const Region& region);
[[nodiscard]] std::vector<Port> ports_of(const Graph& graph, const std::vector<ValueId>& ids,
                                         const std::vector<Format>& formats);
/// What load() is asked for a variant of the whole graph; artifact and graph outlive the request.
[[nodiscard]] LoadRequest request_of(const Graph& graph, const Variant& variant, const Artifact& artifact,
                                     int threads = 1);
/// The same for a variant of a region.
[[nodiscard]] LoadRequest request_of(const Graph& graph, const Region& region, const Variant& variant,
                                     const Artifact& artifact, int threads = 1);
/// The same for what prepare_constants() made of it; `prepared` outlives the request.
[[nodiscard]] LoadRequest prepared_request(const LoadRequest& original, const PreparedArtifact& prepared);

/// Outputs of a loaded kernel, run twice; nothing, and a finding, when a run fails.
[[nodiscard]] std::vector<Tensor> run_twice(const Kernel& kernel, const LoadRequest& loaded,
                                            const std::vector<Tensor>& inputs);

/// One variant that ran.
struct VariantRun {
  Variant variant;
  Artifact artifact;
  std::vector<Tensor> outputs;  ///< in the order of the region's
};

class VariantRunner {
 public:
  /// `inputs` in the order of the graph's. The graph outlives the runner.
  VariantRunner(std::string instance, const Graph& graph, std::vector<Tensor> inputs, CompileOptions options = {});

  [[nodiscard]] const Region& region() const { return region_; }
  /// Tensors for the inputs of the region, in its order.
  [[nodiscard]] const std::vector<Tensor>& inputs() const { return inputs_; }

  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> offered() const;
  [[nodiscard]] std::expected<Artifact, Refusal> compile(const Variant& variant) const;
  /// An artifact loaded with this many threads and run twice, then in each place that it allows, where the outputs
  /// must be the same.
  [[nodiscard]] std::vector<Tensor> run(const Variant& variant, const Artifact& artifact, int threads) const;
  /// The same with its constants prepared; nothing when there is nothing to prepare.
  [[nodiscard]] std::vector<Tensor> run_prepared(const Variant& variant, const Artifact& artifact) const;
  /// compile() and run().
  [[nodiscard]] std::expected<VariantRun, Refusal> run(const Variant& variant) const;
  /// run() of every variant offered; a refusal of the region, or of one of them, is a finding.
  [[nodiscard]] std::vector<VariantRun> run_all() const;

 private:
  std::string instance_;
  const Graph& graph_;
  Region region_;
  std::vector<Tensor> inputs_;
  CompileOptions options_;
};

}  // namespace collage::test
