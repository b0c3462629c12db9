// Runs a whole model in one engine, on our own buffers: as a rival, or as the reference.
// In:  the imported graph (for names and types) and, for rivals, the user's own bytes. Out: a cover of one step;
//       sessions on its buffers.
// Cost: loading, then the runs.
// Not here: timing.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/held_value.h"
#include "ir/graph.h"
#include "region/cover.h"

namespace collage {

/// The whole graph with the graph's own inputs and outputs, in order, whether or not a node reads them.
[[nodiscard]] Region model_region(const Graph& graph);
/// An engine's way to run the whole graph with plain ports.
[[nodiscard]] Variant model_variant(const Region& region);
/// The cover of one step in which `engine` runs everything.
[[nodiscard]] Cover whole_cover(const Graph& graph, const std::string& engine);

class WholeModel {
 public:
  /// Compiles and binds. `model_bytes` replaces the exported graph when given; they are loaded as a program of the
  /// user's would, weights and all. A refusal of the engine comes back
  /// as error engine/refused.
  [[nodiscard]] static Result<WholeModel> create(Backend& engine, const Graph& graph,
                                                 std::optional<std::string_view> model_bytes,
                                                 const CompileOptions& options);

  /// Copies inputs in; they must fit the graph's inputs in number, type and shape.
  Result<void> set_inputs(std::span<const Tensor> inputs);
  Result<void> run() { return call_->run(); }
  /// Copies of the outputs of the last run, in the graph's order.
  [[nodiscard]] Result<std::vector<Tensor>> outputs();
  /// The bytes a load of this engine's model needs: what a one-step plan stores.
  [[nodiscard]] const Artifact& artifact() const { return artifact_; }
  /// What creating the engine's session from these bytes took.
  [[nodiscard]] std::chrono::nanoseconds load_time() const { return load_time_; }

 private:
  struct Slot {
    ValueType type;
    std::shared_ptr<std::byte> bytes;  ///< null for an output of unknown shape, and for held values
    std::size_t size = 0;
    std::shared_ptr<const PlainValue> held;  ///< an input's
  };

  [[nodiscard]] Result<void> bind();

  Artifact artifact_;
  std::vector<Slot> inputs_;
  std::vector<Slot> outputs_;
  std::vector<std::size_t> output_port_;  ///< graph output -> port of the region
  std::unique_ptr<Kernel> kernel_;
  bool has_held_inputs_ = false;  ///< the call is bound when they are there
  std::unique_ptr<Call> call_;
  std::chrono::nanoseconds load_time_{};
};

}  // namespace collage
